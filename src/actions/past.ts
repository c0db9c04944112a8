import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Glob, matchesAny } from '../base/glob.ts'
import { formatTimestamp } from '../base/time.ts'
import {
  type Asking,
  addTallies,
  MAX_SESSION_ACTIONS,
  NO_PAST,
  NO_TALLY,
  type Past,
  sessionOf,
  subtractTally,
  type Tally,
  tallyOf,
} from '../gate/over-time.ts'
import { principalOf } from '../keys/apikey.ts'
import type { Counter, PolicySet } from '../policy/set.ts'
import type { Guard, Store, Taken, TakenBy } from '../store.ts'
import { requestOf } from './decisions.ts'
import type { PastReader, ReadPast } from './deps.ts'
import { keptNewest } from './kept.ts'
import { turnsByKey } from './turns.ts'

/** Rows that are read before others get the processor: at most some milliseconds' worth. */
const ROWS_AT_ONCE = 200
/** Counters, each for one agent or session, and sessions, that are kept as they stood at the last check. */
const MAX_TALLIES = 10_000
const MAX_SESSIONS = 1000

export const NOTHING_READ: ReadPast = { past: NO_PAST, seen: null }

/** Entries first <= seq < end of a chain, of those who are counted together. */
interface Range extends TakenBy {
  chain: string
  first: number
  end: number
}

/** What the facts over time about one action are read from. */
interface Wanted {
  counters: readonly [text: string, counter: Counter][]
  session: boolean
}

export function pastReader(store: Store): PastReader {
  const turn = turnsByKey()
  const tallies = keptNewest<{ first: number; end: number; tally: Tally }>(MAX_TALLIES)
  const sessions = keptNewest<{ end: number; actions: ReadonlySet<string> }>(MAX_SESSIONS)

  const keptTally = async (set: PolicySet, counter: Counter, range: Range): Promise<Tally> => {
    const key = JSON.stringify([range.chain, range.agent, range.session, identityOf(set, counter)])
    const tally = await movedTally(store, set, counter, range, tallies.get(key))
    tallies.put(key, { first: range.first, end: range.end, tally })
    return tally
  }
  const keptActions = async (range: Range): Promise<ReadonlySet<string>> => {
    const key = JSON.stringify([range.chain, range.agent, range.session])
    const known = sessions.get(key)
    const isEarlier = known !== undefined && known.end <= range.end
    const actions = await actionsIn(
      store,
      isEarlier ? { ...range, first: known.end } : range,
      isEarlier ? known.actions : [],
    )
    sessions.put(key, { end: range.end, actions })
    return actions
  }
  return {
    async read(set, chain, asking) {
      const wanted = wantedOf(set, asking.action)
      if (wanted === undefined) return NOTHING_READ
      const end = (await store.lengths([chain])).get(chain) ?? 0
      const past = await pastOf(store, { set, chain, asking, end, wanted, tally: keptTally, actions: keptActions })
      return { past, seen: { end, guard: guardOf(set, chain, asking, end, wanted) } }
    },
    async at(set, chain, asking, end) {
      const wanted = wantedOf(set, asking.action)
      if (wanted === undefined) return NO_PAST
      return pastOf(store, {
        set,
        chain,
        asking,
        end,
        wanted,
        tally: (_, counter, range) => tallyIn(store, set, counter, range),
        actions: (range) => actionsIn(store, range, []),
      })
    },
    inTurn(set, caller, action, work) {
      if (wantedOf(set, action) === undefined) return work()
      // What one agent is allowed may be counted by another action for all of them.
      const isShared = [...set.counters.values()].some(({ by }) => by === 'tenant')
      return turn(JSON.stringify([caller.chain, isShared ? null : principalOf(caller.key)]), work)
    },
  }
}

/** Undefined where nothing over time is asked about the action. */
function wantedOf(set: PolicySet, action: string): Wanted | undefined {
  const { overTime } = set.evaluator.about(action)
  if (overTime.length === 0) return undefined
  const counters = overTime.flatMap(({ text }): Wanted['counters'] => {
    const counter = set.counters.get(text)
    return counter === undefined ? [] : [[text, counter]]
  })
  return { counters, session: overTime.some(({ root }) => root === 'session') }
}

interface Reading {
  set: PolicySet
  chain: string
  asking: Asking
  end: number
  wanted: Wanted
  tally(set: PolicySet, counter: Counter, range: Range): Promise<Tally>
  actions(range: Range): Promise<ReadonlySet<string>>
}

