import { SERVICE } from '../../audit/draft.ts'
import { equalBytes, sha256, sha256Hex } from '../../base/bytes.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { type ApiKey, chainOfKey } from '../../keys/apikey.ts'
import { activeKey, actorOf, type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { type Clocks, type Deadline, deadlineIn, isPast } from './deadline.ts'
import { newSecret, oldestOf } from './sign-in-codes.ts'

/** Time limit of a session without activity of its user. */
export const IDLE_MS = 30 * 60_000
/** Time limit of a session, whatever its user does. */
export const LONGEST_MS = 12 * 3_600_000

/** The reason for the end of a session, as `session.ended` records it. */
type SessionEnd = 'signed_out' | 'idle' | 'too_long' | 'key_ended' | 'too_many' | 'service_stopped'
/** The credential that opened a session. */
export type SignInBy = 'key' | 'code'

/** A browser in which the holder of a key has signed in. In memory only: all sessions end with the service. */
export interface Session {
  readonly id: string
  readonly keyId: string
  /** The lookup key of the session. */
  readonly cookieHash: string
  readonly tokenHash: Uint8Array
  readonly startedMs: number
  /** The latest end. */
  readonly ends: Deadline
  /** The end without further activity. */
  idleEnds: Deadline
}

/** The sessions of this process. */
export class Sessions {
  readonly #deps: Deps
  readonly #clocks: Clocks
  /** By the hash of the cookie, in the order in which they were opened. */
  readonly #open = new Map<string, Session>()
  /** Ends that are not recorded yet. */
  #ended: { session: Session; why: SessionEnd }[] = []

  constructor(deps: Deps, uptime = () => performance.now()) {
    this.#deps = deps
    this.#clocks = { clock: deps.clock, uptime }
  }

  /**
   * Opens a session of the key, recorded before it counts.
   *
   * @throws GateError `unauthenticated` when the key has ended meanwhile
   */
  async open(key: ApiKey, by: SignInBy): Promise<{ session: Session; cookie: string; token: string }> {
    const { store, clock, newId } = this.#deps
    // Both are needed, and neither is stored here. The page's origin keeps the token, which other ports do not share;
    // cookies are hidden from scripts, but a service on another port may see them.
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
   * The session of the token and one of the cookies, and its key.
   *
   * @param isUserActive whether its user was active, which restarts the idle time
   * @throws GateError `unauthenticated`, with the same words whether it is unknown or has ended
   */
  find(token: string, cookies: readonly string[], isUserActive: boolean): { session: Session; key: ApiKey } {
    const tokenHash = sha256(token)
    const found = cookies.map((cookie) => this.#open.get(sha256Hex(cookie)))
    const session = found.find((one) => one !== undefined && equalBytes(one.tokenHash, tokenHash))
    const key = session && activeKey(this.#deps, session.keyId)
    if (session === undefined || key === undefined || !this.isOpen(session))
      throw new GateError('unauthenticated', 'You are not signed in, or your session has ended; sign in again.')
    if (isUserActive) session.idleEnds = deadlineIn(this.#clocks, IDLE_MS)
    return { session, key }
  }

  isOpen(session: Session): boolean {
    return this.#open.has(session.cookieHash) && this.#whyOver(session) === undefined
  }

  /** Ends the session at once; the record follows within a second. */
  signOut(session: Session): void {
    this.#end(session, 'signed_out')
  }

  /**
   * Ends expired sessions and records each end. Failed writes are repeated the next time.
   *
   * @throws GateError of the store
   */
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

  /** Ends all sessions, when the service stops. */
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
