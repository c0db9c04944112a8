import * as Type from '#typebox'
import { COUNTED_BY } from '../../policies/set.ts'
import { byName, CLOSED, closed, Description, Globs, STEP_PATTERN, text } from './parts.ts'

export const Session = closed(
  {
    fact: text(
      'The text of the request that names the session. Facts of a session are missing without it.',
      'context.session',
    ),
  },
  {
    taken: byName(STEP_PATTERN, Globs, {
      description: 'session.taken.<name> is true once an action that matches was allowed in the session.',
      examples: [{ 'read-mail': ['mail.read', 'mail.search'] }],
    }),
  },
  {
    description: 'Declaration of sessions: facts about what the agent has been allowed in one. In one file of the set.',
    examples: [{ fact: 'context.session', taken: { 'read-mail': ['mail.read'] } }],
  },
)

const COUNT = { actions: ['payment.*'], within: '1h', by: 'agent' }
const Count = closed(
  {
    actions: Globs,
    within: Type.String({
      description: 'Time to look back: an integer and s, m, h or d; 1s to 90d.',
      examples: ['1h', '24h', '30d'],
    }),
    by: Type.Enum([...COUNTED_BY], {
      description: 'Actions to count: those of the asking agent, of all agents of the tenant, or of the session.',
    }),
  },
  { description: Description },
  {
    description: 'Number of matching actions that were allowed, with the one that is asked for.',
    examples: [COUNT],
  },
)

const SUM = { actions: ['payment.*'], fact: 'context.amount', within: '24h', by: 'tenant' }
const Sum = Type.Object(
  { ...Count.properties, fact: text('The number that is added up.', 'context.amount') },
  {
    ...CLOSED,
    description: 'The sum of a number over the actions that match and were allowed, with the one that is asked for.',
    examples: [SUM],
  },
)

export const History = closed(
  {},
  {
    count: byName(STEP_PATTERN, Count, {
      description: 'Facts history.count.<name>: how often something was done.',
      examples: [{ payments: COUNT }],
    }),
    sum: byName(STEP_PATTERN, Sum, {
      description: 'Facts history.sum.<name>: how much it came to.',
      examples: [{ paid: SUM }],
    }),
  },
  {
    description: 'Facts about what was allowed before, from the audit trail.',
    examples: [{ count: { payments: COUNT } }],
  },
)