async function pastOf(store: Store, { set, chain, asking, end, wanted, tally, actions }: Reading): Promise<Past> {
  const session = sessionOf(set, asking)
  const tallies = new Map<string, Tally>()
  for (const [text, counter] of wanted.counters) {
    const by = takenBy(counter, asking.agent, session)
    if (by === undefined) continue
    const from = formatTimestamp(asking.nowMs - counter.withinMs + 1)
    const first = await store.seqNotBefore(chain, from)
    tallies.set(text, await tally(set, counter, { ...by, chain, first: Math.min(first, end), end }))
  }
  if (!wanted.session || session === undefined) return { tallies, sessionActions: undefined }
  const taken = await actions({ chain, agent: asking.agent, session, first: 0, end })
  return { tallies, sessionActions: taken.size > MAX_SESSION_ACTIONS ? undefined : taken }
}

/** Undefined where it is not known, since the request has no session. */
function takenBy({ by }: Counter, agent: string, session: string | undefined): TakenBy | undefined {
  if (by === 'tenant') return { agent: null, session: null }
  if (by === 'agent') return { agent, session: null }
  return session === undefined ? undefined : { agent, session }
}

/** An allow counts on nothing more having been allowed of what was counted for it. */
function guardOf(set: PolicySet, chain: string, asking: Asking, end: number, { counters, session }: Wanted): Guard {
  const name = sessionOf(set, asking)
  const counted = counters.flatMap(([, counter]) => {
    const by = takenBy(counter, asking.agent, name)
    return by === undefined ? [] : [{ ...by, actions: counter.actions }]
  })
  const inSession = session && name !== undefined ? [{ agent: asking.agent, session: name, actions: ANY_ACTION }] : []
  return { kind: 'notTaken', chain, since: end, of: [...counted, ...inSession] }
}

const ANY_ACTION: readonly Glob[] = [{ text: '**', segments: ['**'], exact: false }]

/** What tells counters apart of which the tallies differ, or move with different windows. */
function identityOf({ facts }: PolicySet, { actions, sum, withinMs }: Counter): unknown[] {
  const globs = actions.map(({ text }) => text)
  return [globs, withinMs, ...(sum === undefined ? [] : [sum.text, facts.get(sum.text)?.default ?? null])]
}

/** The tally of a range, from that of an earlier one where it is known: what has come is added, what is too old is taken off. */
async function movedTally(
  store: Store,
  set: PolicySet,
  counter: Counter,
  range: Range,
  known: { first: number; end: number; tally: Tally } | undefined,
): Promise<Tally> {
  const whole = (): Promise<Tally> => tallyIn(store, set, counter, range)
  if (known === undefined || known.first > range.first || known.end > range.end || known.end < range.first)
    return whole()
  const old = await tallyIn(store, set, counter, { ...range, first: known.first, end: range.first })
  // What was a number when it was added may have been erased since.
  if (old.lacking > 0) return whole()
  const come = await tallyIn(store, set, counter, { ...range, first: known.end })
  return addTallies(subtractTally(known.tally, old), come)
}

async function tallyIn(store: Store, set: PolicySet, counter: Counter, range: Range): Promise<Tally> {
  const { chain } = range
  let tally = NO_TALLY
  for await (const { seq, action } of takenIn(store, range)) {
    if (!matchesAny(counter.actions, action)) continue
    const request = counter.sum === undefined ? {} : await requestOf(store, chain, seq)
    tally = addTallies(tally, tallyOf(set, counter, { action, ...request }))
  }
  return tally
}

/** The distinct actions, those that are known already with them; no more are looked for than can be told. */
async function actionsIn(store: Store, range: Range, known: Iterable<string>): Promise<ReadonlySet<string>> {
  const actions = new Set(known)
  if (actions.size > MAX_SESSION_ACTIONS) return actions
  for await (const { action } of takenIn(store, range)) {
    actions.add(action)
    if (actions.size > MAX_SESSION_ACTIONS) break
  }
  return actions
}

/** In parts, so that a long window holds up nobody else. */
async function* takenIn(store: Store, range: Range): AsyncGenerator<Taken> {
  for (let first = range.first; first < range.end; ) {
    const rows = await store.taken({ ...range, first, limit: ROWS_AT_ONCE })
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_AT_ONCE) return
    first = last.seq + 1
    await nextTurn()
  }
}
