import { SERVICE } from '../../audit/entry.ts'
import { equalBytes, sha256, sha256Hex } from '../../base/bytes.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { ApiKey } from '../../keys/apikey.ts'
import { activeKey, actorOf, type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { chainOfKey } from '../keys/keys.ts'
import { type Clocks, type Deadline, deadlineIn, isPast } from './deadline.ts'
import { newSecret, oldestOf } from './sign-in-codes.ts'

/** Without a sign of its user, a session ends after this. */
export const IDLE_MS = 30 * 60_000
/** A session ends after this, whatever its user does. */
export const LONGEST_MS = 12 * 3_600_000

/** Why a session ended, as `session.ended` records it. */
type SessionEnd = 'signed_out' | 'idle' | 'too_long' | 'key_ended' | 'too_many' | 'service_stopped'
/** What a session was opened with. */
export type SignInBy = 'key' | 'code'

/** A browser in which the holder of a key has signed in. In memory only: when the service stops, all sessions end. */
export interface Session {
  readonly id: string
  readonly keyId: string
  /** It is found by this. */
  readonly cookieHash: string
  readonly tokenHash: Uint8Array
  readonly startedMs: number
  /** When it ends at the latest. */
  readonly ends: Deadline
  /** When it ends unless its user does something before. */
  idleEnds: Deadline
}

/** What a browser keeps of a session: both are needed, and neither is stored here. */
export interface SessionSecrets {
  /** Goes into a cookie, which no script can read. Cookies are shared between ports: whatever serves another one may see it. */
  cookie: string
  /** Goes into the storage of the page's origin, which other ports do not share. */
  token: string
}

/** The sessions of this process. */
export class Sessions {
  readonly #deps: Deps
  readonly #clocks: Clocks
  /** By the hash of the cookie, in the order in which they were opened. */
  readonly #open = new Map<string, Session>()
  /** Ends that are not on record yet. */
  #ended: { session: Session; why: SessionEnd }[] = []

  constructor(deps: Deps, uptime = () => performance.now()) {
    this.#deps = deps
    this.#clocks = { clock: deps.clock, uptime }
  }

  /** Opens a session of the key, on record before it counts. @throws GateError `unauthenticated` when the key has ended meanwhile */
  async open(key: ApiKey, by: SignInBy): Promise<SessionSecrets & { session: Session }> {
    const { store, clock, newId } = this.#deps
    const secrets = { cookie: newSecret(), token: newSecret() }
    const session: Session = {
      id: newId('session'),
      keyId: key.id,
      cookieHash: sha256Hex(secrets.cookie),
      tokenHash: sha256(secrets.token),
      startedMs: clock(),
      ends: deadlineIn(this.#clocks, LONGEST_MS),
      idleEnds: deadlineIn(this.#clocks, IDLE_MS),
    }
    const data = { id: session.id, keyId: key.id, by, endsAt: formatTimestamp(session.ends.atMs) }
    const entry = eventEntry(this.#deps, chainOfKey(key), 'session.started', data, actorOf(key))
    const submission = { guards: [{ kind: 'keyActive' as const, keyId: key.id }], writes: [], entries: [entry] }
    await decideAndCommit(store, async () => ({ submission, reply: () => undefined }))
    for (const old of oldestOf(this.#open.values(), key.id)) this.#end(old, 'too_many')
    this.#open.set(session.cookieHash, session)
    return { ...secrets, session }
  }

  /**
   * The session that the token and one of the cookies belong to, and its key.
   *
   * @param isUserActive whether its user has done something: it is not idle then
   * @throws GateError `unauthenticated`, with the same words whether it is unknown or has ended
   */
  find(token: string, cookies: readonly string[], isUserActive: boolean): { session: Session; key: ApiKey } {
    const tokenHash = sha256(token)
    const found = cookies.map((cookie) => this.#open.get(sha256Hex(cookie)))
    const session = found.find((one) => one !== undefined && equalBytes(one.tokenHash, tokenHash))
    const key = session && activeKey(this.#deps, session.keyId)
    if (session === undefined || key === undefined || !this.isOpen(session))
      throw new GateError('unauthenticated', 'You are not signed in, or no longer; sign in again.')
    if (isUserActive) session.idleEnds = deadlineIn(this.#clocks, IDLE_MS)
    return { session, key }
  }

  isOpen(session: Session): boolean {
    return this.#open.has(session.cookieHash) && this.#whyOver(session) === undefined
  }

  /** Ends it at once; it is on record within a second. */
  signOut(session: Session): void {
    this.#end(session, 'signed_out')
  }

  /** Ends what is over, and records each end. What cannot be written now is written the next time. @throws GateError of the store */
  async tend(): Promise<void> {
    for (const session of this.#open.values()) {
      const why = this.#whyOver(session)
      if (why !== undefined) this.#end(session, why)
    }
    const due = this.#ended
    if (due.length === 0) return
    this.#ended = []
    const { keys } = this.#deps.store.state()
    const entries = due.flatMap(({ session: { id, keyId }, why }) => {
      const key = keys.get(keyId)
      return key ? [eventEntry(this.#deps, chainOfKey(key), 'session.ended', { id, keyId, why }, SERVICE)] : []
    })
    try {
      await this.#deps.store.commit({ guards: [], writes: [], entries })
    } catch (error) {
      this.#ended.unshift(...due)
      throw error
    }
  }

  /** Ends all, when the service stops. */
  async close(): Promise<void> {
    for (const session of this.#open.values()) this.#end(session, 'service_stopped')
    await this.tend()
  }

  #end(session: Session, why: SessionEnd): void {
    if (this.#open.delete(session.cookieHash)) this.#ended.push({ session, why })
  }

  #whyOver(session: Session): SessionEnd | undefined {
    if (activeKey(this.#deps, session.keyId) === undefined) return 'key_ended'
    if (isPast(this.#clocks, session.ends)) return 'too_long'
    return isPast(this.#clocks, session.idleEnds) ? 'idle' : undefined
  }
}
