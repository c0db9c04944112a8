import * as Type from '#typebox'
import { UNEXPLAINED, type Unexplained } from '../../actions/policies/history.ts'
import { APPROVAL_STATUSES } from '../../approvals/approval.ts'
import { DECIDED_BY } from '../../gate/decide.ts'
import { SHADOW_FAILURES, type ShadowFailure } from '../../gate/shadow.ts'
import { EFFECTS, RETRIES } from '../../policies/set.ts'
import {
  AnyObject,
  Digest,
  EXAMPLE,
  id,
  nullable,
  Observed,
  oneOf,
  RiskFactor,
  Timestamp,
  textOf,
  titled,
} from '../common-shapes.ts'
import { Unevaluable } from '../gate/shapes.ts'
import { RecordedOutcome } from '../outcomes/shapes.ts'
import { Explanation, exampleExplanation, ShownValue } from './explanation-shapes.ts'

const UNEXPLAINED_CODES = Object.keys(UNEXPLAINED) as Unexplained['code'][]

/** The set in shadow beside a decision. */
const ShadowNote = Type.Optional(
  Type.Object(
    {
      digest: Digest,
      decision: Type.Optional(oneOf(EFFECTS, 'Its decision, where that differs.')),
      decidedBy: Type.Optional(oneOf(DECIDED_BY)),
      rule: Type.Optional(nullable(Type.String())),
      failed: Type.Optional(oneOf(Object.keys(SHADOW_FAILURES) as ShadowFailure[], 'Reason why it said nothing.')),
    },
    { title: 'ShadowNote', description: 'The set in shadow, and what it says; absent where none was.' },
  ),
)

const DecisionCaller = titled('DecisionCaller', {
  keyId: id('key', 'The key that asked.'),
  identity: nullable(Type.String({ description: 'Holder of the key.' })),
  name: nullable(Type.String()),
  roles: Type.Array(Type.String()),
})

const Difference = Type.Object(
  { member: Type.String({ description: 'Member of the decision.' }), recorded: ShownValue, again: ShownValue },
  { title: 'Difference', description: 'Difference between the recorded decision and its reevaluation.' },
)

export const RecordedDecision = Type.Object(
  {
    id: id('decision', 'As it was answered.'),
    timestamp: Timestamp,
    action: Type.String(),
    decision: oneOf(EFFECTS),
    observed: Observed,
    shadow: ShadowNote,
    reason: Type.String(),
    rule: nullable(Type.String({ description: 'The rule that decided, if one did.' })),
    decidedBy: textOf(DECIDED_BY, 'The step of the order of decision that decided.'),
    retry: textOf(RETRIES, 'Advice about when to ask again.'),
    riskScore: Type.Number({ minimum: 0, maximum: 100 }),
    factors: Type.Array(RiskFactor),
    unevaluable: Type.Array(Unevaluable),
    planValidated: Type.Boolean(),
    policyDigest: nullable(Digest),
    evaluatedAt: Timestamp,
    caller: DecisionCaller,
    request: nullable(Type.Unsafe<object>({ ...AnyObject, description: 'As it came; null when it has been erased.' })),
    approval: nullable(
      Type.Object(
        { id: id('approval', 'Approval that it waited for, or used.'), status: nullable(oneOf(APPROVAL_STATUSES)) },
        { description: 'With its status now.' },
      ),
    ),
    outcome: nullable(
      Type.Object(RecordedOutcome, { description: 'Outcome of the action; null while nothing is known.' }),
    ),
    chain: Type.String(),
    seq: Type.Integer({ minimum: 0 }),
    entryId: id('entry', 'Id of its audit entry.'),
    hash: Digest,
    previousHash: Digest,
    verified: Type.Boolean({ description: 'The entry hashes to what it did, and joins its neighbours.' }),
    fault: nullable(Type.String({ description: 'Fault of the entry; null without one.' })),
    explanation: nullable(Explanation),
    reproduced: nullable(
      Type.Boolean({ description: 'The policies that decided give the same again; null when it cannot be explained.' }),
    ),
    differences: Type.Array(Difference),
    unexplained: nullable(
      Type.Object(
        { code: oneOf(UNEXPLAINED_CODES), message: Type.String() },
        { description: 'Reason why it cannot be explained.' },
      ),
    ),
  },
  {
    title: 'RecordedDecision',
    description: 'Record of a decision and its explanation: evaluated again by the policies that decided.',
  },
)

