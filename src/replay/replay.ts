import type { PolicySet } from '../policies/set.ts'
import { decider, type ReplayOptions } from './decide.ts'
import { type Part, type Recorded, type RecordedEntry, recordedIn } from './recorded.ts'
import { type ReplayReport, reporter } from './report.ts'

/** Takes the decisions of a trail in their order, and reports what a draft would have decided, or what else comes of it. */
export interface Replayer<R = ReplayReport> {
  add(entries: readonly RecordedEntry[]): Promise<void>
  report(): Promise<R>
}

/** Starts to replay a draft, here or in another thread. */
export type StartReplay<R = ReplayReport> = (options: Omit<ReplayOptions, 'set'>) => Promise<Replayer<R>>

/** Replays in the calling thread. */
export function replayHere(set: PolicySet): StartReplay {
  return async (options) => {
    const { take, report } = replayOf({ ...options, set })
    return {
      async add(entries) {
        for (const { part, ...entry } of entries) await take(recordedIn(entry), part)
      },
      report: async () => report(),
    }
  }
}

/** Decides requests again one by one, and sums up what comes of it. */
export function replayOf(options: ReplayOptions) {
  const { pass, decide } = decider(options)
  const { add, report } = reporter()
  return {
    async take(recorded: Recorded, part: Part): Promise<void> {
      if (part === 'reported') await add(recorded, await decide(recorded))
      // The draft's own history has what it would have allowed, whether that is reported or not.
      else if (part === 'leftOut' && options.history === 'draft') await decide(recorded)
      else pass(recorded)
    },
    report,
  }
}

/** Time that an evaluation may lie before its entry. */
const SLACK_MS = 3_600_000

/** Time before a decision of which a set needs the requests; infinite where sessions count, as they have no end. */
export function reachOf({ counters, session }: Pick<PolicySet, 'counters' | 'session'>): number {
  if (session !== undefined) return Number.POSITIVE_INFINITY
  const windows = Array.from(counters.values(), ({ withinMs }) => withinMs)
  return windows.length === 0 ? 0 : Math.max(...windows) + SLACK_MS
}
