import { boundedCache } from '../../base/bounded-cache.ts'
import { serialByKey } from '../../base/concurrency.ts'
import { digestOf } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import type { Glob } from '../../base/glob.ts'
import { memo } from '../../base/memo.ts'
import { formatTimestamp } from '../../base/time.ts'
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
import type { Counter, PolicySet } from '../../policy/set.ts'
import type { TakenBy } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'
import type { Guard } from '../../store/submission.ts'
import type { HistoryReader, ReadHistory } from '../deps.ts'
import { type Window, type WindowReader, windowReader } from './window.ts'

/** Counters, each for one agent or tenant, and sessions, that are kept as they stood at the last check. */
const MAX_TALLIES = 10_000
const MAX_SESSIONS = 1000
/** Who has waited this long for the checks before it is refused, so that what nobody waits for any more is not decided. */
const TURN_LIMIT_MS = 5000

export const NOTHING_READ: ReadHistory = { history: NO_HISTORY, seen: null }

/** What the facts over time about one action are read from. */
interface Wanted {
  counters: readonly { text: string; counter: Counter; by: TakenBy }[]
  /** Set where facts of the session are asked for, and the request has one. */
  session: TakenBy | undefined
}

export function historyReader(store: Store): HistoryReader {
  const serial = serialByKey()
  const window = windowReader(store)
  const cached = cachedWindows(window)
  return {
    async read(set, chain, query) {
      const wanted = wantedOf(set, query)
      if (wanted === undefined) return NOTHING_READ
      const end = (await store.lengths([chain])).get(chain) ?? 0
      const { history } = await historyAt(store, {
        set,
        chain,
        nowMs: query.nowMs,
        end,
        prunedTs: '',
        wanted,
        ...cached,
      })
      return { history, seen: { end, guard: guardOf(chain, end, wanted) } }
    },
    async at(set, chain, query, end) {
      const wanted = wantedOf(set, query)
      if (wanted === undefined) return { history: NO_HISTORY, erased: 0 }
      const actions = (of: Window) => window.actions(of, [])
      const prunedTs = (await store.pruned(chain))?.lastTs ?? ''
      return historyAt(store, { set, chain, nowMs: query.nowMs, end, prunedTs, wanted, tally: window.tally, actions })
    },
    runExclusive(set, caller, action, work) {
      if (set.evaluator.about(action).overTime.length === 0) return work()
      // What one agent is allowed may be counted by another action for all of them.
      const isShared = [...set.counters.values()].some(({ by }) => by === 'tenant')
      const sinceMs = performance.now()
      return serial(JSON.stringify([caller.chain, isShared ? null : principalOf(caller.key)]), async () => {
        if (performance.now() - sinceMs < TURN_LIMIT_MS) return work()
        throw new GateError('overloaded', 'Too many checks that are counted together wait; try again.')
      })
    },
  }
}

