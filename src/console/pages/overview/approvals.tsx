import type { Overview } from '../../../client/api.ts'
import { Facts } from '../../ui/facts.tsx'
import { durationText } from '../../ui/time.tsx'
import { CountBar } from './count-bar.tsx'
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
  const most = Math.max(...Object.values(decided))
  return (
    <section class="card">
      <h2>How approvals ended</h2>
      {most === 0 ? (
        <p class="muted">No approvals ended in this period.</p>
      ) : (
        <ul class="stack tight bars">
          {ENDS.map(({ member, label, class: name, eventType }) => (
            <CountBar key={member} count={decided[member]} most={most} class={name}>
              {eventType === null ? (
                label
              ) : (
                <Counted in="audit" query={{ eventType, from }}>
                  {label}
                </Counted>
              )}
            </CountBar>
          ))}
        </ul>
      )}
      {waitMs && (
        <Facts
          of={{
            'Waiting time, median': durationText(waitMs.p50),
            '90th percentile': durationText(waitMs.p90),
            Longest: durationText(waitMs.max),
          }}
        />
      )}
    </section>
  )
}
