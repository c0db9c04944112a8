import * as Type from '#typebox'
import { ENVIRONMENTS } from '../../base/environment.ts'
import { ACTION_PATTERN } from '../../base/glob.ts'
import type { DiagnosticCode } from '../diagnostics/codes.ts'
import type { Report } from '../diagnostics/report.ts'
import { API_VERSION } from '../shapes/document.ts'
import { CLOSED, names, text } from '../shapes/parts.ts'
import { DEFAULT_AGENT, DEFAULT_NOW } from './cases.ts'
import { expectShape, mapOf } from './expectation-shapes.ts'

/** Code of a fault in the shape of a test file. */
export function testCode(keyword: string): DiagnosticCode {
  if (keyword === 'additionalProperties') return 'GATE1501'
  return keyword === 'required' ? 'GATE1502' : 'GATE1503'
}

/** Like testCode, without unknown keys, which are reported when the keys that were meant are read (key-repair.ts). */
export function knownKeyCode(keyword: string): DiagnosticCode | undefined {
  return keyword === 'additionalProperties' ? undefined : testCode(keyword)
}

/** Reports unknown keys of test files by their own code. */
export function testReport(report: Report): Report {
  return { ...report, add: (_, ...fault) => report.add('GATE1501', ...fault) }
}

const Description = Type.String({ description: 'For readers.', examples: ['Asked for by the audit of May.'] })

const Now = Type.String({
  description: `The time that the policies see, RFC 3339 with a zone. The time of a test overrides that of the file; if neither has one, it is ${DEFAULT_NOW}, a Monday.`,
  examples: ['2026-01-31T09:00:00Z', '2026-01-31T09:00:00+01:00'],
})

const Agent = Type.Object(
  {
    identity: Type.Optional(
      Type.String({
        minLength: 1,
        default: DEFAULT_AGENT.identity,
        description: "The fact agent: the identity of the asking key, or the key's id where it has none.",
        examples: ['support-agent'],
      }),
    ),
    environment: Type.Optional(
      Type.Enum([...ENVIRONMENTS], { default: DEFAULT_AGENT.environment, description: 'The fact environment.' }),
    ),
    description: Type.Optional(Description),
  },
  CLOSED,
)

/** An action that was allowed before. */
const Past = Type.Object(
  {
    action: Type.String({ pattern: ACTION_PATTERN, description: 'By its full name.', examples: ['payment.transfer'] }),
    ago: Type.String({
      description: 'Time before that of the test: an integer and s, m, h or d; 1s to 90d.',
      examples: ['10m', '2h'],
    }),
    context: Type.Optional(text('A name under contexts; empty without it.', 'small')),
    plan: Type.Optional(text('A name under plans.', 'refund')),
    agent: Type.Optional(
      text(`A name under agents; ${DEFAULT_AGENT.identity}, ${DEFAULT_AGENT.environment} without it.`, 'support'),
    ),
  },
  CLOSED,
)

export const Matrix = Type.Object(
  {
    actions: Type.Array(Type.String({ pattern: ACTION_PATTERN }), {
      minItems: 1,
      description: 'Actions, each by its full name.',
      examples: [['payment.transfer', 'payment.refund']],
    }),
    contexts: Type.Optional(names('Names under contexts; without it the context is empty.', 'small', 'large')),
    plans: Type.Optional(names('Names under plans; without it the request has no plan.', 'refund')),
    agents: Type.Optional(
      names(
        `Names under agents; without it the agent is ${DEFAULT_AGENT.identity}, ${DEFAULT_AGENT.environment}.`,
        'support',
      ),
    ),
    histories: Type.Optional(names('Names under histories; without it nothing was allowed before.', 'two-transfers')),
  },
  {
    ...CLOSED,
    description: 'Every combination of these is asked.',
    examples: [{ actions: ['payment.transfer'], contexts: ['small', 'large'] }],
  },
)

function testShape(expect: Type.TSchema) {
  return Type.Object(
    {
      name: text('Name of the test, which says what it shows; once in the file.', 'large transfers wait for a person'),
      description: Type.Optional(Description),
      skip: Type.Optional(
        text(
          'Reason why the test is left out; as long as this is there, it is not run.',
          'Waits for the new list of countries.',
        ),
      ),
      now: Type.Optional(Now),
      matrix: Matrix,
      expect,
    },
    CLOSED,
  )
}

function fileShape(expect: Type.TSchema) {
  return Type.Object(
    {
      apiVersion: Type.Literal(API_VERSION, { description: 'The version of the language.' }),
      tenant: text('The name of the folder.', 'acme'),
      description: Type.Optional(Description),
      now: Type.Optional(Now),
      contexts: Type.Optional(
        mapOf({ type: 'object' }, 'Contexts of requests, by name.', { small: { amount: 25, currency: 'EUR' } }),
      ),
      plans: Type.Optional(
        mapOf({ type: 'object' }, 'Plans of requests, by name.', { refund: { action: 'payment.refund', steps: [] } }),
      ),
      agents: Type.Optional(
        mapOf(Agent, 'Agents that ask, by name.', { support: { identity: 'support-agent', environment: 'live' } }),
      ),
      histories: Type.Optional(
        mapOf({ type: 'array', items: Past }, 'Actions that were allowed before, by name.', {
          'two-transfers': [
            { action: 'payment.transfer', context: 'small', ago: '10m' },
            { action: 'payment.transfer', context: 'small', ago: '50m' },
          ],
        }),
      ),
      tests: Type.Array(testShape(expect), {
        minItems: 1,
        description: 'Tests of what the policies must decide.',
        examples: [[{ name: 'reads are free', matrix: { actions: ['order.read'] }, expect: { decision: 'allow' } }]],
      }),
    },
    CLOSED,
  )
}

/** The shape that the loader checks at once; expectations are checked one by one (expectations.ts). */
export const PolicyTestFile = fileShape(Type.Unknown())

/** A `*.test.yaml` file with everything in it, for editors. */
export function editorTestFile() {
  return fileShape(expectShape())
}
