import { type Line, type Painted, paint, table } from '../../src/cli/output.ts'
import type { Label, Sample } from './sample.ts'
import { DECISIONS, type Decision, type Played } from './steps.ts'

const STYLE = { allow: 'green', require_approval: 'yellow', deny: 'red' } as const
/** Rows of the digest. */
const ROWS = 18
const BAR_WIDTH = 40

/** A bar that is drawn over itself, on a terminal only. */
export function progressBar(total: number, isShown: boolean): (done: number) => void {
  if (!isShown) return () => undefined
  return (done) => {
    const filled = Math.round((done / total) * BAR_WIDTH)
    const end = done === total ? '\r\u001b[K' : ''
    process.stderr.write(`\r  ${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${done}/${total}${end}`)
  }
}

export type Counts = Record<Decision, number>

export function countsOf(played: readonly Played[]): Counts {
  const counts: Counts = { allow: 0, require_approval: 0, deny: 0 }
  for (const { answer } of played) counts[answer.decision] += 1
  return counts
}

/** How the calls of each label were decided. */
export function countsByLabel(played: readonly Played[], { labelOf }: Sample): Record<Label, Counts> {
  const of = (label: Label): Counts => countsOf(played.filter(({ call }) => labelOf(call) === label))
  return { user: of('user'), goal: of('goal'), support: of('support'), other: of('other') }
}

/** Every call, in the order in which they were made. */
export function allRows(played: readonly Played[]): Line[] {
  return table(
    ['  SESSION', 'ACTION', 'DECISION', 'SCORE', 'REASON'],
    played.map(({ call, answer }) => [
      `  ${call.session}`,
      call.action,
      decisionCell(answer.decision),
      String(answer.riskScore),
      answer.reason,
    ]),
  )
}

interface Group {
  first: Played
  times: number
  highest: number
}

/** Calls that were decided alike, the strictest first, then the most frequent; as many as are read at a glance. */
export function digest(played: readonly Played[]): Line[] {
  const groups = new Map<string, Group>()
  for (const one of played) {
    const { decision, reason, riskScore } = one.answer
    const key = JSON.stringify([decision, one.call.action, decision === 'allow' ? '' : reason])
    const { first, times, highest } = groups.get(key) ?? { first: one, times: 0, highest: 0 }
    groups.set(key, { first, times: times + 1, highest: Math.max(highest, riskScore) })
  }
  const strictness = ({ first }: Group): number => DECISIONS.indexOf(first.answer.decision)
  const sorted = [...groups.values()].sort((a, b) => strictness(b) - strictness(a) || b.times - a.times)
  const rows = table(
    ['  CALLS', 'ACTION', 'DECISION', 'SCORE', 'REASON'],
    sorted
      .slice(0, ROWS)
      .map(({ first, times, highest }) => [
        `  ${times}`,
        first.call.action,
        decisionCell(first.answer.decision),
        times > 1 ? `≤ ${highest}` : String(highest),
        first.answer.reason,
      ]),
  )
  const rest = sorted.slice(ROWS).reduce((sum, { times }) => sum + times, 0)
  return rest === 0 ? rows : [...rows, `  … and ${rest} more calls; --all shows each.`]
}

export function decisionCell(decision: Decision): Painted {
  return paint(STYLE[decision], decision)
}
