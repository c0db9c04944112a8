import { type Static, Type } from '#typebox'
import { DECIDED_BY } from '../../gate/decide.ts'
import { EFFECTS } from '../../policies/set.ts'
import { EXAMPLE, id, nullable, oneOf, Timestamp, textOf, titled } from '../common-shapes.ts'

const ListedDecision = titled('ListedDecision', 'A decision as a line of a list.', {
  id: id('decision', 'Names it in paths.'),
  timestamp: Timestamp,
  seq: Type.Integer({ minimum: 0, description: 'Of its audit entry.' }),
  entryId: id('entry', 'Of its audit entry.'),
  action: nullable(Type.String()),
  decision: nullable(oneOf(EFFECTS)),
  rule: nullable(Type.String({ description: 'The rule that decided, if one did.' })),
  reason: nullable(Type.String()),
  riskScore: nullable(Type.Number({ minimum: 0, maximum: 100 })),
  decidedBy: nullable(textOf(DECIDED_BY, 'The step of the order of decision that decided.')),
  agent: nullable(Type.String({ description: "Who asked: its key's identity, else its key's id." })),
  keyId: nullable(id('key', 'The key that asked.')),
  session: nullable(Type.String({ description: 'What the policies took for the session.' })),
  approvalId: nullable(id('approval', 'That it waited for, or used.')),
  redacted: Type.Boolean({ description: 'What was decided is not there any more: all else is null.' }),
})

export const DecisionList = Type.Object(
  {
    items: Type.Array(ListedDecision),
    next: nullable(
      Type.Integer({ minimum: 0, description: '`before` of the next page; null when nothing is left to look at.' }),
    ),
    searchedTo: nullable(
      Type.String({ format: 'date-time', description: 'How far back was looked; null with `next`.' }),
    ),
  },
  {
    title: 'DecisionList',
    description:
      'Decisions, newest first. A page can have fewer than `limit`, none too, while `next` goes on: one request looks at 2,000 entries at most.',
  },
)

const listed: Static<typeof ListedDecision> = {
  id: EXAMPLE.decision,
  timestamp: EXAMPLE.time,
  seq: 7,
  entryId: EXAMPLE.entry,
  action: 'payment.transfer',
  decision: 'require_approval',
  rule: 'steered-transfer',
  reason: 'A new account, in a session that holds text of a third party, is looked at by a person.',
  riskScore: 35.1,
  decidedBy: 'hold_rule',
  agent: EXAMPLE.key,
  keyId: EXAMPLE.key,
  session: null,
  approvalId: EXAMPLE.approval,
  redacted: false,
}
export const listDecisionsExample = { data: { items: [listed], next: 7, searchedTo: EXAMPLE.time } }
