import type { Approval, RecordedDecision } from '../../client/api.ts'

/** Labels of decisions, the same everywhere. */
export const DECISIONS: Record<RecordedDecision['decision'], string> = {
  allow: 'Allowed',
  require_approval: 'Needs approval',
  deny: 'Denied',
}

/** Labels of approval statuses. */
export const STATUSES: Record<Approval['status'], string> = {
  pending: 'Pending',
  approved: 'Approved',
  consumed: 'Used',
  rejected: 'Rejected',
  cancelled: 'Cancelled',
  expired: 'Expired',
}

/** The caller's label in columns, filters and facts. */
export const AGENT = 'Agent'

/** Labels for the steps of the order of decision. */
export const DECIDED_BY: Record<RecordedDecision['decidedBy'], string> = {
  kill_switch: 'kill switch',
  no_policy: 'no policy',
  invalid_context: 'invalid request',
  deny_rule: 'deny rule',
  risk: 'risk score',
  hold_rule: 'approval rule',
  allow_rule: 'allow rule',
  default: 'default',
  approval: 'approval',
}

/** Labels that say whether a retry makes sense. */
export const RETRIES: Record<RecordedDecision['retry'], string> = {
  never: 'no: the same request would be decided the same',
  after_approval: 'after the approval has been decided',
  changed_request: 'with a changed request',
}

type Outcome = NonNullable<RecordedDecision['outcome']>

/** Labels of an action's outcome. */
export const OUTCOMES: Record<Outcome['status'], string> = {
  succeeded: 'succeeded',
  failed: 'failed; it may have had effects',
  not_run: 'was not run',
  missing: 'not reported in time',
}
