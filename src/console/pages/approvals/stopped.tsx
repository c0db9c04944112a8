import type { Approval } from '../../../client/api.ts'
import { StopLink } from '../../ui/stop-link.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

/** True while a stop covers it: its time is paused. */
export function isPaused({ status, stop }: Approval): boolean {
  return status === 'pending' && stop !== null
}

/** The stop that holds or has cancelled an approval, and its effect; or a cancellation without a stop. */
export function Stopped({ approval }: { approval: Approval }) {
  const { status, stop } = approval
  if (isPaused(approval) && stop !== null)
    return (
      <div class="notice" role="status">
        <p>
          <strong>Paused</strong> by the stop <StopLink stop={stop} />. Its deadline is suspended: when the stop ends,
          it continues with its remaining time. Until then, nobody can approve it.
        </p>
        <Reason stop={stop} />
      </div>
    )
  if (status !== 'cancelled') return null
  return (
    <div class="notice">
      {stop === null ? (
        <p>
          <strong>Cancelled</strong> by its requester or by an approver. If it is still needed, the agent requests it
          again.
        </p>
      ) : (
        <>
          <p>
            <strong>Cancelled</strong> by the stop <StopLink stop={stop} />, which began after it was approved and
            before it was used. If it is still needed, the agent requests it again.
          </p>
          <Reason stop={stop} />
        </>
      )}
    </div>
  )
}

type Stop = NonNullable<Approval['stop']>

function Reason({ stop: { reason, triggeredBy, triggeredAt } }: { stop: Stop }) {
  return (
    <p class="small">
      <LongText of={reason} /> <span class="muted">by </span>
      <Text of={triggeredBy} />
      <span class="muted">
        , <Ago at={triggeredAt} />
      </span>
    </p>
  )
}
