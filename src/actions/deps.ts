import { chainOf } from '../audit/chain.ts'
import type { Actor, EventEntry } from '../audit/entry.ts'
import type { EventType } from '../audit/events.ts'
import type { Environment } from '../base/environment.ts'
import { GateError } from '../base/errors.ts'
import type { NewId } from '../base/id.ts'
import type { Json } from '../base/json.ts'
import type { Clock } from '../base/time.ts'
import type { History, HistoryQuery } from '../gate/history.ts'
import { type ApiKey, isActive } from '../keys/apikey.ts'
import type { PolicySet } from '../policy/set.ts'
import type { Store } from '../store/store.ts'
import type { Committed, Conflict, Guard, Placed, Submission } from '../store/submission.ts'

/** What every action works with: the store, the time, and names for new things. */
export interface Deps {
  store: Store
  clock: Clock
  newId: NewId
}

/** The policy set in force of each tenant: an immutable value, so that one check sees one set from start to end. */
export interface PoliciesInForce {
  get(tenantId: string): PolicySet | undefined
}

/** What was seen of a chain for a decision, and what must still be so when an allow is committed. */
export interface Seen {
  /** Entries of the chain. */
  end: number
  guard: Guard
}

export interface ReadHistory {
  history: History
  /** Null where the policies ask for nothing earlier. */
  seen: Seen | null
}

/** Reads from the audit chain what policies ask about what was allowed before. */
export interface HistoryReader {
  /** As of now. */
  read(set: PolicySet, chain: string, query: HistoryQuery): Promise<ReadHistory>
  /** As it was when the chain had so many entries, but for requests that it needs and that have been erased since. */
  at(set: PolicySet, chain: string, query: HistoryQuery, end: number): Promise<{ history: History; erased: number }>
  /**
   * Does the work after that of other checks that count the same: of those that are decided at once, all but one would
   * have to be decided anew. At once where the action asks for nothing earlier.
   *
   * @throws GateError `overloaded` when the others take too long
   */
  runExclusive<T>(set: PolicySet, caller: Caller, action: string, work: () => Promise<T>): Promise<T>
}

export interface CheckDeps extends Deps {
  policies: PoliciesInForce
  history: HistoryReader
}

/** Who asks, as the credential says, and for which tenant. */
export interface Caller {
  key: ApiKey
  tenantId: string
  environment: Environment
  chain: string
  actor: Actor
}

export function callerOf(key: ApiKey, tenantId: string): Caller {
  return {
    key,
    tenantId,
    environment: key.environment,
    chain: chainOf(tenantId, key.environment),
    actor: actorOf(key),
  }
}

export function actorOf({ id, identity, roles }: ApiKey): Actor {
  return { kind: 'key', id, identity, roles }
}

/** Whether the caller's key is neither revoked nor expired by now, for what goes on after a request was let in. */
export function isStillActive(deps: Deps, { key }: Caller): boolean {
  return activeKey(deps, key.id) !== undefined
}

/** The key of this id as it is now; undefined when it has been revoked or has expired. */
export function activeKey({ store, clock }: Pick<Deps, 'store' | 'clock'>, keyId: string): ApiKey | undefined {
  const key = store.state().keys.get(keyId)
  return key !== undefined && isActive(key, clock()) ? key : undefined
}

/** How often an action decides anew when what it had read changed before its commit. */
const ATTEMPTS = 3
/** Whom other processes overtake goes on this long: each time, one of them has got on. */
const OVERTAKEN_LIMIT_MS = 5000

/**
 * Read, decide, commit, reply: runs `decide`, commits what it submits, and runs it again when a guard failed.
 *
 * @param decide reads and decides; its submission may be null when there is nothing to write
 * @throws GateError `unauthenticated` when the calling key was revoked meanwhile, `overloaded` when every attempt met a conflict
 */
export async function decideAndCommit<T>(
  store: Store,
  decide: () => Promise<{ submission: Submission | null; reply: (committed: Committed) => T }>,
): Promise<T> {
  const sinceMs = performance.now()
  for (let attempt = 0; attempt < ATTEMPTS; ) {
    const { submission, reply } = await decide()
    if (submission === null) return reply({ conflict: null, entries: [] })
    const result: Committed | Conflict = await store.commit(submission)
    if (result.conflict === null) return reply(result)
    if (result.conflict === 'keyActive') throw new GateError('unauthenticated', 'The API key has been revoked.')
    if (result.conflict !== 'noNewAllows' || performance.now() - sinceMs > OVERTAKEN_LIMIT_MS) attempt += 1
  }
  throw new GateError('overloaded', 'The request met changes by others each time it was decided; try again.')
}

export function eventEntry(deps: Deps, chain: string, type: EventType, data: object, actor: Actor): EventEntry {
  // Data is built from records and literals, which are JSON; canonicalJson refuses anything else at the commit.
  return { kind: 'event', id: deps.newId('entry'), chain, type, data: data as Json, actor }
}

/** When an entry of the submission was committed. */
export function committedTime(entries: readonly Placed[], id: string): string {
  const entry = entries.find((placed) => placed.id === id)
  if (entry === undefined) throw new Error('the commit did not return the entry')
  return entry.ts
}
