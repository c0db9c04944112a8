import type { Denial, Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { DECIDED_BY } from '../../ui/decision-words.ts'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { LongText } from '../../ui/text.tsx'

/** What denied most, each a way to its decisions. */
export function DenialsCard({ of: { denials, denialsLeftOut, from } }: { of: Overview }) {
  const most = Math.max(...denials.map(({ count }) => count), 1)
  return (
    <section class="card">
      <h2>Denials by rule</h2>
      {denials.length === 0 ? (
        <p class="muted">Nothing was denied in this time.</p>
      ) : (
        <ol class="bars">
          {denials.map((denial) => (
            <li key={`${denial.rule} ${denial.decidedBy}`}>
              <Name of={denial} from={from} />
              <span class="bar-row">
                <span class="meter" aria-hidden="true">
                  <span class="deny" style={{ width: `${(denial.count / most) * 100}%` }} />
                </span>
                <span class="number">{countText(denial.count)}</span>
              </span>
            </li>
          ))}
        </ol>
      )}
      {denialsLeftOut > 0 && (
        <p class="muted small">
          {countText(denialsLeftOut)} more {denialsLeftOut === 1 ? 'rule or step' : 'rules and steps'} denied something.
        </p>
      )}
    </section>
  )
}

/** Where no rule decided, the step that did. */
function Name({ of: { rule, decidedBy }, from }: { of: Denial; from: string }) {
  const { may } = useConsole()
  const step = DECIDED_BY[decidedBy]
  if (rule === null) return <span class="bar-name">no rule: {step}</span>
  const name = <LongText of={rule} severalLines={false} />
  return (
    <span class="bar-name">
      {may('listDecisions') ? (
        <Link to={addressOf(['decisions'], { rule, decision: 'deny', from })}>{name}</Link>
      ) : (
        name
      )}
      {decidedBy !== 'deny_rule' && <span class="muted small"> {step}</span>}
    </span>
  )
}
