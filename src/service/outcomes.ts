import type { Deps } from '../actions/deps.ts'
import { outcomeWatch } from '../actions/outcomes/missing.ts'
import type { OutcomeDeps } from '../actions/outcomes/outcomes.ts'
import { parseDuration } from '../base/time.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'
import type { Tasks } from './repeat.ts'
import type { Trail } from './trail.ts'

/** Between two looks for outcomes that never came. */
const POLL_MS = 10_000

/** Decisions whose outcome was contradicted that are remembered: one that is told again and again counts once. */
const REMEMBERED = 10_000

export type Outcomes = OutcomeDeps['outcomes'] & {
  /** Possible bypasses since the start. */
  possibleBypasses(): number
}

/** Looks for allowed actions whose outcome never came, and says loudly what may have gone past the gate. */
export function watchOutcomes(
  deps: Deps,
  trail: Pick<Trail, 'isWriting'>,
  { config, log, tasks }: { config: Config; log: Logger; tasks: Tasks },
): Outcomes {
  let count = 0
  const contradicted = new Set<string>()
  const withinMs = parseDuration(config.outcomeWithin)
  if (withinMs !== undefined) {
    const watch = outcomeWatch(deps, {
      withinMs,
      onMissing(chain, missing) {
        count += missing.length
        const decisions = missing.slice(0, 10).map(({ decisionId }) => decisionId)
        log.warn({ chain, count: missing.length, decisions }, 'outcomes of allowed actions never came')
      },
    })
    tasks.every('look for missing outcomes', Math.min(POLL_MS, withinMs), async () => {
      if (trail.isWriting()) await watch.look()
    })
  }
  return {
    ranWithoutAllow(told) {
      count += 1
      log.warn(told, 'an action ran without an allow')
    },
    ranAfterAll(told) {
      if (contradicted.has(told.decisionId)) return
      const [oldest] = contradicted
      if (oldest !== undefined && contradicted.size >= REMEMBERED) contradicted.delete(oldest)
      contradicted.add(told.decisionId)
      count += 1
      log.warn(told, 'an action ran that was told as not run')
    },
    possibleBypasses: () => count,
  }
}
