import { setImmediate as nextTurn } from 'node:timers/promises'
import { serialByKey } from '../../base/concurrency.ts'
import { matchesAny } from '../../base/glob.ts'
import { contextAndPlan } from '../../gate/facts.ts'
import { addTallies, MAX_SESSION_ACTIONS, MISSING_AMOUNT, NO_TALLY, type Tally, tallyOf } from '../../gate/history.ts'
import type { Counter, PolicySet } from '../../policies/set.ts'
import type { Snapshot, Taken, TakenBy, TrailTaken } from '../../store/queries.ts'
import { read, type Steps } from '../../store/steps.ts'
import type { Store } from '../../store/store.ts'

/** Allowed actions, and characters of their requests, that are read before other work runs. */
const ROWS_AT_ONCE = 200
const CHARACTERS_AT_ONCE = 200_000
/** Entries that are looked at for them, where all agents count: 2 ms, if their requests have 3 kB. */
const ENTRIES_AT_ONCE = 500

/** Entries that count together: first <= seq < end of a chain, or first <= time < end of a trail, in ms. */
export interface Window extends TakenBy {
  by: 'seq' | 'time'
  /** The chain, or the trail. */
  chain: string
  first: number
  end: number
}

export interface WindowTally {
  tally: Tally
  /** Requests that have been erased. No default replaces their values, which may have been other numbers. */
  erased: number
}

/** Work that waits for reads, and yields PAUSE where other work runs, if there is much to read. */
export type Reading<T> = Steps<T>
const PAUSE = Symbol('pause')

/** The snapshot that the present part of a reading reads. */
export type Present = () => Snapshot

/** Runs readings in turns of the event loop, each part in a snapshot of its own. */
export function readingRunner(store: Store) {
  const serial = serialByKey()
  return async <T>(begin: (at: Present) => Reading<T>): Promise<T> => {
    let reading: Reading<T> | undefined
    let present: Snapshot
    for (;;) {
      const step = await store.snapshot((snapshot) => {
        present = snapshot
        reading ??= begin(() => present)
        return partOf(reading)
      })
      if (step.done === true) return step.value
      // Readings go on one after another, so that many delay other work no longer than one does.
      await serial('', () => nextTurn())
    }
  }
}

/** Goes on with a reading until its end or its next pause. */
function* partOf<T>(reading: Reading<T>): Steps<IteratorResult<unknown, T>> {
  let step = reading.next()
  while (step.done !== true && step.value !== PAUSE) step = reading.next(yield step.value)
  return step
}

/** Reads the tally of a window. */
export function* tallyIn(at: Present, set: PolicySet, counter: Counter, window: Window): Reading<WindowTally> {
  let tally = NO_TALLY
  let erased = 0
  let characters = 0
  yield* eachTaken(at, window, function* ({ chain, seq, action }) {
    if (!matchesAny(counter.actions, action)) return 'next'
    const text = counter.sum === undefined ? NOT_READ : yield* read(at().requestAt(chain, seq))
    if (text === undefined) erased += 1
    const one =
      text === undefined ? MISSING_AMOUNT : tallyOf(set, counter, { action, ...contextAndPlan(JSON.parse(text)) })
    tally = addTallies(tally, one)
    characters += text?.length ?? 0
    if (characters < CHARACTERS_AT_ONCE) return 'next'
    characters = 0
    return 'pause'
  })
  return { tally, erased }
}

/** Reads the distinct actions, with the known ones; the search ends where there are more than facts can hold. */
export function* actionsIn(at: Present, window: Window, known: Iterable<string>): Reading<ReadonlySet<string>> {
  const actions = new Set(known)
  if (actions.size > MAX_SESSION_ACTIONS) return actions
  yield* eachTaken(at, window, ({ action }) => (actions.add(action).size > MAX_SESSION_ACTIONS ? 'end' : 'next'))
  return actions
}

/** Way to go on after an action. */
type Then = 'next' | 'pause' | 'end'
type Visit = (taken: Taken & { chain: string }) => Then | Reading<Then>

/** Reads the allowed actions of a window in parts. Other work runs between them, and where the visitor pauses. */
function* eachTaken(at: Present, window: Window, visit: Visit): Reading<void> {
  if (window.by === 'time') return yield* eachInTrail(at, window, visit)
  const { chain } = window
  if (window.end - window.first > ROWS_AT_ONCE) yield PAUSE
  for (let first = window.first; first < window.end; ) {
    const end = window.agent === null ? Math.min(window.end, first + ENTRIES_AT_ONCE) : window.end
    const rows = yield* read(at().taken({ ...window, first, end, limit: ROWS_AT_ONCE }))
    for (const { seq, action } of rows) if ((yield* visited(visit({ chain, seq, action }))) === 'end') return
    const last = rows[ROWS_AT_ONCE - 1]
    first = last === undefined ? end : last.seq + 1
    if (first < window.end) yield PAUSE
  }
}

function* eachInTrail(at: Present, { chain: trail, first, end, ...by }: Window, visit: Visit): Reading<void> {
  if (first >= end) return
  for (let after: TrailTaken | undefined; ; ) {
    const query = { trail, agent: by.agent, session: by.session, fromMs: first, toMs: end, limit: ROWS_AT_ONCE }
    const rows = yield* read(at().takenInTrail({ ...query, after }))
    for (const taken of rows) if ((yield* visited(visit(taken))) === 'end') return
    if (rows.length !== ROWS_AT_ONCE) return
    after = rows.at(-1)
    yield PAUSE
  }
}

function* visited(told: Then | Reading<Then>): Reading<Then> {
  const then = typeof told === 'string' ? told : yield* told
  if (then === 'pause') yield PAUSE
  return then
}

/** Replaces the request for counters of actions, which do not read it. */
const NOT_READ = '{}'
