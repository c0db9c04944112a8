import type { Told, Violation } from './place.ts'
import type { Replay } from './replay.ts'

/** Broken rules of a chain; only the first of them is kept. */
export interface Judged {
  /** Entries that break one. */
  unlawfulEntries: number
  first: Violation | null
  /** Checks that need entries which are not at hand. */
  unjudged: number
}

/** Counts what a replay finds. */
export function judging(replayed: Replay) {
  let unlawfulEntries = 0
  let first: Violation | null = null
  let lastSeq = -1
  const note = (violations: readonly Violation[]): void => {
    for (const violation of violations) {
      if (violation.seq !== lastSeq) unlawfulEntries += 1
      lastSeq = violation.seq
      if (first === null || violation.seq < first.seq) first = violation
    }
  }
  return {
    step: (told: Told): void => note(replayed.step(told)),
    /** @param isEnd true at the end of the chain */
    finish(isEnd: boolean): Judged {
      note(replayed.finish(isEnd))
      return { unlawfulEntries, first, unjudged: replayed.unjudged() }
    },
  }
}
