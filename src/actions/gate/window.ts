import { setImmediate as nextTurn } from 'node:timers/promises'
import { serialByKey } from '../../base/concurrency.ts'
import { matchesAny } from '../../base/glob.ts'
import { addTallies, MAX_SESSION_ACTIONS, MISSING_AMOUNT, NO_TALLY, type Tally, tallyOf } from '../../gate/history.ts'
import type { Counter, PolicySet } from '../../policy/set.ts'
import type { Taken, TakenBy } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'
import { contextAndPlan } from '../decisions/decisions.ts'

/** Rows, and characters of requests, that are read before others get the processor. */
const ROWS_AT_ONCE = 200
const CHARACTERS_AT_ONCE = 200_000

/** Entries first <= seq < end of a chain, of those who are counted together. */
export interface Window extends TakenBy {
  chain: string
  first: number
  end: number
}

export interface WindowTally {
  tally: Tally
  /** Requests that have been erased. No default stands in for what they held: it may have been another number. */
  erased: number
}

/** Reads what was allowed. */
export interface WindowReader {
  tally(set: PolicySet, counter: Counter, window: Window): Promise<WindowTally>
  /** The distinct actions, those that are known already with them; no more are looked for than can be told. */
  actions(window: Window, known: Iterable<string>): Promise<ReadonlySet<string>>
}

export function windowReader(store: Store): WindowReader {
  const serial = serialByKey()
  // One after the other, so that many who read at once hold up the rest no longer than one does.
  const breathe = (): Promise<void> => serial('', () => nextTurn())

  /** In parts, so that a long window holds up nobody else. */
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
    async tally(set, counter, window) {
      let tally = NO_TALLY
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
    async actions(window, known) {
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

/** Stands for the request where actions are counted, whatever they were asked with. */
const NOT_READ = '{}'
