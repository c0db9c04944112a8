import type { Approval, RecordedDecision } from '../../client/api.ts'
import { DECISIONS, STATUSES } from './decision-words.ts'
import { Text } from './text.tsx'

/** Words label decisions and statuses; colour only repeats them. */

interface Decided {
  decision: RecordedDecision['decision']
  observed?: RecordedDecision['decision'] | undefined
  shadow?: RecordedDecision['shadow'] | undefined
}

/** The decision, what the policies decided that were only observed, and what the set in shadow would decide instead. */
export function DecisionBadge({ decision, observed = decision, shadow }: Decided) {
  return (
    <>
      <span class={`badge ${decision}`}>{DECISIONS[decision]}</span>
      {observed !== decision && <span class={`badge ${observed}`}>observed: {DECISIONS[observed]}</span>}
      {shadow?.decision && <span class={`badge ${shadow.decision}`}>shadow: {DECISIONS[shadow.decision]}</span>}
    </>
  )
}

const COLOURS = {
  pending: 'require_approval',
  approved: 'allow',
  consumed: 'allow',
  rejected: 'deny',
  cancelled: 'plain',
  expired: 'plain',
} as const satisfies Record<Approval['status'], string>

export function StatusBadge({ status }: { status: Approval['status'] }) {
  return <span class={`badge ${COLOURS[status]}`}>{STATUSES[status]}</span>
}

/** Scores from which risk is drawn as medium and as high. They only colour: the policies give a score its effect. */
const MEDIUM = 40
const HIGH = 70
/** Score from which approving requires the typed name of the action, and excludes batches. */
export const CONFIRMED_FROM = HIGH

function riskLevel(score: number): 'low' | 'medium' | 'high' {
  return score >= HIGH ? 'high' : score >= MEDIUM ? 'medium' : 'low'
}

interface RiskProps {
  score: number
  /** True in lists, where digits align with the row above. */
  isInList?: boolean
}

/** A risk score from 0 to 100, as number and bar. */
export function Risk({ score, isInList = false }: RiskProps) {
  return (
    <span class={`risk ${riskLevel(score)} ${isInList ? 'listed' : ''}`} title={`Risk ${score} of 100`}>
      <span class="risk-number">{isInList ? score.toFixed(1) : score}</span>
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${score}%` }} />
      </span>
    </span>
  )
}

/** The highest score. */
const WHOLE = 100

interface RiskFactorsProps {
  factors: Approval['factors']
  /** The score, shown below bars that are relative to the highest score. */
  total?: number
}

/** The parts of a score: each factor's points, out of its maximum. */
export function RiskFactors({ factors, total }: RiskFactorsProps) {
  if (factors.length === 0 && !total) return <p class="muted">No risk factor adds anything.</p>
  const most = Math.max(...factors.map(({ weight }) => Math.abs(weight)), total === undefined ? 1 : WHOLE)
  return (
    <table class="factors">
      <caption class="visually-hidden">Risk factors</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Factor</th>
          <th scope="col">Share</th>
          <th scope="col">Points</th>
        </tr>
      </thead>
      <tbody>
        {factors.map(({ name, weight, contribution }) => (
          <tr key={name}>
            <th scope="row">
              <Text of={name} />
            </th>
            <td class="bar">
              <span class="meter" aria-hidden="true">
                <span class="possible" style={{ width: `${(Math.abs(weight) / most) * 100}%` }} />
                <span style={{ width: `${(Math.abs(contribution) / most) * 100}%` }} />
              </span>
            </td>
            <td class="number">
              {contribution} <span class="muted">of {weight}</span>
            </td>
          </tr>
        ))}
      </tbody>
      {total !== undefined && (
        <tfoot>
          <tr class={`risk ${riskLevel(total)}`}>
            <th scope="row">Risk in all</th>
            <td class="bar">
              <span class="meter" aria-hidden="true">
                <span style={{ width: `${(total / most) * 100}%` }} />
              </span>
            </td>
            <td class="number">
              {total} <span class="muted">of {WHOLE}</span>
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  )
}
