import { randomBytes } from 'node:crypto'
import { sha256Hex } from '../../base/bytes.ts'
import { GateError } from '../../base/errors.ts'
import type { ApiKey } from '../../keys/apikey.ts'
import { activeKey, type Deps } from '../deps.ts'
import { type Clocks, type Deadline, deadlineIn, isPast } from './deadline.ts'

/** How long a code can be used. */
export const CODE_MS = 5 * 60_000
/** Sessions and unused codes that one key has at most; one more ends the oldest. */
const MOST = 10
/** Of cookies, tokens and codes: as many as keys have. */
const SECRET_BYTES = 32

/** Codes by which a browser is signed in with a key, once. Only their hashes are kept, in memory. */
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

  /** The key of a code that can still be used. @throws GateError `unauthenticated` */
  keyOf(code: string): ApiKey {
    const held = this.#codes.get(sha256Hex(code))
    const key = held && !isPast(this.#clocks, held.ends) ? activeKey(this.#deps, held.keyId) : undefined
    if (key !== undefined) return key
    throw new GateError('unauthenticated', 'This sign-in link was used already or is too old; ask for a new one.')
  }

  /** Uses the code up: of two who come with it at once, one does. @throws GateError `unauthenticated` */
  redeem(code: string): void {
    this.keyOf(code)
    this.#codes.delete(sha256Hex(code))
  }
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** Those of the key's that have to go, so that there is room for one more; given in the order in which they came. */
export function oldestOf<T extends { keyId: string }>(held: Iterable<T>, keyId: string): T[] {
  const own = [...held].filter((item) => item.keyId === keyId)
  return own.slice(0, Math.max(0, own.length - MOST + 1))
}
