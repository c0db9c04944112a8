import { matchesAny } from '../base/glob.ts'
import { valueAt } from '../base/grouped.ts'
import { lru } from '../base/memo.ts'
import { partitionPoint } from '../base/partition-point.ts'
import {
  addTallies,
  type History,
  MAX_SESSION_ACTIONS,
  MISSING_AMOUNT,
  NO_TALLY,
  sessionOf,
  subtractTally,
  type Tally,
  tallyOf,
} from '../gate/history.ts'
import type { Counter, PolicySet } from '../policies/set.ts'
import type { Place, Recorded } from './recorded.ts'

/** Actions whose counters are kept. */
const KEPT = 1000

/** End of a history, excluded: a seq of the decision's own chain, or a time in all chains of its trail, in ms. */
export interface HistoryUntil {
  by: 'seq' | 'time'
  end: number
}

/** The history of a decision, as far as it is known. */
interface HistoryThen {
  history: History
  /** Requests that it counts and that have been erased. */
  erased: number
  /** True where a window, or the session, begins before the first action that was added. */
  isCut: boolean
  isSessionCut: boolean
}

/**
 * Actions that were taken, in the order of their trail, from which the facts over time of each decision follow as of its
 * place: those of any policies, since a draft may count what the recorded policies did not.
 *
 * @param fromMs time from which on all actions are added
 */
export function takenActions(set: PolicySet, fromMs: number) {
  const counted = countedActions()
  const sessions = sessionActions()
  const countersAbout = lru(KEPT, (action: string) =>
    [...set.counters].filter(([, { actions }]) => matchesAny(actions, action)),
  )
  return {
    /** Adds an action that was taken, after those before it. */
    add(taken: Recorded): void {
      const { action, agent, asked, session: known } = taken
      const session = asked === undefined ? (known ?? undefined) : sessionOf(set, asked)
      for (const [text, counter] of countersAbout(action)) {
        const scope = scopeOf(text, counter, agent, session)
        if (scope === undefined) continue
        const isErased = asked === undefined && counter.sum !== undefined
        const tally = isErased ? MISSING_AMOUNT : tallyOf(set, counter, { action, ...asked })
        counted.add(scope, taken, { tally, erased: isErased ? 1 : 0 })
      }
      if (set.session !== undefined && session !== undefined) sessions.add(JSON.stringify([agent, session]), taken)
    },
    /** The facts over time of a request at its place, up to the end of the history that it could read. */
    at(recorded: Recorded, until: HistoryUntil): HistoryThen {
      const { action, agent, evaluatedMs, asked } = recorded
      const session = asked && sessionOf(set, asked)
      const { overTime } = set.evaluator.about(action)
      const tallies = new Map<string, Tally>()
      let [erased, isCut] = [0, false]
      for (const { text } of overTime) {
        const counter = set.counters.get(text)
        const scope = counter && scopeOf(text, counter, agent, session)
        if (counter === undefined || scope === undefined) continue
        const beginMs = evaluatedMs - counter.withinMs + 1
        const found = counted.within(scope, recorded, beginMs, until)
        tallies.set(text, found.tally)
        erased += found.erased
        isCut ||= beginMs < fromMs
      }
      const asksSession = session !== undefined && overTime.some(({ root }) => root === 'session')
      const actions = asksSession ? sessions.until(JSON.stringify([agent, session]), recorded, until) : undefined
      const isSessionCut = asksSession && fromMs > Number.NEGATIVE_INFINITY
      return { history: { tallies, sessionActions: actions }, erased, isCut, isSessionCut }
    },
  }
}

/** Name of the actions that a counter counts together; undefined where it needs a session and there is none. */
function scopeOf(text: string, { by }: Counter, agent: string, session: string | undefined): string | undefined {
  if (by === 'tenant') return text
  if (by === 'agent') return JSON.stringify([text, agent])
  return session === undefined ? undefined : JSON.stringify([text, agent, session])
}

interface Amount {
  tally: Tally
  /** Erased requests, of which the amount is unknown. */
  erased: number
}

/** A counted action, with the amount up to it. */
interface Counted extends Amount {
  seq: number
  tsMs: number
}

/** Sums by chain and scope: times and seqs rise within a chain only. */
function countedActions() {
  const chains = new Map<string, Map<string, Counted[]>>()
  return {
    add(scope: string, { chain, seq, tsMs }: Place, { tally, erased }: Amount): void {
      const counted = valueAt(valueAt(chains, chain, newMap<string, Counted[]>), scope, () => [])
      const last = counted.at(-1) ?? NOTHING
      counted.push({ seq, tsMs, tally: addTallies(last.tally, tally), erased: last.erased + erased })
    },
    within(scope: string, { chain }: Place, beginMs: number, until: HistoryUntil): Amount {
      let amount = NOTHING
      for (const name of until.by === 'seq' ? [chain] : chains.keys()) {
        const counted = chains.get(name)?.get(scope) ?? []
        const first = partitionPoint(counted.length, (i) => (counted[i]?.tsMs ?? 0) < beginMs)
        const end = partitionPoint(counted.length, (i) => isBefore(counted[i], until))
        const last = first < end ? counted[end - 1] : undefined
        if (last !== undefined) amount = plus(amount, last, counted[first - 1] ?? NOTHING)
      }
      return amount
    },
  }
}

const NOTHING: Amount = { tally: NO_TALLY, erased: 0 }

function plus(sum: Amount, last: Amount, before: Amount): Amount {
  const tally = subtractTally(last.tally, before.tally)
  return { tally: addTallies(sum.tally, tally), erased: sum.erased + last.erased - before.erased }
}

/** The first place of each action of a session, by chain. */
function sessionActions() {
  const chains = new Map<string, Map<string, Map<string, Place>>>()
  return {
    add(session: string, { chain, seq, tsMs, action }: Recorded): void {
      const sessions = valueAt(chains, chain, newMap<string, Map<string, Place>>)
      valueAt(valueAt(sessions, session, newMap<string, Place>), action, () => ({ chain, seq, tsMs }))
    },
    until(session: string, { chain }: Place, until: HistoryUntil): ReadonlySet<string> | undefined {
      const found = new Set<string>()
      for (const name of until.by === 'seq' ? [chain] : chains.keys())
        for (const [action, place] of chains.get(name)?.get(session) ?? [])
          if (isBefore(place, until)) found.add(action)
      return found.size > MAX_SESSION_ACTIONS ? undefined : found
    },
  }
}

function isBefore(place: { seq: number; tsMs: number } | undefined, { by, end }: HistoryUntil): boolean {
  return place !== undefined && (by === 'seq' ? place.seq : place.tsMs) < end
}

const newMap = <K, V>(): Map<K, V> => new Map()
