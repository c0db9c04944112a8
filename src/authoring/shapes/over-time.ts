import Type from '#typebox'
import { COUNTED_BY } from '../../policies/set.ts'
import { byName, CLOSED, Description, Globs, STEP_PATTERN, text } from './parts.ts'

export const Session = Type.Object(
  {
    fact: text(
      'The text of the request that names the session. Facts of a session are missing without it.',
      'context.session',
    ),
    taken: Type.Optional(
      byName(STEP_PATTERN, Globs, {
        description: 'session.taken.<name> is true once an action that matches was allowed in the session.',
        examples: [{ 'read-mail': ['mail.read', 'mail.search'] }],
      }),
    ),
  },
  {
    ...CLOSED,
    description: 'What a session is: facts about what the agent has been allowed in it. In one file of the set.',
    examples: [{ fact: 'context.session', taken: { 'read-mail': ['mail.read'] } }],
  },
)

const counted = {
  actions: Globs,
  within: Type.String({
    description: 'How far back: an integer and s, m, h or d; 1s to 90d.',
    examples: ['1h', '24h', '30d'],
  }),
  by: Type.Enum([...COUNTED_BY], {
    description: 'Whose actions: those of the asking agent, of all agents of the tenant, or of the session.',
  }),
  description: Type.Optional(Description),
}

const COUNT = { actions: ['payment.*'], within: '1h', by: 'agent' }
const Count = Type.Object(counted, {
  ...CLOSED,
  description: 'How many actions that match were allowed, with the one that is asked for.',
  examples: [COUNT],
})

const SUM = { actions: ['payment.*'], fact: 'context.amount', within: '24h', by: 'tenant' }
const Sum = Type.Object(
  {
    ...counted,
    fact: text('The number that is added up.', 'context.amount'),
  },
  {
    ...CLOSED,
    description: 'The sum of a number over the actions that match and were allowed, with the one that is asked for.',
    examples: [SUM],
  },
)

export const History = Type.Object(
  {
    count: Type.Optional(
      byName(STEP_PATTERN, Count, {
        description: 'Facts history.count.<name>: how often something was done.',
        examples: [{ payments: COUNT }],
      }),
    ),
    sum: Type.Optional(
      byName(STEP_PATTERN, Sum, {
        description: 'Facts history.sum.<name>: how much it came to.',
        examples: [{ paid: SUM }],
      }),
    ),
  },
  {
    ...CLOSED,
    description: 'Facts about what was allowed before, from the audit trail.',
    examples: [{ count: { payments: COUNT } }],
  },
)
