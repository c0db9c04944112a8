import type { Deps } from '../actions/deps.ts'
import { outcomeWatch } from '../actions/outcomes/missing.ts'
import type { OutcomeDeps } from '../actions/outcomes/outcomes.ts'
import { boundedCache } from '../base/bounded-cache.ts'
import { parseDuration } from '../base/time.ts'
import type { Background } from './repeat.ts'
import type { Trail } from './trail.ts'

/** Interval of the search for missing outcomes. */
const POLL_INTERVAL_MS = 10_000

/** Limit of remembered decisions with a contradicted outcome: repeated reports of one count once. */
const REMEMBERED = 10_000

export type Outcomes = OutcomeDeps['outcomes'] & {
  /** Possible bypasses since the start. */
  possibleBypasses(): number
}

/** Searches for allowed actions without an outcome, and logs a warning of each possible bypass. */
export function watchOutcomes(
  deps: Deps,
  trail: Pick<Trail, 'isWriting'>,
  { config, log, tasks }: Background,
): Outcomes {
  let count = 0
  const contradicted = boundedCache<true>(REMEMBERED)
  const withinMs = parseDuration(config.outcomeWithin)
  if (withinMs !== undefined) {
    const look = outcomeWatch(deps, {
      withinMs,
      onMissing(chain, missing) {
        count += missing.length
        const decisions = missing.slice(0, 10).map(({ decisionId }) => decisionId)
        log.warn({ chain, count: missing.length, decisions }, 'outcomes of allowed actions never came')
      },
    })
    tasks.every('look for missing outcomes', Math.min(POLL_INTERVAL_MS, withinMs), async () => {
      if (trail.isWriting()) await look()
    })
  }
  return {
    ranWithoutAllow(report) {
      count += 1
      log.warn(report, 'an action ran without an allow')
    },
    ranAfterAll(report) {
      if (contradicted.get(report.decisionId)) return
      contradicted.put(report.decisionId, true)
      count += 1
      log.warn(report, 'an action ran that was reported as not run')
    },
    possibleBypasses: () => count,
  }
}
