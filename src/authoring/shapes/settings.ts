import * as Type from '#typebox'
import { DEFAULT_REASON, DEFAULT_TERMS, DEFAULT_THRESHOLDS } from '../load/settings.ts'
import { closed, TEXT } from './parts.ts'

const POINTS = { minimum: 0, maximum: 100 }

export const Approval = closed(
  {},
  {
    quorum: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: DEFAULT_TERMS.quorum,
      description: 'Distinct people who must approve.',
      examples: [2],
    }),
    expiresIn: Type.String({
      default: '30m',
      description: 'Time for which an approval may be waited for and used: an integer and s, m, h or d; 1s to 90d.',
      examples: ['30m', '4h', '2d'],
    }),
    selfApproval: Type.Boolean({
      default: DEFAULT_TERMS.selfApproval,
      description: 'True when the requester may approve.',
      examples: [true],
    }),
    approvers: Type.Array(Type.String(TEXT), {
      minItems: 1,
      description: 'Key groups of which an approver holds one. Anyone who may vote, if it is left out.',
      examples: [['treasury', 'operations']],
    }),
    unbound: Type.Array(Type.String(), {
      description: 'Paths under context and plan that may differ between what was approved and what is then done.',
      examples: [['context.toolCallId']],
    }),
  },
  {
    description: 'Requirements that an approval must meet before it counts.',
    examples: [{ quorum: 2, expiresIn: '4h', approvers: ['treasury'] }],
  },
)

export const Defaults = closed(
  {},
  {
    decision: Type.Enum(['deny', 'require_approval'], {
      default: 'deny',
      description: 'Decision where no rule decides. allow is not possible here.',
    }),
    reason: Type.String({
      ...TEXT,
      default: DEFAULT_REASON,
      description: 'Reason that the agent is told.',
      examples: ['No rule allows this action. Ask the platform team to add one.'],
    }),
  },
  {
    description: 'Decision where no rule decides. In one file of the set.',
    examples: [{ decision: 'deny', reason: DEFAULT_REASON }],
  },
)

export const Thresholds = closed(
  {},
  {
    requireApproval: Type.Number({
      ...POINTS,
      default: DEFAULT_THRESHOLDS.requireApproval,
      description: 'From this risk score on, what a rule allows needs an approval. Not above deny.',
      examples: [50],
    }),
    deny: Type.Number({
      ...POINTS,
      default: DEFAULT_THRESHOLDS.deny,
      description: 'From this risk score on, everything is denied.',
      examples: [85],
    }),
  },
  {
    description: 'Effects of the risk score, 0 to 100. In one file of the set.',
    examples: [DEFAULT_THRESHOLDS],
  },
)