export const getDecisionExample = {
  data: {
    id: EXAMPLE.decision,
    timestamp: EXAMPLE.time,
    action: 'payment.transfer',
    ...EXAMPLE.verdict,
    policyDigest: EXAMPLE.policyDigest,
    evaluatedAt: EXAMPLE.time,
    caller: { keyId: EXAMPLE.key, identity: null, name: 'billing-bot', roles: ['agent'] },
    request: { tenantId: 'acme', action: 'payment.transfer', context: EXAMPLE.context },
    approval: { id: EXAMPLE.approval, status: 'pending' as const },
    outcome: null,
    chain: 'acme/live',
    seq: 7,
    entryId: EXAMPLE.entry,
    hash: EXAMPLE.hash,
    previousHash: EXAMPLE.previousHash,
    verified: true,
    fault: null,
    explanation: exampleExplanation,
    reproduced: true,
    differences: [],
    unexplained: null,
  },
}

const ListedDecision = titled('ListedDecision', 'A decision as a line of a list.', {
  id: id('decision', 'Names it in paths.'),
  timestamp: Timestamp,
  seq: Type.Integer({ minimum: 0, description: 'Sequence number of its audit entry.' }),
  entryId: id('entry', 'Id of its audit entry.'),
  action: nullable(Type.String()),
  decision: nullable(oneOf(EFFECTS)),
  observed: Observed,
  shadow: ShadowNote,
  rule: nullable(Type.String({ description: 'The rule that decided, if one did.' })),
  reason: nullable(Type.String()),
  riskScore: nullable(Type.Number({ minimum: 0, maximum: 100 })),
  decidedBy: nullable(textOf(DECIDED_BY, 'The step of the order of decision that decided.')),
  agent: nullable(Type.String({ description: "Requester: its key's identity, else its key's id." })),
  keyId: nullable(id('key', 'The key that asked.')),
  session: nullable(Type.String({ description: 'Name of the session, from the fact that the policies declare.' })),
  approvalId: nullable(id('approval', 'Approval that it waited for, or used.')),
  redacted: Type.Boolean({
    description: 'True when the decision is not there any more: all but its ids, time and `seq` is null.',
  }),
})

export const DecisionList = Type.Object(
  {
    items: Type.Array(ListedDecision),
    next: nullable(id('entry', '`before` of the next page: an audit entry; null when nothing is left to look at.')),
    searchedTo: nullable(
      Type.String({
        format: 'date-time',
        description: 'Time back to which decisions were searched; null with `next`.',
      }),
    ),
  },
  {
    title: 'DecisionList',
    description:
      'Decisions, newest first. A page can have fewer than `limit`, none too, while `next` goes on: one request looks at 2,000 entries at most.',
  },
)

const listed: Type.Static<typeof ListedDecision> = {
  id: EXAMPLE.decision,
  timestamp: EXAMPLE.time,
  seq: 7,
  entryId: EXAMPLE.entry,
  action: 'payment.transfer',
  decision: 'require_approval',
  rule: 'steered-transfer',
  reason: EXAMPLE.verdict.reason,
  riskScore: 35.1,
  decidedBy: 'hold_rule',
  agent: EXAMPLE.key,
  keyId: EXAMPLE.key,
  session: null,
  approvalId: EXAMPLE.approval,
  redacted: false,
}
export const listDecisionsExample = { data: { items: [listed], next: EXAMPLE.entry, searchedTo: EXAMPLE.time } }
