import * as Type from '#typebox'
import { APPROVAL_STATUSES } from '../../approvals/approval.ts'
import { AnyObject, Digest, EXAMPLE, id, nullable, oneOf, RiskFactor, Timestamp, titled } from '../common-shapes.ts'
import { Stop } from '../killswitch/shapes.ts'

const Vote = titled('Vote', {
  principal: Type.String({ description: "The voting key's identity, else its id: what is counted." }),
  approverId: Type.String({ description: 'As the voter claimed it.' }),
  comment: nullable(Type.String()),
  votedAt: Timestamp,
  counts: Type.Boolean({
    description:
      "True for a vote that counts towards the quorum. While the approval is open, a vote no longer counts when its key has ended or was made by another voter's key. Once it is settled, one vote of each person for it counts. A vote that rejects does not count.",
  }),
})

export const Approval = Type.Object(
  {
    id: id('approval', 'Names it in paths.'),
    action: Type.String(),
    status: oneOf(APPROVAL_STATUSES),
    createdAt: Timestamp,
    context: AnyObject,
    plan: nullable(AnyObject),
    decisionId: id('decision', 'The decision that held the action.'),
    riskScore: Type.Number({ minimum: 0, maximum: 100 }),
    factors: Type.Array(RiskFactor),
    reason: Type.String(),
    rule: nullable(Type.String()),
    requestedBy: Type.String({ description: "The requesting key's identity, else its id." }),
    quorum: Type.Integer({ minimum: 1, description: 'Votes of distinct people that it needs.' }),
    votes: Type.Array(Vote),
    expiresAt: Timestamp,
    decidedAt: nullable(Timestamp),
    digest: Type.String({ ...Digest, description: 'Digest of everything that the approval covers.' }),
    unbound: Type.Array(Type.String(), { description: 'Paths that it does not cover.' }),
    stop: Type.Union([Stop, Type.Null()], {
      description: 'Stop that holds it, during which its time does not run, or that cancelled it.',
    }),
  },
  {
    title: 'Approval',
    description: 'A held action, for people to decide. It covers exactly this request, once, until its deadline.',
  },
)

const pending: Type.Static<typeof Approval> = {
  id: EXAMPLE.approval,
  action: 'payment.transfer',
  status: 'pending',
  createdAt: EXAMPLE.time,
  context: EXAMPLE.context,
  plan: null,
  decisionId: EXAMPLE.decision,
  riskScore: 35.1,
  factors: EXAMPLE.factors,
  reason: EXAMPLE.verdict.reason,
  rule: 'steered-transfer',
  requestedBy: EXAMPLE.key,
  quorum: 1,
  votes: [],
  expiresAt: EXAMPLE.later,
  decidedAt: null,
  digest: EXAMPLE.digest,
  unbound: ['context.toolCallId'],
  stop: null,
}

function decided(status: 'approved' | 'rejected', comment: string): Type.Static<typeof Approval> {
  const vote = { principal: 'ann', approverId: 'ann', comment, votedAt: EXAMPLE.later, counts: status === 'approved' }
  return { ...pending, status, votes: [vote], decidedAt: EXAMPLE.later }
}

export const listApprovalsExample = { data: [pending] }
export const getApprovalExample = { data: pending }
export const approveExample = {
  body: { approverId: 'ann', comment: 'the invoice is here' },
  data: decided('approved', 'the invoice is here'),
}
export const cancelExample = { body: {}, data: { ...pending, status: 'cancelled' as const, decidedAt: EXAMPLE.later } }
export const rejectExample = {
  body: { approverId: 'ann', reason: 'not our supplier' },
  data: decided('rejected', 'not our supplier'),
}
