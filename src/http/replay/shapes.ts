import * as Type from '#typebox'
import { REPLAY_STATUSES } from '../../actions/replay/jobs.ts'
import { DECIDED_BY } from '../../gate/decide.ts'
import { EFFECTS } from '../../policies/set.ts'
import { HISTORIES, UNKNOWN, type UnknownReason } from '../../replay/decide.ts'
import { Digest, described, EXAMPLE, id, nullable, oneOf, Timestamp, titled } from '../common-shapes.ts'
import { Explanation, exampleExplanation } from '../decisions/explanation-shapes.ts'
import { Diagnostic } from '../policies/shapes.ts'

const Count = Type.Integer({ minimum: 0 })
const FROM = [...EFFECTS, 'none'] as const
const From = oneOf(FROM, 'The decision that was recorded; `none` where only the request was.')

const grounds = { decision: From, decidedBy: nullable(oneOf(DECIDED_BY)), rule: nullable(Type.String()) }
const Side = titled('ReplaySide', 'One side of a comparison; null where no decision was recorded.', {
  ...grounds,
  reason: nullable(Type.String()),
  riskScore: nullable(Type.Number()),
})

export const Change = titled('ReplayChange', 'A request that the draft decides otherwise.', {
  id: Type.String({ description: 'Id of the decision.' }),
  timestamp: Timestamp,
  action: Type.String(),
  agent: Type.String(),
  from: Side,
  to: Side,
  assumed: Type.Boolean({ description: 'The session may have begun before what the trail still has.' }),
  before: nullable(Explanation),
  after: nullable(Explanation),
})

const Kind = titled('ReplayKind', 'Decisions that change in the same way.', {
  from: described('Grounds then.', grounds),
  to: described('Grounds of the draft.', grounds),
  count: Count,
  first: Change,
})

const unknown = Object.fromEntries(
  Object.entries(UNKNOWN).map(([why, description]) => [why, Type.Integer({ minimum: 0, description })]),
) as Record<UnknownReason, Type.TInteger>

const Report = titled('ReplayReport', 'Differences between the recorded decisions and those of a draft.', {
  decided: Type.Integer({ minimum: 0, description: 'Requests that were decided again.' }),
  changed: Type.Integer({ minimum: 0, description: 'Requests of which the draft decides otherwise.' }),
  stopped: Type.Integer({ minimum: 0, description: 'Decisions of stops, which no policy changes.' }),
  unknown: described('Requests that cannot be decided again, by reason.', unknown),
  assumed: Type.Integer({ minimum: 0, description: 'Decided by what is left of a session.' }),
  matrix: Type.Array(Type.Object({ from: From, to: oneOf(EFFECTS), count: Count })),
  kinds: Type.Array(Kind, { description: 'Other decisions first, then other grounds, each by number.' }),
  kindsLeftOut: Type.Integer({ minimum: 0, description: 'Requests of further kinds.' }),
  rules: Type.Array(Type.Object({ rule: Type.String(), before: Count, after: Count })),
  factors: Type.Array(
    Type.Object({ name: Type.String(), before: Type.Number(), after: Type.Number(), changed: Count }),
  ),
  scores: Type.Object({
    higher: Count,
    lower: Count,
    same: Count,
    meanBefore: nullable(Type.Number()),
    meanAfter: nullable(Type.Number()),
  }),
  unevaluable: Type.Object({
    decisions: Count,
    facts: Type.Array(
      Type.Object({ fact: Type.String(), of: Type.Array(Type.String()), count: Count, first: Type.String() }),
    ),
  }),
  changesLeftOut: Type.Integer({ minimum: 0, description: 'Changed decisions that are counted and not listed.' }),
})

export const Replay = titled('Replay', 'A replay of a draft, with its progress and its result.', {
  id: id('replay', 'Id of the replay.'),
  status: oneOf(REPLAY_STATUSES),
  createdAt: Timestamp,
  from: Timestamp,
  to: nullable(Timestamp),
  history: oneOf(HISTORIES),
  action: nullable(Type.String()),
  sample: nullable(Type.Integer({ minimum: 1 })),
  read: Type.Integer({ minimum: 0, description: 'Entries of the trail read so far.' }),
  total: Type.Integer({ minimum: 0, description: 'Entries to be read; 0 before the draft is compiled.' }),
  policyDigest: nullable(Digest),
  diagnostics: Type.Array(Diagnostic),
  fault: nullable(Type.String({ description: 'Reason of a failure.' })),
  report: nullable(Report),
  seal: nullable(
    described('The entry `policy.replayed` that tells of it.', {
      entryId: id('entry', 'Id of the entry.'),
      report: Type.Unsafe<string>({
        ...Digest,
        description: 'SHA-256 of `report`, as canonical JSON (RFC 8785).',
      }),
    }),
  ),
})

const from = { decision: 'allow' as const, decidedBy: 'allow_rule' as const, rule: 'transfers' }
const to = { decision: 'require_approval' as const, decidedBy: 'hold_rule' as const, rule: 'large' }
const change = {
  id: EXAMPLE.decision,
  timestamp: EXAMPLE.time,
  action: 'payment.transfer',
  agent: 'billing-bot',
  from: { ...from, reason: 'Transfers within limits.', riskScore: 5 },
  to: { ...to, reason: 'Large transfers are looked at by a person.', riskScore: 5 },
  assumed: false,
  before: null,
  after: exampleExplanation,
}
const running = {
  id: 'rpl_01m7yzzehe6pjva8zh9yqf6aqb',
  status: 'running' as const,
  createdAt: EXAMPLE.later,
  from: EXAMPLE.time,
  to: EXAMPLE.later,
  history: 'recorded' as const,
  action: null,
  sample: null,
  read: 0,
  total: 0,
  policyDigest: null,
  diagnostics: [],
  fault: null,
  report: null,
  seal: null,
}

export const replayPoliciesExample = {
  body: {
    files: [{ name: 'main.yaml', text: 'apiVersion: gate-sidecar/v1\ntenant: acme\n' }],
    from: EXAMPLE.time,
  },
  data: running,
}

export const getReplayExample = {
  data: {
    ...running,
    ...{ status: 'done' as const, read: 1200, total: 1200, policyDigest: EXAMPLE.policyDigest },
    report: {
      ...{ decided: 1000, changed: 12, stopped: 0, unknown: { erased: 0, pruned: 0 }, assumed: 0 },
      matrix: [
        { from: 'allow' as const, to: 'allow' as const, count: 988 },
        { from: 'allow' as const, to: 'require_approval' as const, count: 12 },
      ],
      ...{ kinds: [{ from, to, count: 12, first: change }], kindsLeftOut: 0 },
      rules: [{ rule: 'large', before: 0, after: 12 }],
      factors: [{ name: 'amount', before: 120.5, after: 120.5, changed: 0 }],
      scores: { higher: 0, lower: 0, same: 1000, meanBefore: 5, meanAfter: 5 },
      ...{ unevaluable: { decisions: 0, facts: [] }, changesLeftOut: 0 },
    },
  },
}

export const sealReplayExample = {
  data: { ...getReplayExample.data, seal: { entryId: EXAMPLE.entry, report: EXAMPLE.digest } },
}

export const cancelReplayExample = { data: { ...running, status: 'cancelled' as const } }

export const replayChangesExample = { data: [change] }
