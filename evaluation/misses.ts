import { table } from '../docs/markdown.ts'
import type { Call, Session } from './corpus.ts'
import { type Decisions, groupsOf, verdictOf } from './score.ts'

/** Common features of the attacks that still succeed: suite, attackers' goals, tools. No text of attackers is shown. */
export function missesTable(sessions: readonly Session[], decisions: Decisions): string {
  const succeeded = sessions.filter(({ recorded_attack_success }) => recorded_attack_success === true)
  return table(
    ['suite', 'succeed still', 'without a call to stop', 'by goal', 'reached with'],
    [...groupsOf(succeeded, 'suite')].map(([suite, of]) => {
      const missed = of.filter((session) => !verdictOf(session, decisions).stopped)
      return [
        ...[
          suite,
          `${missed.length} of ${of.length}`,
          String(missed.filter(({ gateable }) => gateable !== true).length),
        ],
        ...[goalsOf(missed, of), toolsOf(missed)],
      ]
    }),
  )
}

/** Goals that are still reached, the most frequent first, such as `injection_task_1` 2 of 7. */
function goalsOf(missed: readonly Session[], succeeded: readonly Session[]): string {
  const all = tally(succeeded.map(({ injection_task }) => injection_task ?? ''))
  return shown(tally(missed.map(({ injection_task }) => injection_task ?? '')), (goal) => ` of ${all.get(goal)}`)
}

/** Tools by which the goals were reached, with the number of sessions of each. */
function toolsOf(missed: readonly Session[]): string {
  return shown(tally(missed.flatMap(({ calls }) => [...new Set(reachingCalls(calls).map(({ action }) => action))])))
}

function reachingCalls(calls: readonly Call[]): Call[] {
  return calls.filter(({ role, necessary_for_attack }) => role === 'goal' || necessary_for_attack === true)
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function shown(counts: ReadonlyMap<string, number>, rest: (name: string) => string = () => ''): string {
  const sorted = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
  return sorted.map(([name, count]) => `\`${name}\` ${count}${rest(name)}`).join(', ')
}
