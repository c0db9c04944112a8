import { setTimeout as sleep } from 'node:timers/promises'
import { chainOf } from '../audit/chain.ts'
import type { Actor, EventEntry } from '../audit/draft.ts'
import type { EventType } from '../audit/events.ts'
import type { HistoryEnd } from '../audit/grounds.ts'
import type { Environment } from '../base/environment.ts'
import { GateError } from '../base/errors.ts'
import type { NewId } from '../base/id.ts'
import type { Json } from '../base/json.ts'
import type { Clock } from '../base/time.ts'
import type { History, HistoryQuery } from '../gate/history.ts'
import type { ShadowNote } from '../gate/shadow.ts'
import { type ApiKey, isActive } from '../keys/apikey.ts'
import type { Decision, PolicySet } from '../policies/set.ts'
import type { State, Store } from '../store/store.ts'
import type { Committed, Conflict, Guard, Placed, Submission } from '../store/submission.ts'
import type { ShadowTurns } from './gate/shadow-turns.ts'

/** Dependencies of every action: the store, the clock and the maker of ids. */
export interface Deps {
  store: Store
  clock: Clock
  newId: NewId
}

/** The policy set in force of each tenant: an immutable value, so that one check sees one set from start to end. */
export interface PoliciesInForce {
  get(tenantId: string): PolicySet | undefined
}

/** The extent of the history that a decision read, and the guard that holds at its commit. */
interface Seen {
  end: HistoryEnd
  guard: Guard
}

export interface ReadHistory {
  history: History
  /** Null where the policies ask for nothing earlier. */
  seen: Seen | null
}

/** Reads earlier allows from the audit chain, for facts over time. */
export interface HistoryReader {
  /** Gives an overtaken decision the counters that it reads to itself, for a moment, under this name. */
  reserve(set: PolicySet, chain: string, query: HistoryQuery, reservation: string): Promise<void>
  /** As of now. @param reservation of the decision, if it has one */
  read(set: PolicySet, chain: string, query: HistoryQuery, reservation: string | null): Promise<ReadHistory>
  /** The history of that extent; counts needed requests that have been erased since. */
  at(set: PolicySet, chain: string, query: HistoryQuery, end: HistoryEnd): Promise<{ history: History; erased: number }>
  /** The guard of an allow that later decisions of a fleet count; undefined where none does. */
  counting(set: PolicySet, chain: string, query: HistoryQuery, reservation: string | null): Guard | undefined
  /**
   * Runs the work after other checks that count the same actions; decided at once, all but one would conflict. Runs it
   * at once where the action counts nothing earlier.
   *
   * @throws GateError `overloaded` when the others take too long
   */
  runExclusive<T>(set: PolicySet, caller: Caller, action: string, work: () => Promise<T>): Promise<T>
}

/** The sets in shadow: each is asked beside the one in force, and decides nothing. */
export interface Shadows {
  /** Undefined for a tenant without one. */
  get(tenantId: string): PolicySet | undefined
  /** Counts what a decision of the policies in force has recorded. */
  count(decided: Decision, note: ShadowNote): void
  /** Turns of the evaluations that take time. */
  turns: ShadowTurns
  /** Called with the error that ended the evaluation of a set in shadow. */
  onError(error: unknown): void
}

export interface CheckDeps extends Deps, Pauses {
  policies: PoliciesInForce
  history: HistoryReader
  /** Absent where no set is in shadow, as in a command. */
  shadows?: Shadows
}

export interface Pauses {
  /**
   * Lets others run before the next part of something long. Parts of one tenant follow each other, and tenants take
   * turns. Absent in a command, which nobody waits behind.
   */
  pause?(tenantId: string): Promise<void>
  /** Set for a request that is long in itself, so that each part of it comes after a pause. */
  isLarge?: boolean
}

/** The authenticated principal, from its credential, the tenant it acts in, and whether it still waits. */
export interface Caller {
  key: ApiKey
  tenantId: string
  environment: Environment
  chain: string
  actor: Actor
  /** True when the client has closed the connection: no answer reaches it. Absent for a caller in this process. */
  hasHungUp?: () => boolean
}

