import type { Overview } from '../../../client/api.ts'
import { countText } from '../../ui/numbers.ts'
import { durationText } from '../../ui/time.tsx'
import { Counted } from './counted.tsx'

/** Ends of approvals, with the event types that occur once for each. Approved has none: a quorum may need several votes. */
const ENDS = [
  { member: 'approved', label: 'Approved', class: 'allow', eventType: null },
  { member: 'rejected', label: 'Rejected', class: 'deny', eventType: 'approval.rejected' },
  { member: 'expired', label: 'Expired', class: 'plain', eventType: 'approval.expired' },
  { member: 'cancelled', label: 'Cancelled', class: 'plain', eventType: 'approval.cancelled' },
] as const

/** The ends of approvals, and the time that people took. */
export function ApprovalsCard({ of: { approvals, from } }: { of: Overview }) {
  const { decided, waitMs } = approvals
  const most = Math.max(...Object.values(decided), 1)
  const isNone = Object.values(decided).every((count) => count === 0)
  return (
    <section class="card">
      <h2>How approvals ended</h2>
      {isNone ? (
        <p class="muted">No approval ended in this time.</p>
      ) : (
        <ul class="stack tight bars">
          {ENDS.map(({ member, label, class: name, eventType }) => (
            <li key={member}>
              <span class="bar-name">
                {eventType === null ? (
                  label
                ) : (
                  <Counted path="audit" needs="auditChain" query={{ eventType, from }}>
                    {label}
                  </Counted>
                )}
              </span>
              <span class="bar-row">
                <span class="meter" aria-hidden="true">
                  <span class={name} style={{ width: `${(decided[member] / most) * 100}%` }} />
                </span>
                <span class="number">{countText(decided[member])}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {waitMs && (
        <dl class="facts">
          <dt>Waiting time, median</dt>
          <dd>{durationText(waitMs.p50)}</dd>
          <dt>90th percentile</dt>
          <dd>{durationText(waitMs.p90)}</dd>
          <dt>Longest</dt>
          <dd>{durationText(waitMs.max)}</dd>
        </dl>
      )}
    </section>
  )
}
