import { setImmediate as nextTurn } from 'node:timers/promises'
import { serialByKey } from '../../base/concurrency.ts'
import { matchesAny } from '../../base/glob.ts'
import { addTallies, MAX_SESSION_ACTIONS, MISSING_AMOUNT, NO_TALLY, tallyOf } from '../../gate/history.ts'
import type { Counter, PolicySet } from '../../policies/set.ts'
import type { Taken, TakenBy } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'
import { contextAndPlan } from '../decisions/decisions.ts'

/** Rows, and characters of requests, that are read before other work runs. */
const ROWS_AT_ONCE = 200
const CHARACTERS_AT_ONCE = 200_000

/** Entries first <= seq < end of a chain that count together. */
export interface Window extends TakenBy {
  chain: string
  first: number
  end: number
}

export type WindowReader = ReturnType<typeof windowReader>

/** Reads allowed actions. */
export function windowReader(store: Store) {
  const serial = serialByKey()
  // Readers run one after another, so that many delay other work no longer than one does.
  const breathe = (): Promise<void> => serial('', () => nextTurn())

  /** Reads a window in parts, so that a long one delays nobody else. */
  async function* takenIn(window: Window): AsyncGenerator<Taken> {
    if (window.end - window.first > ROWS_AT_ONCE) await breathe()
    for (let first = window.first; first < window.end; ) {
      const rows = await store.taken({ ...window, first, limit: ROWS_AT_ONCE })
      yield* rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_AT_ONCE) return
      first = last.seq + 1
      await breathe()
    }
  }
  return {
    async tally(set: PolicySet, counter: Counter, window: Window) {
      let tally = NO_TALLY
      // No default replaces the values of erased requests, which may have been other numbers.
      let erased = 0
      let characters = 0
      for await (const { seq, action } of takenIn(window)) {
        if (!matchesAny(counter.actions, action)) continue
        const text = counter.sum === undefined ? NOT_READ : await store.requestAt(window.chain, seq)
        if (text === undefined) erased += 1
        const one =
          text === undefined ? MISSING_AMOUNT : tallyOf(set, counter, { action, ...contextAndPlan(JSON.parse(text)) })
        tally = addTallies(tally, one)
        characters += text?.length ?? 0
        if (characters < CHARACTERS_AT_ONCE) continue
        characters = 0
        await breathe()
      }
      return { tally, erased }
    },
    /** The distinct actions, with the known ones; the search ends where there are more than facts can hold. */
    async actions(window: Window, known: Iterable<string>): Promise<ReadonlySet<string>> {
      const actions = new Set(known)
      if (actions.size > MAX_SESSION_ACTIONS) return actions
      for await (const { action } of takenIn(window)) {
        actions.add(action)
        if (actions.size > MAX_SESSION_ACTIONS) break
      }
      return actions
    },
  }
}

/** Replaces the request for counters of actions, which do not read it. */
const NOT_READ = '{}'