/** The client hung up before the commit: nothing was recorded, and nobody is there to be answered. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone'
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

/**
 * State as of the last commit of any process. While the file cannot be read, it is what was read last: stops and their
 * status need no more, and everything else fails by itself.
 */
export async function stateNow(store: Pick<Store, 'state' | 'refresh'>): Promise<State> {
  try {
    await store.refresh()
  } catch {
    // The background task that refreshes it reports the failure.
  }
  return store.state()
}

/** True while the caller's key is neither revoked nor expired, for work that goes on after admission. */
export function isStillActive(deps: Deps, { key }: Caller): boolean {
  return activeKey(deps, key.id) !== undefined
}

/** The key of this id as it is now; undefined when it has been revoked or has expired. */
export function activeKey({ store, clock }: Pick<Deps, 'store' | 'clock'>, keyId: string): ApiKey | undefined {
  const key = store.state().keys.get(keyId)
  return key !== undefined && isActive(key, clock()) ? key : undefined
}

/** Attempts of an action whose reads changed before its commit. */
const ATTEMPTS = 3
/** Time at most before an attempt to get a counter, or to change a record, that another held or changed. */
const CONTENDED_MS = 10
const CONTENDED: readonly Conflict['conflict'][] = ['counters', 'revision']
/** Conflicts with others that were quicker: each is progress elsewhere. */
const OVERTAKEN: readonly Conflict['conflict'][] = ['noNewAllows', 'counters', 'noOutcome', 'revision']
/** Time limit for attempts that others overtake. */
const OVERTAKEN_LIMIT_MS = 5000

export interface Decided<T> {
  submission: Submission | null
  /** True when nobody waits for the reply any longer: nothing is committed then. */
  isAbandoned?: (() => boolean) | undefined
  reply(committed: Committed): T
}

/**
 * Read, decide, commit, reply: runs `decide`, commits what it submits, and runs it again when a guard failed.
 *
 * @param decide reads and decides; its submission may be null when there is nothing to write. It is told when others
 *   have overtaken the attempt before
 * @throws CallerGone when it was abandoned before the commit
 * @throws GateError `unauthenticated` when the calling key was revoked meanwhile, `overloaded` when every attempt met a conflict
 */
export async function decideAndCommit<T>(
  store: Store,
  decide: (isOvertaken: boolean) => Promise<Decided<T>>,
): Promise<T> {
  const sinceMs = performance.now()
  let wasOvertaken = false
  for (let attempt = 0; attempt < ATTEMPTS; ) {
    const { submission, reply, isAbandoned } = await decide(wasOvertaken)
    if (submission === null) return reply({ conflict: null, entries: [] })
    const result: Committed | Conflict = await store.commit(submission, isAbandoned)
    if (result.conflict === null) return reply(result)
    if (result.conflict === 'abandoned') throw new CallerGone()
    if (result.conflict === 'keyActive') throw new GateError('unauthenticated', 'The API key has been revoked.')
    wasOvertaken = OVERTAKEN.includes(result.conflict)
    if (!wasOvertaken || performance.now() - sinceMs > OVERTAKEN_LIMIT_MS) attempt += 1
    // Others wait as long, each another time, so that one of them comes through.
    else if (CONTENDED.includes(result.conflict)) await sleep(Math.random() * CONTENDED_MS)
  }
  throw new GateError('overloaded', 'Concurrent changes conflicted on every attempt; try again.')
}

export function eventEntry(deps: Deps, chain: string, type: EventType, data: object, actor: Actor): EventEntry {
  // Data is built from records and literals, which are JSON; canonicalJson refuses anything else at the commit.
  return { kind: 'event', id: deps.newId('entry'), chain, type, data: data as Json, actor }
}

/** Returns the time at which an entry of the submission was committed. */
export function committedTime(entries: readonly Placed[], id: string): string {
  const entry = entries.find((placed) => placed.id === id)
  if (entry === undefined) throw new Error('the commit did not return the entry')
  return entry.ts
}
