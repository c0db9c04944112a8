import { boundedCache } from '../../base/bounded-cache.ts'
import { serialByKey } from '../../base/concurrency.ts'
import { digestOf } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import type { Glob } from '../../base/glob.ts'
import {
  addTallies,
  type HistoryQuery,
  MAX_SESSION_ACTIONS,
  NO_HISTORY,
  sessionOf,
  subtractTally,
  type Tally,
} from '../../gate/history.ts'
import { principalOf } from '../../keys/apikey.ts'
import type { Counter, PolicySet } from '../../policies/set.ts'
import type { TakenBy } from '../../store/queries.ts'
import { read } from '../../store/steps.ts'
import type { Store } from '../../store/store.ts'
import type { Guard } from '../../store/submission.ts'
import type { HistoryReader, ReadHistory } from '../deps.ts'
import {
  actionsIn,
  type Present,
  type Reading,
  readingRunner,
  tallyIn,
  type Window,
  type WindowTally,
} from './window.ts'

/** Limits of cached tallies, one for each counter and agent or tenant, and of cached sessions. */
const MAX_TALLIES = 10_000
const MAX_SESSIONS = 1000
/** Time limit for waiting behind other checks, so that abandoned requests are not decided. */
const TURN_LIMIT_MS = 5000

/** Time of the newest pruned entry where none was pruned, or none that is young enough to matter. */
const NEVER = Number.NEGATIVE_INFINITY

export const NOTHING_READ: ReadHistory = { history: NO_HISTORY, seen: null }

/** True when rules or factors about the action count earlier actions. */
export function countsHistory(set: PolicySet, action: string): boolean {
  return set.evaluator.about(action).overTime.length > 0
}

/** Inputs of the facts over time about one action. */
interface Wanted {
  counters: readonly { text: string; counter: Counter; by: TakenBy }[]
  /** Set when session facts are wanted and the request has a session. */
  session: TakenBy | undefined
}

export function historyReader(store: Store): HistoryReader {
  const serial = serialByKey()
  const run = readingRunner(store)
  const cached = cachedWindows()
  return {
    async read(set, chain, query) {
      const wanted = wantedOf(set, query)
      if (wanted === undefined) return NOTHING_READ
      const { nowMs } = query
      return run(function* (at) {
        const end = yield* read(at().length(chain))
        const { history } = yield* historyAt(at, { set, chain, nowMs, end, prunedMs: NEVER, wanted, windows: cached })
        return { history, seen: { end, guard: guardOf(chain, end, wanted) } }
      })
    },
    async at(set, chain, query, end) {
      const wanted = wantedOf(set, query)
      if (wanted === undefined) return { history: NO_HISTORY, erased: 0 }
      const { nowMs } = query
      const pruned = await store.pruned(chain)
      const prunedMs = pruned === undefined ? NEVER : Date.parse(pruned.lastTs)
      return run(function* (at) {
        // The recorded end of an altered row may be any.
        const known = Math.min(end, yield* read(at().length(chain)))
        return yield* historyAt(at, { set, chain, nowMs, end: known, prunedMs, wanted, windows: WINDOWS })
      })
    },
    runExclusive(set, caller, action, work) {
      if (!countsHistory(set, action)) return work()
      // Another action's counter may count this agent's allows for all agents.
      const isShared = [...set.counters.values()].some(({ by }) => by === 'tenant')
      const sinceMs = performance.now()
      return serial(JSON.stringify([caller.chain, isShared ? null : principalOf(caller.key)]), async () => {
        if (performance.now() - sinceMs < TURN_LIMIT_MS) return work()
        throw new GateError('overloaded', 'Too many checks wait for the same counter; try again.')
      })
    },
  }
}

/** Ways to read windows, of the counters of a set and of sessions. */
interface Windows {
  /** First seq below `end` whose entry is not before the beginning of a window of this length. */
  first(at: Present, chain: string, end: number, beginMs: number, withinMs: number): Reading<number>
  tally(at: Present, set: PolicySet, counter: Counter, window: Window): Reading<WindowTally>
  actions(at: Present, window: Window): Reading<ReadonlySet<string>>
}

const WINDOWS: Windows = {
  first: (at, chain, end, beginMs) => read(at().seqNotBefore(chain, end, beginMs, undefined)),
  tally: tallyIn,
  actions: (at, window) => actionsIn(at, window, []),
}

/**
 * Reads windows from their state at the last check. Session tallies have their own cache, so that many sessions of one
 * agent do not evict others' tallies.
 */