/** Reads windows from where they stood at the last check. Sessions have room of their own: who asks with many does not take that of others. */
function cachedWindows({ tally: tallyIn, actions: actionsIn }: WindowReader): Pick<Reading, 'tally' | 'actions'> {
  // A counter belongs to one set.
  const identities = new WeakMap<Counter, string>()
  const tallies = boundedCache<CachedTally>(MAX_TALLIES)
  const sessionTallies = boundedCache<CachedTally>(MAX_SESSIONS)
  const sessions = boundedCache<{ end: number; actions: ReadonlySet<string> }>(MAX_SESSIONS)

  /** From what is known of an earlier window, if it helps: what has come is added, what is too old is taken off. */
  const moved = async (set: PolicySet, counter: Counter, window: Window, known: CachedTally | undefined) => {
    const { first, end } = window
    if (known === undefined || known.first > first || known.end > end || known.end < first)
      return tallyIn(set, counter, window)
    const old = await tallyIn(set, counter, { ...window, first: known.first, end: first })
    // What was erased may have been a number when it was added.
    if (old.erased > 0) return tallyIn(set, counter, window)
    const come = await tallyIn(set, counter, { ...window, first: known.end })
    return { tally: addTallies(subtractTally(known.tally, old.tally), come.tally), erased: come.erased }
  }
  return {
    async tally(set, counter, window) {
      const identity = identities.get(counter) ?? identityOf(set, counter)
      identities.set(counter, identity)
      const { chain, agent, session, first, end } = window
      const key = JSON.stringify([chain, agent, session, identity])
      const room = session === null ? tallies : sessionTallies
      const found = await moved(set, counter, window, room.get(key))
      room.put(key, { first, end, tally: found.tally })
      return found
    },
    async actions(window) {
      const key = JSON.stringify([window.chain, window.agent, window.session])
      const known = sessions.get(key)
      const isEarlier = known !== undefined && known.end <= window.end
      const actions = await (isEarlier
        ? actionsIn({ ...window, first: known.end }, known.actions)
        : actionsIn(window, []))
      sessions.put(key, { end: window.end, actions })
      return actions
    },
  }
}

interface CachedTally {
  first: number
  end: number
  tally: Tally
}

/** Undefined where nothing over time is asked about the action. */
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

/** Undefined where it is not known, since the request has no session. */
function takenBy({ by }: Counter, agent: string, session: string | undefined): TakenBy | undefined {
  if (by === 'tenant') return { agent: null, session: null }
  if (by === 'agent') return { agent, session: null }
  return session === undefined ? undefined : { agent, session }
}

interface Reading {
  set: PolicySet
  chain: string
  nowMs: number
  end: number
  /** Of the newest entry that was pruned; empty where none was, or none is young enough to matter. */
  prunedTs: string
  wanted: Wanted
  tally: WindowReader['tally']
  actions(window: Window): Promise<ReadonlySet<string>>
}

async function historyAt(store: Store, { set, chain, nowMs, end, prunedTs, wanted, tally, actions }: Reading) {
  const beginOf = (withinMs: number): string => formatTimestamp(nowMs - withinMs + 1)
  const firsts = memo(async (withinMs: number) => Math.min(end, await store.seqNotBefore(chain, beginOf(withinMs))))
  const tallies = new Map<string, Tally>()
  let erased = 0
  for (const { text, counter, by } of wanted.counters) {
    const first = await firsts(counter.withinMs)
    const found = await tally(set, counter, { ...by, chain, first, end })
    tallies.set(text, found.tally)
    erased += found.erased + (beginOf(counter.withinMs) <= prunedTs ? 1 : 0)
  }
  if (wanted.session !== undefined && prunedTs !== '') erased += 1
  const taken = wanted.session && (await actions({ ...wanted.session, chain, first: 0, end }))
  const sessionActions = taken === undefined || taken.size > MAX_SESSION_ACTIONS ? undefined : taken
  return { history: { tallies, sessionActions }, erased }
}

/** An allow counts on nothing more having been allowed of what was counted for it. */
function guardOf(chain: string, end: number, { counters, session }: Wanted): Guard {
  const counted = counters.map(({ counter: { actions }, by }) => ({ ...by, actions }))
  const inSession = session === undefined ? [] : [{ ...session, actions: ANY_ACTION }]
  return { kind: 'noNewAllows', chain, since: end, of: [...counted, ...inSession] }
}

const ANY_ACTION: readonly Glob[] = [{ text: '**', segments: ['**'], exact: false }]

/** What tells counters apart of which the tallies differ, or move with different windows. Short, however many patterns there are. */
function identityOf({ facts }: PolicySet, { actions, sum, withinMs }: Counter): string {
  const globs = actions.map(({ text }) => text)
  const added = sum === undefined ? [] : [sum.text, facts.get(sum.text)?.default ?? null]
  return digestOf(JSON.stringify([globs, withinMs, ...added]))
}
