import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { FAIL_MODES } from '../src/actions/overview/fail-modes.ts'
import { UNEXPLAINED } from '../src/actions/policies/history.ts'
import { EVENTS } from '../src/audit/events.ts'
import { RANGE_STATUSES } from '../src/audit/range.ts'
import { RULES } from '../src/audit/replay/place.ts'
import { DIAGNOSTICS } from '../src/authoring/diagnostics/diagnostics.ts'
import { BUILT_IN_FACTS, WEEKDAYS } from '../src/authoring/load/fact-names.ts'
import { LIMITS } from '../src/authoring/load/limits.ts'
import { ERRORS } from '../src/base/errors.ts'
import { MAX_WORK, WEIGHTS } from '../src/base/work.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { createProgram } from '../src/cli/program.ts'
import type { DecidedBy } from '../src/gate/decide.ts'
import { PENDING_LIMITS, PLANS, type Plan, SIGN_IN_LIMIT, STATUS_LIMIT } from '../src/keys/plan.ts'
import { ROLES } from '../src/keys/roles.ts'
import { callersOf, mayCall, ROUTES, type RouteRule } from '../src/keys/routes.ts'
import { DECORATORS } from '../src/policies/decorators.ts'
import { OPERATORS, type Operator } from '../src/policies/operators.ts'
import type { Retry } from '../src/policies/set.ts'
import { envOf, flagOf, SETTING_NAMES } from '../src/service/config.ts'
import { SETTINGS } from '../src/service/settings.ts'
import { metricTable } from './alerts.ts'
import { EXAMPLES } from './examples.ts'
import { table } from './markdown.ts'

/** Each table that documents take from the code, by name; each gives Markdown. */
const PROGRAM = await createProgram(COMMANDS)

export const PARTS: Readonly<Record<string, () => string>> = {
  rooms: () => table(['', ...LAYERS.map(code)], roomRows()),
  settings: () => table(['name', 'flag', 'variable', 'default', 'meaning'], settingRows()),
  endpoints: () => table(['endpoint', 'roles', 'limit', 'what it does'], endpointRows()),
  roles: () => table(['endpoint', ...ROLES], roleRows()),
  plans: () => table(['plan', 'requests a minute', 'pending approvals of each agent'], planRows()),
  errors: () =>
    table(
      ['code', 'status', 'meaning'],
      Object.entries(ERRORS).map(([name, { status, meaning }]) => [code(name), String(status), meaning]),
    ),
  unexplained: () => table(['code', 'meaning'], named(UNEXPLAINED)),
  'fail-modes': () =>
    table(
      ['situation', 'behaviour'],
      FAIL_MODES.map(({ situation, behaviour }) => [situation, behaviour]),
    ),
  commands: () => table(['command', 'what it does'], commandRows(PROGRAM, [])),
  statuses: () => table(['status', 'meaning'], named(RANGE_STATUSES)),
  rules: () => table(['rule', 'what it asks for'], named(RULES)),
  events: () =>
    table(
      ['event type', 'what it records'],
      Object.entries(EVENTS).map(([type, meaning]) => [code(type), meaning]),
    ),
  steps: () => table(['', 'decidedBy', 'when', 'answer'], stepRows()),
  retries: () => table(['retry', 'meaning'], named(RETRIES)),
  operators: () => table(['operator', 'constant', 'asked of', 'true when'], operatorRows()),
  decorators: () => table(['decorator', 'meaning'], meanings(DECORATORS.keys(), DECORATOR_MEANINGS)),
  facts: () => table(['fact', 'type', 'value'], factRows()),
  diagnostics: () => table(['code', 'severity', 'fault'], diagnosticRows('errors/')),
  'error-pages': () => table(['code', 'severity', 'fault'], diagnosticRows('')),
  metrics: metricTable,
  'policy-limits': () => table(['limit', 'of'], limitRows()),
  work: () => table(['units', 'for'], workRows()),
  ...EXAMPLES,
}

const code = (text: string): string => `\`${text}\``
const named = (rows: Readonly<Record<string, string>>): string[][] =>
  Object.entries(rows).map(([name, meaning]) => [code(name), meaning])

