import * as Type from '#typebox'
import { TIMELINE_EVENTS } from '../../actions/decisions/timeline.ts'
import { LevelField } from '../../actions/killswitch/request.ts'
import { APPROVAL_STATUSES } from '../../approvals/approval.ts'
import { DECIDED_BY } from '../../gate/decide.ts'
import { EFFECTS } from '../../policies/set.ts'
import { described, EXAMPLE, id, nullable, Observed, oneOf, Timestamp, textOf, titled } from '../common-shapes.ts'
import { RecordedOutcome } from '../outcomes/shapes.ts'

const TimelineActor = titled('TimelineActor', 'Actor that caused an entry.', {
  kind: oneOf(['key', 'host', 'service']),
  id: Type.String({ description: 'Id of the key, of the user on the host, or of the service.' }),
  identity: nullable(Type.String({ description: 'Holder of the key.' })),
  name: nullable(Type.String({ description: 'Name of the key.' })),
})

const TimelineItem = titled('TimelineItem', 'Event of an action, as one audit entry records it.', {
  at: Timestamp,
  seq: Type.Integer({ minimum: 0 }),
  entryId: id('entry', 'Id of the audit entry that records it.'),
  event: oneOf(TIMELINE_EVENTS),
  actor: nullable(TimelineActor),
  decisionId: nullable(
    id('decision', 'The decision that it is, that asked for or used the approval, or whose outcome it is.'),
  ),
  decision: nullable(
    described('Decision of `gate.decision`; null for other events, and where it is not there any more.', {
      action: Type.String(),
      decision: oneOf(EFFECTS),
      observed: Observed,
      reason: Type.String(),
      rule: nullable(Type.String()),
      decidedBy: textOf(DECIDED_BY, 'The step of the order of decision that decided.'),
      riskScore: Type.Number({ minimum: 0, maximum: 100 }),
    }),
  ),
  hold: nullable(
    Type.Object(
      { requestedBy: Type.String(), quorum: Type.Integer({ minimum: 1 }), expiresAt: Timestamp },
      { description: 'Terms of the approval, for `approval.requested`.' },
    ),
  ),
  vote: nullable(
    Type.Object(
      { principal: Type.String(), approverId: Type.String(), comment: nullable(Type.String()) },
      { description: 'Vote of `approval.approved` or `approval.rejected`.' },
    ),
  ),
  approvalStatus: nullable(
    oneOf(APPROVAL_STATUSES, 'Status of the approval after this entry: a vote that does not decide leaves it pending.'),
  ),
  stop: nullable(
    Type.Object(
      { id: id('killSwitch', 'Id of the stop.'), level: LevelField, scope: Type.String() },
      { description: 'Stop that cancelled the approval, for `approval.cancelled`; null where a person did.' },
    ),
  ),
  outcome: nullable(
    Type.Object(RecordedOutcome, { description: 'Outcome of `outcome.recorded` or `outcome.missing`.' }),
  ),
})

export const DecisionTimeline = Type.Object(
  {
    decisionId: id('decision', 'The one that was asked for.'),
    approval: nullable(
      described('Null where none was asked for.', {
        id: id('approval', 'Approval that joins the decisions.'),
        status: nullable(oneOf(APPROVAL_STATUSES, 'Now; null when it is not there any more.')),
        heldDecisionId: nullable(id('decision', 'The decision that asked for it.')),
        usedByDecisionId: nullable(id('decision', 'The decision that used it.')),
      }),
    ),
    items: Type.Array(TimelineItem, { description: 'In order.' }),
    leftOut: Type.Integer({
      minimum: 0,
      description: 'Number of entries of the approval that are left out, the oldest ones.',
    }),
  },
  {
    title: 'DecisionTimeline',
    description: 'History of an action: both decisions of an approval have the same one.',
  },
)

const nothing = { decision: null, hold: null, vote: null, approvalStatus: null, stop: null, outcome: null }
const agent = { kind: 'key' as const, id: EXAMPLE.key, identity: null, name: 'billing-bot' }
const items: Type.Static<typeof TimelineItem>[] = [
  {
    ...{ at: EXAMPLE.time, seq: 7, entryId: EXAMPLE.entry, event: 'gate.decision', actor: agent },
    ...{ decisionId: EXAMPLE.decision, ...nothing },
    decision: {
      action: 'payment.transfer',
      decision: 'require_approval',
      reason: EXAMPLE.verdict.reason,
      rule: 'steered-transfer',
      decidedBy: 'hold_rule',
      riskScore: 35.1,
    },
  },
  {
    ...{
      at: EXAMPLE.time,
      seq: 8,
      entryId: 'aud_01m7yzzehg2v8n4c6x0k3p5r7t',
      event: 'approval.requested',
      actor: agent,
    },
    ...{ decisionId: EXAMPLE.decision, ...nothing },
    hold: { requestedBy: EXAMPLE.key, quorum: 1, expiresAt: EXAMPLE.later },
    approvalStatus: 'pending',
  },
]
export const decisionTimelineExample = {
  data: {
    decisionId: EXAMPLE.decision,
    approval: {
      id: EXAMPLE.approval,
      status: 'pending' as const,
      heldDecisionId: EXAMPLE.decision,
      usedByDecisionId: null,
    },
    items,
    leftOut: 0,
  },
}