function cachedWindows(): Windows {
  // A counter belongs to one set.
  const identities = new WeakMap<Counter, string>()
  const firsts = boundedCache<number>(MAX_TALLIES)
  const tallies = boundedCache<CachedTally>(MAX_TALLIES)
  const sessionTallies = boundedCache<CachedTally>(MAX_SESSIONS)
  const sessions = boundedCache<{ end: number; actions: ReadonlySet<string> }>(MAX_SESSIONS)
  return {
    *first(at, chain, end, beginMs, withinMs) {
      const key = `${withinMs} ${chain}`
      const first = yield* read(at().seqNotBefore(chain, end, beginMs, firsts.get(key)))
      firsts.put(key, first)
      return first
    },
    *tally(at, set, counter, window) {
      const identity = identities.get(counter) ?? identityOf(set, counter)
      identities.set(counter, identity)
      const { chain, agent, session, first, end } = window
      const key = JSON.stringify([chain, agent, session, identity])
      const room = session === null ? tallies : sessionTallies
      const found = yield* movedTally(at, set, counter, window, room.get(key))
      room.put(key, { first, end, tally: found.tally })
      return found
    },
    *actions(at, window) {
      const key = JSON.stringify([window.chain, window.agent, window.session])
      const known = sessions.get(key)
      const isEarlier = known !== undefined && known.end <= window.end
      const actions = yield* isEarlier
        ? actionsIn(at, { ...window, first: known.end }, known.actions)
        : actionsIn(at, window, [])
      sessions.put(key, { end: window.end, actions })
      return actions
    },
  }
}

/** The tally of a window, by moving a cached one where that helps: adds newer entries, subtracts older ones. */
function* movedTally(
  at: Present,
  set: PolicySet,
  counter: Counter,
  window: Window,
  known: CachedTally | undefined,
): Reading<WindowTally> {
  const { first, end } = window
  if (known === undefined || known.first > first || known.end > end || known.end < first)
    return yield* tallyIn(at, set, counter, window)
  const old = yield* tallyIn(at, set, counter, { ...window, first: known.first, end: first })
  // An erased request may have been added as a number before.
  if (old.erased > 0) return yield* tallyIn(at, set, counter, window)
  const come = yield* tallyIn(at, set, counter, { ...window, first: known.end })
  return { tally: addTallies(subtractTally(known.tally, old.tally), come.tally), erased: come.erased }
}

interface CachedTally {
  first: number
  end: number
  tally: Tally
}

/** Undefined when the action has no facts over time. */
function wantedOf(set: PolicySet, { action, agent, ...request }: HistoryQuery): Wanted | undefined {
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

interface HistoryOf {
  set: PolicySet
  chain: string
  nowMs: number
  end: number
  /** Time of the newest pruned entry. */
  prunedMs: number
  wanted: Wanted
  windows: Windows
}

function* historyAt(at: Present, { set, chain, nowMs, end, prunedMs, wanted, windows }: HistoryOf) {
  const beginOf = (withinMs: number): number => nowMs - withinMs + 1
  const firsts = new Map<number, number>()
  const tallies = new Map<string, Tally>()
  let erased = 0
  for (const { text, counter, by } of wanted.counters) {
    const { withinMs } = counter
    const first = firsts.get(withinMs) ?? (yield* windows.first(at, chain, end, beginOf(withinMs), withinMs))
    firsts.set(withinMs, first)
    const window = { ...by, chain, first, end }
    const found = yield* windows.tally(at, set, counter, window)
    tallies.set(text, found.tally)
    erased += found.erased + (beginOf(withinMs) <= prunedMs ? 1 : 0)
  }
  if (wanted.session !== undefined && prunedMs !== NEVER) erased += 1
  const taken = wanted.session && (yield* windows.actions(at, { ...wanted.session, chain, first: 0, end }))
  const sessionActions = taken === undefined || taken.size > MAX_SESSION_ACTIONS ? undefined : taken
  return { history: { tallies, sessionActions }, erased }
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

/** Cache key of a counter: patterns, window, summed fact and default. A digest, however many patterns there are. */
function identityOf({ facts }: PolicySet, { actions, sum, withinMs }: Counter): string {
  const globs = actions.map(({ text }) => text)
  const added = sum === undefined ? [] : [sum.text, facts.get(sum.text)?.default ?? null]
  return digestOf(JSON.stringify([globs, withinMs, ...added]))
}
