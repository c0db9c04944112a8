import type { FailureCode, GateError } from '../../../client/errors.ts'
import { Text } from '../../ui/text.tsx'

/** Advice after a refused vote. The service's own sentence gives the reason. */
const ADVICE: Partial<Record<FailureCode, string>> = {
  self_approval: 'You asked for this yourself. Ask somebody else to approve it; you may reject it.',
  approver_mismatch: 'You are not who this page was opened for. Sign out, and in again.',
  approval_expired: 'Its time is up, and nothing was approved. If the action is still wanted, the agent asks anew.',
  kill_switch_active: 'A stop covers this action. Nothing can be approved until it ends; you may reject it.',
  approval_not_pending: 'Somebody else was first. Your vote was not counted; look at what they decided.',
  forbidden: 'You may not decide this one. Ask somebody who is in the groups that the policy names.',
  not_found: 'It is not there any more, or you may not see it.',
  rate_limited: 'Too many requests. Wait a moment, then send again: your text is still here.',
  unreachable: 'The service was not reached. Send again when it is back: a vote that did arrive counts once.',
  timeout: 'The service did not answer in time. Send again: a vote that did arrive counts once.',
  audit_unavailable: 'The service cannot record a vote now, so it takes none. Try again, or tell an operator.',
  unauthenticated: 'You are not signed in any more.',
}

export function adviceFor(code: FailureCode): string | undefined {
  return ADVICE[code]
}

/** The reason for a refused vote, with advice. */
export function Refused({ error }: { error: GateError }) {
  const advice = adviceFor(error.code)
  return (
    <div class="failure" role="alert">
      {advice && <p>{advice}</p>}
      <p class={advice ? 'small' : ''}>
        <Text of={error.message} severalLines />
      </p>
      <p class="muted small">
        <code>{error.code}</code>
      </p>
    </div>
  )
}