/** @throws Error for a name without a meaning, so that a new one of the code is described here */
function meanings(names: Iterable<string>, known: Readonly<Record<string, string>>): string[][] {
  return Array.from(names, (name) => {
    const meaning = known[name]
    if (meaning === undefined) throw new Error(`docs/tables.ts does not say what ${name} means`)
    return [code(name), meaning]
  })
}

/** The order of src/gate/decide.ts; a step that is not described here does not compile. */
const STEPS: Readonly<Record<DecidedBy, readonly [when: string, answer: string]>> = {
  kill_switch: ['a stop covers the action', '`deny`'],
  no_policy: ['the tenant has no policy set in force', '`deny`'],
  invalid_context: ["context or plan do not fit the action's schemas, or the plan names another action", '`deny`'],
  deny_rule: ['a `deny` rule matches, or cannot be evaluated', '`deny`'],
  risk: ['the score reaches `thresholds.deny`', '`deny`'],
  hold_rule: ['a `require_approval` rule matches, or cannot be evaluated', '`require_approval`'],
  allow_rule: [
    'an `allow` rule matches',
    '`allow`; with a score from `thresholds.requireApproval` on `require_approval`, decided by `risk`',
  ],
  default: ['no rule matches', '`defaults.decision`: `deny` or `require_approval`'],
  approval: [
    'the answer would be `require_approval`, and people have decided about exactly this request',
    '`allow`, once; or `deny` after a rejection',
  ],
}

function stepRows(): string[][] {
  return Object.entries(STEPS).map(([name, [when, answer]], i) => [String(i + 1), code(name), when, answer])
}

const RETRIES: Readonly<Record<Retry, string>> = {
  never: 'the same request gets the same answer until policies or stops change',
  after_approval: 'send the same request again once the approval is approved',
  changed_request: 'another context or plan can be answered otherwise',
}

const CONSTANTS: Readonly<Record<Operator['value'], string>> = {
  none: 'none, or `true`',
  scalar: 'text, number or boolean',
  scalars: 'list of texts, numbers or booleans',
  number: 'number',
  text: 'text',
  pattern: 'RE2 pattern',
  list: 'name of a list',
  cidr: 'range such as `10.0.0.0/8`, or a list of them',
  time: 'RFC 3339 time with a zone',
}

function operatorRows(): string[][] {
  return Array.from(OPERATORS.values(), ({ name, value, factTypes, help }) => [
    code(name),
    CONSTANTS[value],
    factTypes.length === 7 ? 'every type' : factTypes.join(', '),
    help,
  ])
}

const DECORATOR_MEANINGS: Readonly<Record<string, string>> = {
  not: 'the opposite; unknown stays unknown',
  someFact: 'the fact is a list, and the operator holds for one of its items',
  everyFact: 'the fact is a list, and the operator holds for all of its items; unknown for an empty list',
}

const FACT_MEANINGS: Readonly<Record<string, string>> = {
  action: 'the action, such as `payment.transfer`',
  domain: 'the domain that the policies put the action in; missing when there is none',
  tenant: 'the tenant',
  environment: "`live` or `test`, by the caller's key",
  agent: "the identity of the caller's key, else the key's id",
  'time.hour': '0 to 23, in `timezone`',
  'time.weekday': `${WEEKDAYS.map(code).join(', ')}, in \`timezone\``,
}

function factRows(): string[][] {
  const types = [...BUILT_IN_FACTS.values()]
  return meanings(BUILT_IN_FACTS.keys(), FACT_MEANINGS).map(([name = '', meaning = ''], i) => [
    name,
    types[i] ?? '',
    meaning,
  ])
}

