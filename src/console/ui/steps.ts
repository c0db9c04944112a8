import type { RecordedDecision } from '../../client/api.ts'

/** The steps of the order of decision, in words. */
export const STEPS: Record<RecordedDecision['decidedBy'], string> = {
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
