import * as Type from '#typebox'
import { RULE_UNSHOWN } from '../../actions/approvals/background.ts'
import { OUTCOME_STATUSES } from '../../actions/outcomes/outcome-of.ts'
import { EFFECTS } from '../../policies/set.ts'
import { Digest, described, EXAMPLE, id, nullable, oneOf, Timestamp, titled } from '../common-shapes.ts'

const UNSHOWN_CODES = Object.keys(RULE_UNSHOWN) as (keyof typeof RULE_UNSHOWN)[]
const Line = Type.Integer({ minimum: 1, description: 'From 1.' })
const Count = Type.Integer({ minimum: 0 })

const RuleText = titled('RuleText', 'A rule as it is written in the policies that decided.', {
  id: Type.String(),
  file: Type.String({ description: 'Policy file, such as `acme/main.yaml`.' }),
  line: Line,
  endLine: Line,
  text: Type.String({ description: 'These lines; of more than 8,000 characters the beginning and the end.' }),
})

const PastDecision = titled('PastDecision', {
  id: id('decision', 'As it was answered.'),
  timestamp: Timestamp,
  action: Type.String(),
  decision: oneOf(EFFECTS),
  riskScore: Type.Number({ minimum: 0, maximum: 100 }),
  outcome: nullable(oneOf([...OUTCOME_STATUSES, 'missing'], 'Outcome of the action; null while nothing is known.')),
})

const Permission = Type.Object(
  {
    allowed: Type.Boolean(),
    reason: nullable(Type.String({ description: 'Reason why not, as a sentence; null when allowed.' })),
  },
  { title: 'Permission' },
)

export const ApprovalBackground = Type.Object(
  {
    approvalId: id('approval', 'The one that was asked for.'),
    policyDigest: nullable(Digest),
    rule: nullable(RuleText),
    unshown: nullable(
      Type.Object(
        { code: oneOf(UNSHOWN_CODES), message: Type.String() },
        { description: 'Reason why `rule` is null.' },
      ),
    ),
    agent: described('The requester and its earlier decisions.', {
      principal: Type.String({ description: "Requester: the key's identity, else its id." }),
      name: nullable(Type.String({ description: 'Name of the key.' })),
      keyId: id('key', 'The key that asked.'),
      recent: Type.Array(PastDecision, { description: 'Its last 10 other decisions, newest first.' }),
      lastDay: described('Number of its checks in the last 24 hours, by decision.', {
        allow: Count,
        deny: Count,
        require_approval: Count,
        complete: Type.Boolean({ description: 'False when not all 24 hours were looked at.' }),
      }),
    }),
    session: described('The session of the agent.', {
      id: nullable(Type.String({ description: 'Name of the session, from the fact that the policies declare.' })),
      recent: Type.Array(PastDecision, { description: 'Its last 20 other decisions, newest first.' }),
    }),
    searchedTo: nullable(
      Type.String({
        format: 'date-time',
        description: 'Time back to which decisions were searched; null when there are no more.',
      }),
    ),
    approvers: described('Requirements for voters and their votes.', {
      groups: Type.Array(Type.Array(Type.String()), {
        description: 'A voter has one of the groups of each list; without a list, every approver may vote.',
      }),
      quorum: Type.Integer({ minimum: 1, description: 'Votes of distinct people that it needs.' }),
      selfApproval: Type.Boolean({ description: 'True when the requester may approve.' }),
    }),
    mayVote: Type.Object(Permission.properties, { description: 'Permission of this key to approve it now.' }),
    mayReject: Type.Object(Permission.properties, { description: 'Permission of this key to reject it now.' }),
  },
  { title: 'ApprovalBackground', description: 'Context for the decision on an approval, beyond the approval itself.' },
)

const past = {
  id: 'dec_01m7yzxq2v8n4c6x0k3p5r7t9w',
  timestamp: '2026-11-21T11:58:02.190Z',
  action: 'invoice.read',
  decision: 'allow' as const,
  riskScore: 0,
  outcome: 'succeeded' as const,
}
export const approvalBackgroundExample = {
  data: {
    approvalId: EXAMPLE.approval,
    policyDigest: EXAMPLE.policyDigest,
    rule: {
      id: 'steered-transfer',
      file: 'acme/main.yaml',
      line: 31,
      endLine: 33,
      text: '  - id: steered-transfer\n    actions: [payment.transfer]\n    effect: require_approval',
    },
    unshown: null,
    agent: {
      principal: EXAMPLE.key,
      name: 'billing-bot',
      keyId: EXAMPLE.key,
      recent: [past],
      lastDay: { allow: 1, deny: 0, require_approval: 1, complete: true },
    },
    session: { id: null, recent: [] },
    searchedTo: null,
    approvers: { groups: [['finance']], quorum: 1, selfApproval: false },
    mayVote: { allowed: false, reason: 'Approvers need a key group: finance.' },
    mayReject: { allowed: false, reason: 'Approvers need a key group: finance.' },
  },
}