/** A limit that is not described here does not compile. */
const LIMIT_MEANINGS: Readonly<Record<keyof typeof LIMITS, string>> = {
  fileBytes: 'bytes of a policy file',
  depth: 'levels of nesting in a document, and of conditions that refer to conditions',
  rulesPerSet: 'rules of a set',
  leavesPerSet: 'comparisons of all rules and factors of a set, those of named conditions at each use',
  leavesPerAction: 'different comparisons about one action',
  globCharacters: 'characters of action patterns with a `*` that begin alike, or with a `*`, all together',
  overTimePerSet: 'names under `history` and `session.taken` of a set',
  pattern: 'characters of a pattern',
  patternParts: 'parts of a pattern with its repetitions written out: `(ab){3}` has six',
  listLines: 'lines of a list file',
  listBytes: 'bytes of a list file',
  uniqueItems: '`maxItems` beside `uniqueItems` in a schema',
  diagnostics: 'errors, and warnings, that are shown',
  message: 'characters that are shown of what an error says',
  path: 'characters that are shown of its place in the document',
  namesSearched: 'names that misspelt ones are compared with for suggestions, all together',
  schemaNodes: 'nodes of a schema with its references followed',
  expectationsPerTest: 'expectations of a test',
  casesPerSet: 'cases that the tests of a set make',
  comparisonsOfTests: 'comparisons that the cases of a set ask, all together',
  setBytes: "bytes of all files of a tenant's folder, lists too",
}

/** `folder` leads to the pages of the codes from the document that has the table. */
function diagnosticRows(folder: string): string[][] {
  return Object.entries(DIAGNOSTICS).map(([name, { severity, title }]) => [
    `[${code(name)}](${folder}${name}.md)`,
    severity,
    title,
  ])
}

function limitRows(): string[][] {
  return Object.entries(LIMIT_MEANINGS).map(([name, meaning]) => {
    const limit = LIMITS[name as keyof typeof LIMITS]
    return [limit.toLocaleString('en'), meaning]
  })
}

function workRows(): string[][] {
  const rows = Object.values(WEIGHTS).map(({ units, of }) => [String(units), of])
  return [...rows, [`**${MAX_WORK.toLocaleString('en')}**`, '**all that one check may do**']]
}

function settingRows(): string[][] {
  return SETTING_NAMES.map((name) => {
    const { help, default: value } = SETTINGS[name]
    const shown = value === null ? '' : String(value)
    return [code(name), code(flagOf(name)), code(envOf(name)), shown && code(shown), help]
  })
}

const endpoint = ({ method, path }: RouteRule): string => code(`${method} ${path}`)

function endpointRows(): string[][] {
  return Object.values(ROUTES).map((rule) => [endpoint(rule), callersOf(rule), rule.limit, rule.summary])
}

function roleRows(): string[][] {
  return Object.values(ROUTES).map((rule) => [
    endpoint(rule),
    ...ROLES.map((role) => (mayCall(rule, [role]) ? 'yes' : '')),
  ])
}

function planRows(): string[][] {
  const rows = (Object.keys(PLANS) as Plan[]).map((plan) => [
    code(plan),
    Number.isFinite(PLANS[plan]) ? String(PLANS[plan]) : 'no limit',
    String(PENDING_LIMITS[plan]),
  ])
  return [
    ...rows,
    ['`status` reads, and refused callers, of each key', String(STATUS_LIMIT), ''],
    ['`sign-in`: sessions and sign-in links, of each key', String(SIGN_IN_LIMIT), ''],
  ]
}

function commandRows(command: Command, path: readonly string[]): string[][] {
  if (command.commands.length === 0) return [[code(path.join(' ')), command.description()]]
  return command.commands.flatMap((child) => commandRows(child, [...path, child.name()]))
}

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const LAYERS = ['src', 'src/actions', 'src/http', 'src/cli', 'src/store/sqlite', 'src/console/pages', 'test']

/** Each capability, which is a folder of `src/actions`, with its folder or its file in each layer. */
function roomRows(): string[][] {
  const capabilities = readdirSync(`${ROOT}src/actions`).filter((name) => !name.includes('.'))
  const roomIn = (layer: string, name: string): string => {
    const room = [`${name}/`, `${name}.ts`].find((path) => existsSync(`${ROOT}${layer}/${path}`))
    return room === undefined ? '' : code(room)
  }
  return capabilities.sort().map((name) => [name, ...LAYERS.map((layer) => roomIn(layer, name))])
}
