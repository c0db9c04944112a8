import type { Denial, Overview } from '../../../client/api.ts'
import { DECIDED_BY } from '../../ui/decision-words.ts'
import { countText } from '../../ui/numbers.ts'
import { Beginning } from '../../ui/text.tsx'
import { CountBar } from './count-bar.tsx'
import { Counted } from './counted.tsx'

/** Limit of characters of a rule's name. */
const MOST = 120

/** The rules and steps that denied most, each a link to its decisions. */
export function DenialsCard({ of: { denials, denialsLeftOut, from } }: { of: Overview }) {
  const most = Math.max(...denials.map(({ count }) => count))
  return (
    <section class="card">
      <h2>Denials by rule</h2>
      {denials.length === 0 ? (
        <p class="muted">No denials in this period.</p>
      ) : (
        <ol class="stack tight bars">
          {denials.map((denial) => (
            <CountBar key={`${denial.rule} ${denial.decidedBy}`} count={denial.count} most={most} class="deny">
              <Name of={denial} from={from} />
            </CountBar>
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

/** The step of the order, if no rule decided. */
function Name({ of: { rule, decidedBy }, from }: { of: Denial; from: string }) {
  const step = DECIDED_BY[decidedBy]
  const named = rule === null ? {} : { rule, whole: 'yes' }
  return (
    <>
      <Counted in="decisions" query={{ ...named, decision: 'deny', decidedBy, from }}>
        {rule === null ? `no rule: ${step}` : <Beginning of={rule} most={MOST} />}
      </Counted>
      {rule !== null && decidedBy !== 'deny_rule' && <span class="muted small"> {step}</span>}
    </>
  )
}
