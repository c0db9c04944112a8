import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/bytes.ts'
import { GateError } from '../../base/errors.ts'
import type { ApiKey } from '../../keys/apikey.ts'
import { activeKey, type Deps } from '../deps.ts'
import { type Clocks, type Deadline, deadlineIn, isPast } from './deadline.ts'

/** Validity of a code. */
export const CODE_MS = 5 * 60_000
/** Limit of sessions and unused codes of one key; one more ends the oldest. */
const MOST = 10
/** Bytes of cookies, tokens and codes: as many as keys have. */
const SECRET_BYTES = 32

/** Codes that sign a browser in with a key, once. Only their hashes are kept, in memory. */
export class SignInCodes {
  readonly #deps: Pick<Deps, 'store' | 'clock'>
  readonly #clocks: Clocks
  /** By the hash of the code, in the order in which they were made. */
  readonly #codes = new Map<string, { hash: string; keyId: string; ends: Deadline }>()

  constructor(deps: Pick<Deps, 'store' | 'clock'>, uptime = () => performance.now()) {
    this.#deps = deps
    this.#clocks = { clock: deps.clock, uptime }
  }

  make(keyId: string): { code: string; endsMs: number } {
    const unused = [...this.#codes.values()]
    const gone = [...unused.filter(({ ends }) => isPast(this.#clocks, ends)), ...oldestOf(unused, keyId)]
    for (const { hash } of gone) this.#codes.delete(hash)
    const code = newSecret()
    const hash = sha256Hex(code)
    const ends = deadlineIn(this.#clocks, CODE_MS)
    this.#codes.set(hash, { hash, keyId, ends })
    return { code, endsMs: ends.atMs }
  }

  /** The key of a code that is still valid. @throws GateError `unauthenticated` */
  keyOf(code: string): ApiKey {
    const held = this.#codes.get(sha256Hex(code))
    const key = held && !isPast(this.#clocks, held.ends) ? activeKey(this.#deps, held.keyId) : undefined
    if (key !== undefined) return key
    throw new GateError('unauthenticated', 'This sign-in link was already used or has expired; request a new one.')
  }

  /** Uses the code up; of two simultaneous requests, one succeeds. @throws GateError `unauthenticated` */
  redeem(code: string): void {
    this.keyOf(code)
    this.#codes.delete(sha256Hex(code))
  }
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** The key's oldest items that must go to make room for one more, in their order. */
export function oldestOf<T extends { keyId: string }>(held: Iterable<T>, keyId: string): T[] {
  const own = [...held].filter((item) => item.keyId === keyId)
  return own.slice(0, Math.max(0, own.length - MOST + 1))
}
