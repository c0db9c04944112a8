import type { FailureCode, GateError } from '../../../client/errors.ts'
import { Text } from '../../ui/text.tsx'

/** Advice after a refused vote. The service's own sentence gives the reason. */
const ADVICE: Partial<Record<FailureCode, string>> = {
  self_approval: 'You requested this yourself. Ask someone else to approve it; you may reject it.',
  approver_mismatch: 'You are now signed in as someone else. Sign out, then sign in again.',
  approval_expired: 'It expired and was not approved. If the action is still needed, the agent requests it again.',
  kill_switch_active: 'A stop covers this action. It cannot be approved until the stop ends; you may reject it.',
  approval_not_pending: 'Someone else decided first. Your vote was not counted; see their decision.',
  forbidden: 'You may not decide this approval. Ask a member of the groups that the policy names.',
  not_found: 'It no longer exists, or you may not see it.',
  rate_limited: 'Too many requests. Wait a moment, then send again: your text is still here.',
  unreachable: 'The service could not be reached. Send again when it is back: a vote that arrived counts only once.',
  timeout: 'The service did not answer in time. Send again: a vote that arrived counts only once.',
  audit_unavailable: 'The service cannot record votes now, so it accepts none. Try again, or tell an operator.',
  unauthenticated: 'You are no longer signed in.',
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
