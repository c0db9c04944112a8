/** One kind of hostile request: the policies of its tenant, and the bodies that it sends in turn. */
export interface Kind {
  name: string
  /** YAML after the head; empty where the tenant has the shipped policies of `folder`. */
  policy: string
  /** Shipped folder under `policies`, in place of `policy`. */
  folder?: string
  path?: string
  bodies: readonly object[]
}

const MIB = 1024 * 1024
/** Room for everything of a body beside its one long text. */
const BESIDE = 2000
const LONG = MIB - BESIDE

const ALLOW = 'rules:\n  - {id: all, actions: ["**"], effect: allow, reason: R.}\n'
const denying = (count: number, when: (i: number) => string): string =>
  Array.from(
    { length: count },
    (_, i) => `  - {id: d${i}, actions: ["**"], effect: deny, reason: R., when: ${when(i)}}\n`,
  ).join('')
const leaf = (fact: string, operator: string, value: string): string =>
  `{fact: ${fact}, operator: "${operator}", value: ${value}}`

/** Letters `a` and `b` without a pattern; the same each time. */
function noise(length: number): string {
  let state = 1
  let text = ''
  for (let i = 0; i < length; i += 1) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    text += state & 0x10000 ? 'a' : 'b'
  }
  return text
}

const words = 'please send the money to the account of my friend and book a table for two. '
const prose = words.repeat(Math.ceil(LONG / words.length)).slice(0, LONG)
const ask = (context: object, action = 'create_calendar_event'): object => ({ action, context })

const NESTED = '(?:(?:x?[a-z]){1,22}){1,22}[0-9]$'
const EXPLODING = '(?:[ab]*a[ab]{12}){1,2}[cd]$'

const everyOperator = [
  leaf('context.t', 'equal', 'x'),
  leaf('context.t', 'in', '[x, y]'),
  leaf('context.t', 'startsWith', 'x'),
  leaf('context.t', 'endsWith', 'x'),
  leaf('context.t', 'inCidr', '10.0.0.0/8'),
  leaf('context.t', 'before', '"2026-01-01T00:00:00Z"'),
  leaf('context.t', 'matches', '"[0-9]$"'),
  leaf('context.t', 'matches', '"^x+$"'),
]

function deep(levels: number): object {
  let value: object = { end: 'x'.repeat(LONG) }
  for (let i = 0; i < levels; i += 1) value = { in: value }
  return value
}

const SCHEMA = (branches: number): string =>
  `actions:\n  "create_calendar_event":\n    context: {type: object, properties: {l: {type: array, items: {anyOf: [${Array.from(
    { length: branches },
    (_, i) => `{type: object, required: [k${i}], properties: {k${i}: {type: string, maxLength: 5}}}`,
  ).join(', ')}, {type: object}]}}}}\n`

/** What is known to have taken long, and what looks as if it might. */
export const KINDS: readonly Kind[] = [
  {
    name: 'shipped policies, 1 MB request',
    policy: '',
    folder: 'agentdojo',
    bodies: [ask({ args: {}, userRequest: prose, tainted: true })],
  },
  {
    name: 'patterns over 9,900 items',
    policy: ALLOW + denying(20, (i) => leaf('context.l', 'someFact:matches', `"(?i)\\\\b(secret|password)${i}\\\\b"`)),
    bodies: [ask({ l: Array.from({ length: 9900 }, (_, i) => `item number ${i}${' x'.repeat(40)}`) })],
  },
  {
    name: '4,800 comparisons',
    policy:
      ALLOW +
      denying(
        48,
        (i) => `{any: [${Array.from({ length: 100 }, (_, j) => leaf('context.t', 'equal', `x${i}-${j}`)).join(', ')}]}`,
      ),
    bodies: [ask({ t: 'nothing' })],
  },
  {
    name: 'repetition in repetition, 20 kB',
    policy: ALLOW + denying(1, () => leaf('context.t', 'matches', `'${NESTED}'`)),
    bodies: [ask({ t: 'a'.repeat(20_000) })],
  },
  {
    name: 'a pattern of many states, 1 MB',
    policy: ALLOW + denying(20, (i) => leaf('context.t', 'matches', `'${EXPLODING.replace('12', String(10 + i))}'`)),
    bodies: [ask({ t: noise(LONG) })],
  },
  {
    name: '1 MB text, each operator 50 times',
    policy: ALLOW + denying(50, () => `{any: [${everyOperator.join(', ')}]}`),
    bodies: [ask({ t: prose })],
  },
  {
    name: 'globs of many stars, new actions',
    policy:
      ALLOW +
      Array.from(
        { length: 1600 },
        (_, i) => `  - {id: g${i}, actions: ["*a*a*a*a*a*a*a*a*b${i}.**.*c"], effect: deny, reason: R.}\n`,
      ).join(''),
    bodies: Array.from({ length: 500 }, (_, i) => ask({}, `${'a'.repeat(60)}${i}.${'a.'.repeat(25)}d`)),
  },
  {
    name: 'new actions before 4,800 comparisons',
    policy:
      ALLOW +
      denying(
        48,
        (i) => `{any: [${Array.from({ length: 100 }, (_, j) => leaf('context.t', 'equal', `x${i}-${j}`)).join(', ')}]}`,
      ),
    bodies: Array.from({ length: 500 }, (_, i) => ask({}, `new.action${i}`)),
  },
  { name: '1 MB below 25 levels', policy: ALLOW, bodies: [ask(deep(25))] },
  {
    name: '9,900 names',
    policy: ALLOW + denying(20, () => leaf('"context.*"', 'someFact:equal', 'x')),
    bodies: [
      ask(Object.fromEntries(Array.from({ length: 9900 }, (_, i) => [`key${(i * 7919) % 9973}${'k'.repeat(80)}`, i]))),
    ],
  },
  {
    name: '1 MB of escapes',
    policy: ALLOW,
    // An escape in the file: JSON.stringify escapes it once.
    bodies: [ask({ t: '\u0001'.repeat(LONG / 6) })],
  },
  {
    name: 'a schema of alternatives, 4,900 items',
    policy: `${SCHEMA(90)}${ALLOW}`,
    bodies: [ask({ l: Array.from({ length: 4900 }, (_, i) => ({ a: i })) })],
  },
  {
    name: '100 lists of actions, long session',
    policy: `session:\n  fact: context.s\n  taken: {${Array.from({ length: 90 }, (_, i) => `t${i}: ["*a*a*a*a*a*b${i}"]`).join(', ')}}\n${ALLOW}${denying(90, (i) => leaf(`session.taken.t${i}`, 'equal', 'true'))}`,
    bodies: Array.from({ length: 900 }, (_, i) => ask({ s: 'one' }, `${'a'.repeat(80)}${i}`)),
  },
  {
    name: 'a plan of 1 MB',
    policy: `${ALLOW}${denying(20, () => leaf('"plan.steps.*.text"', 'someFact:matches', '"[0-9]$"'))}`,
    bodies: [
      {
        action: 'a.b',
        plan: {
          action: 'a.b',
          steps: Array.from({ length: 4900 }, (_, i) => ({ text: `the step ${i} of this plan${'x'.repeat(170)}` })),
        },
      },
    ],
  },
  {
    name: 'risk of 20 patterns, 1 MB',
    policy: ALLOW + denying(20, (i) => leaf('context.t', 'matches', `"(?i)\\\\b(secret|password)${i}\\\\b"`)),
    path: '/gate/risk',
    bodies: [ask({ t: prose })],
  },
  { name: '1 MB without a policy for it', policy: ALLOW, bodies: [ask({ t: prose })] },
]
