import { type Glob, matchesAny } from '../../base/glob.ts'
import { formatTimestamp } from '../../base/time.ts'
import { type HistoryQuery, sessionOf } from '../../gate/history.ts'
import type { Counter, PolicySet } from '../../policies/set.ts'
import type { TakenBy } from '../../store/queries.ts'
import { read } from '../../store/steps.ts'
import type { Store } from '../../store/store.ts'
import type { CounterUse, Guard } from '../../store/submission.ts'
import type { ReadHistory } from '../deps.ts'
import type { Present, Reading, Window } from './window.ts'

/** Inputs of the facts over time about one action. */
export interface Wanted {
  counters: readonly { text: string; counter: Counter; by: TakenBy }[]
  /** Set when session facts are wanted and the request has a session. */
  session: TakenBy | undefined
}

/** Undefined when the action has no facts over time. */
export function wantedOf(set: PolicySet, { action, agent, ...request }: HistoryQuery): Wanted | undefined {
  const { overTime } = set.evaluator.about(action)
  if (overTime.length === 0) return undefined
  const session = sessionOf(set, request)
  const counters = overTime.flatMap(({ text }): Wanted['counters'] => {
    const counter = set.counters.get(text)
    const by = counter && takenBy(counter, agent, session)
    return counter === undefined || by === undefined ? [] : [{ text, counter, by }]
  })
  const ofSession = session !== undefined && overTime.some(({ root }) => root === 'session')
  return { counters, session: ofSession ? { agent, session } : undefined }
}

/** Undefined when the counter needs a session and the request has none. */
function takenBy({ by }: Counter, agent: string, session: string | undefined): TakenBy | undefined {
  if (by === 'tenant') return { agent: null, session: null }
  if (by === 'agent') return { agent, session: null }
  return session === undefined ? undefined : { agent, session }
}

/** Extent of a history: seq < end of the chain, or in a fleet time < end of the trail, in ms. */
export interface Extent {
  by: Window['by']
  end: number
  /** End of the part in which nothing more will be counted in the scope; undefined for none. */
  settled(by: TakenBy): number | undefined
  /** Floors of the counters of the scopes, by name; absent for those that nobody used. */
  floors: ReadonlyMap<string, number>
}

// The recorded end of an altered row may be any, and the caller limits it.
export function bySeq(end: number): Extent {
  return { by: 'seq', end, settled: () => end, floors: NO_FLOORS }
}

export function byTime(text: string): Extent {
  const end = Date.parse(text)
  return { by: 'time', end, settled: () => end, floors: NO_FLOORS }
}

const NO_FLOORS = new Map<string, number>()

/** Extent of the history as of now: all that is there, of which later decisions come behind the floors of the counters. */
export function* extentNow(
  at: Present,
  { countsIn }: Pick<Store, 'countsIn'>,
  chain: string,
  nowMs: number,
  wanted: Wanted,
): Reading<Extent> {
  if (countsIn === 'chain') return bySeq(yield* read(at().length(chain)))
  const floors = yield* read(at().floors(countersOf(chain, wanted)))
  const settled = (by: TakenBy): number | undefined => {
    const floorMs = floors.get(counterOf(chain, by))
    return floorMs === undefined ? undefined : floorMs + 1
  }
  return { by: 'time', end: Math.max(nowMs, ...floors.values()) + 1, settled, floors }
}

/** A window by its part in which nothing more will be counted, and the rest, which is read anew each time. */
export interface Parts {
  settled: Window
  rest: Window
}

export function partsOf(window: Window, extent: Extent): Parts {
  const { first, end } = window
  const between = Math.min(Math.max(extent.settled(window) ?? first, first), end)
  return { settled: { ...window, end: between }, rest: { ...window, first: between } }
}

/** Scopes that a check counts in, each once. */
function scopesOf({ counters, session }: Wanted): TakenBy[] {
  const all = [...counters.map(({ by }) => by), ...(session === undefined ? [] : [session])]
  return [...new Map(all.map((by) => [JSON.stringify([by.agent, by.session]), by])).values()]
}

/** Names of the counters that a check reads. */
export function countersOf(trail: string, wanted: Wanted): string[] {
  return scopesOf(wanted).map((by) => counterOf(trail, by))
}

/** Name of the counter of a scope. */
function counterOf(trail: string, { agent, session }: TakenBy): string {
  return JSON.stringify([trail, agent, session])
}

/** The extent that a decision has read, and its guard. */
export function seenOf(
  chain: string,
  { by, end, floors }: Extent,
  wanted: Wanted,
  reservation: string | null,
): ReadHistory['seen'] {
  if (by === 'seq') return { end, guard: guardOf(chain, end, wanted) }
  const of = scopesOf(wanted).map((scope): CounterUse => {
    const counter = counterOf(chain, scope)
    return { counter, floorMs: floors.get(counter) ?? 0 }
  })
  return { end: formatTimestamp(end), guard: { kind: 'counters', of, endMs: end, reservation } }
}

/** The guard of a decision that is counted, and reads nothing. */
export function heldFor(counters: readonly string[], reservation: string | null): Guard {
  const of = counters.map((counter) => ({ counter, floorMs: null }))
  return { kind: 'counters', of, endMs: 0, reservation }
}

/** Counters of a trail that an allow of this action is counted by. */
export function countersFor(set: PolicySet, chain: string, { action, agent, ...request }: HistoryQuery): string[] {
  const session = sessionOf(set, request)
  const scopes: TakenBy[] = []
  for (const counter of set.counters.values()) {
    const by = matchesAny(counter.actions, action) ? takenBy(counter, agent, session) : undefined
    if (by !== undefined) scopes.push(by)
  }
  // Facts of a session may read all its actions.
  if (session !== undefined) scopes.push({ agent, session })
  return [...new Set(scopes.map((by) => counterOf(chain, by)))]
}

/** The guard of an allow: nothing that it counted has been allowed since. */
function guardOf(chain: string, end: number, { counters, session }: Wanted): Guard {
  const scopes = new Map<string, TakenBy & { actions: Glob[] }>()
  const add = (by: TakenBy, actions: readonly Glob[]): void => {
    const key = JSON.stringify([by.agent, by.session])
    const scope = scopes.get(key) ?? { ...by, actions: [] }
    scope.actions.push(...actions)
    scopes.set(key, scope)
  }
  for (const { counter, by } of counters) add(by, counter.actions)
  if (session !== undefined) add(session, ANY_ACTION)
  return { kind: 'noNewAllows', chain, since: end, of: [...scopes.values()] }
}

const ANY_ACTION: readonly Glob[] = [{ text: '**', segments: ['**'], exact: false }]

/** Time of the newest pruned entry where none was pruned, or none that is young enough to matter. */
export const NEVER = Number.NEGATIVE_INFINITY

/** Time of the newest pruned entry of these chains. */
export async function newestPruned(store: Pick<Store, 'pruned'>, chains: readonly string[]): Promise<number> {
  let newestMs = NEVER
  for (const chain of chains) {
    const pruned = await store.pruned(chain)
    if (pruned !== undefined) newestMs = Math.max(newestMs, Date.parse(pruned.lastTs))
  }
  return newestMs
}
