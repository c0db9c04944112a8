import { trailOf } from '../../audit/chain.ts'
import { boundedCache } from '../../base/bounded-cache.ts'
import { serialByKey } from '../../base/concurrency.ts'
import { digestOf } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import { addTallies, MAX_SESSION_ACTIONS, NO_HISTORY, subtractTally, type Tally } from '../../gate/history.ts'
import { principalOf } from '../../keys/apikey.ts'
import type { Counter, PolicySet } from '../../policies/set.ts'
import { read } from '../../store/steps.ts'
import type { Store } from '../../store/store.ts'
import type { HistoryReader, ReadHistory } from '../deps.ts'
import {
  bySeq,
  byTime,
  countersFor,
  countersOf,
  type Extent,
  extentNow,
  heldFor,
  NEVER,
  newestPruned,
  type Parts,
  partsOf,
  seenOf,
  type Wanted,
  wantedOf,
} from './extent.ts'
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

export const NOTHING_READ: ReadHistory = { history: NO_HISTORY, seen: null }

/** True when rules or factors about the action count earlier actions. */
export function countsHistory(set: PolicySet, action: string): boolean {
  return set.evaluator.about(action).overTime.length > 0
}

export function historyReader(store: Store): HistoryReader {
  const serial = serialByKey()
  const run = readingRunner(store)
  const cached = cachedWindows()
  return {
    async reserve(set, chain, query, reservation) {
      const wanted = wantedOf(set, query)
      if (wanted !== undefined) await store.reserve(countersOf(chain, wanted), reservation)
    },
    async read(set, chain, query, reservation) {
      const wanted = wantedOf(set, query)
      if (wanted === undefined) return NOTHING_READ
      const { nowMs } = query
      return run(function* (at) {
        const extent = yield* extentNow(at, store, chain, nowMs, wanted)
        const from = { extent, prunedMs: NEVER, windows: cached }
        const { history } = yield* historyAt(at, { ...from, set, chain, nowMs, wanted })
        return { history, seen: seenOf(chain, extent, wanted, reservation) }
      })
    },
    counting(set, chain, query, reservation) {
      const counters = countersFor(set, chain, query)
      return counters.length === 0 ? undefined : heldFor(counters, reservation)
    },
    async at(set, chain, query, end) {
      const wanted = wantedOf(set, query)
      if (wanted === undefined) return { history: NO_HISTORY, erased: 0 }
      const { nowMs } = query
      const prunedMs = await newestPruned(store, typeof end === 'number' ? [chain] : await store.lanes(trailOf(chain)))
      return run(function* (at) {
        const extent = typeof end === 'number' ? bySeq(Math.min(end, yield* read(at().length(chain)))) : byTime(end)
        const of = extent.by === 'seq' ? chain : trailOf(chain)
        return yield* historyAt(at, { set, chain: of, nowMs, extent, prunedMs, wanted, windows: WINDOWS })
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
      const { by, chain, agent, session, first, end } = window
      const key = JSON.stringify([by, chain, agent, session, identity])
      const room = session === null ? tallies : sessionTallies
      const found = yield* movedTally(at, set, counter, window, room.get(key))
      room.put(key, { first, end, tally: found.tally })
      return found
    },
    *actions(at, window) {
      const key = JSON.stringify([window.by, window.chain, window.agent, window.session])
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

interface HistoryOf {
  set: PolicySet
  chain: string
  nowMs: number
  extent: Extent
  /** Time of the newest pruned entry. */
  prunedMs: number
  wanted: Wanted
  windows: Windows
}

function* historyAt(at: Present, { set, chain, nowMs, extent, prunedMs, wanted, windows }: HistoryOf) {
  const beginOf = (withinMs: number): number => nowMs - withinMs + 1
  const firsts = new Map<number, number>()
  const tallies = new Map<string, Tally>()
  const { by: unit, end } = extent
  let erased = 0
  for (const { text, counter, by } of wanted.counters) {
    const { withinMs } = counter
    const first =
      unit === 'time'
        ? Math.min(beginOf(withinMs), end)
        : (firsts.get(withinMs) ?? (yield* windows.first(at, chain, end, beginOf(withinMs), withinMs)))
    firsts.set(withinMs, first)
    const parts = partsOf({ ...by, by: unit, chain, first, end }, extent)
    const found = yield* tallyOfParts(at, set, counter, windows, parts)
    tallies.set(text, found.tally)
    erased += found.erased + (beginOf(withinMs) <= prunedMs ? 1 : 0)
  }
  if (wanted.session !== undefined && prunedMs !== NEVER) erased += 1
  const taken =
    wanted.session && (yield* takenIn(at, windows, { ...wanted.session, by: unit, chain, first: 0, end }, extent))
  const sessionActions = taken === undefined || taken.size > MAX_SESSION_ACTIONS ? undefined : taken
  return { history: { tallies, sessionActions }, erased }
}

function* tallyOfParts(
  at: Present,
  set: PolicySet,
  counter: Counter,
  windows: Windows,
  { settled, rest }: Parts,
): Reading<WindowTally> {
  const found = yield* windows.tally(at, set, counter, settled)
  if (rest.first >= rest.end) return found
  const more = yield* tallyIn(at, set, counter, rest)
  return { tally: addTallies(found.tally, more.tally), erased: found.erased + more.erased }
}

function* takenIn(at: Present, windows: Windows, window: Window, extent: Extent): Reading<ReadonlySet<string>> {
  const { settled, rest } = partsOf(window, extent)
  const actions = yield* windows.actions(at, settled)
  return rest.first >= rest.end ? actions : yield* actionsIn(at, rest, actions)
}

/** Cache key of a counter: patterns, window, summed fact and default. A digest, however many patterns there are. */
function identityOf({ facts }: PolicySet, { actions, sum, withinMs }: Counter): string {
  const globs = actions.map(({ text }) => text)
  const added = sum === undefined ? [] : [sum.text, facts.get(sum.text)?.default ?? null]
  return digestOf(JSON.stringify([globs, withinMs, ...added]))
}
