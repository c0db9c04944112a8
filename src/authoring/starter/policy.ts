import type { JsonObject } from '../../base/json.ts'
import { oneLine } from '../../base/visible.ts'
import { modeline } from '../editor/modeline.ts'
import { DEFAULT_REASON, DEFAULT_THRESHOLDS } from '../load/settings.ts'
import { API_VERSION } from '../shapes/document.ts'
import { guessDomains } from './domains.ts'
import { type NamedTool, shownName } from './list.ts'
import { type Reduced, schemaReducer } from './schema.ts'
import { type Guess, guesser, type Kind } from './verbs.ts'
import { commentOf, sectionOf, yamlOf } from './yaml.ts'

/** A tool with its part of the policy. */
export interface Covered extends Reduced {
  tool: NamedTool
  guess: Guess
}

export interface StarterRule {
  id: Kind
  effect: 'allow' | 'require_approval'
  actions: readonly string[]
}

const MAX_DESCRIPTION = 500
const MAX_DROPPED = 8

/** Rules by the kind of tools that they cover, which is their id. */
const RULES: Readonly<Record<Kind, { effect: StarterRule['effect']; reason: string; comment: string[] }>> = {
  reading: {
    effect: 'allow',
    reason: 'Reading is allowed.',
    comment: [
      'Tools that only read, by their names or by what they say about themselves. Neither is a proof: take out what may',
      'show secrets or what reaches the outside, and it is denied until another rule covers it.',
    ],
  },
  destructive: {
    effect: 'require_approval',
    reason: 'Actions that cannot be undone need approval by a person.',
    comment: [
      'Tools that delete, send, pay and the like: a person decides. For two people: approval: {quorum: 2}.',
      'For what no agent may ever do, write a rule with effect: deny.',
    ],
  },
  other: {
    effect: 'require_approval',
    reason: 'No rule allows this without the approval of a person.',
    comment: [
      'All other tools: a person decides, until you know better. Move what is harmless to a rule with effect: allow.',
    ],
  },
}

const KINDS: readonly Kind[] = ['reading', 'destructive', 'other']

export function coverTools(tools: readonly NamedTool[]): Covered[] {
  const guess = guesser(tools)
  const reduce = schemaReducer()
  return tools.map((tool) => {
    const reduced = tool.schema === undefined ? { schema: undefined, dropped: [] } : reduce(tool.schema)
    return { tool, guess: guess(tool), ...reduced }
  })
}

export function rulesOf(covered: readonly Covered[]): StarterRule[] {
  return KINDS.flatMap((id) => {
    const actions = covered.filter(({ guess }) => guess.kind === id).map(({ tool }) => tool.action)
    return actions.length === 0 ? [] : [{ id, effect: RULES[id].effect, actions }]
  })
}

/** The text of main.yaml. `origin` ends the sentence about its source. */
export function policyText(tenant: string, covered: readonly Covered[], origin: string): string {
  const domains = guessDomains(covered.map(({ tool }) => tool.action))
  const reasons = new Map(covered.map(({ tool, guess }) => [tool.action, guess.why]))
  return [
    commentOf(headOf(tenant, origin)),
    sectionOf([], { apiVersion: API_VERSION, tenant }),
    sectionOf(COMMENTS.defaults, { defaults: { decision: 'deny', reason: DEFAULT_REASON } }),
    sectionOf(COMMENTS.thresholds, { thresholds: { ...DEFAULT_THRESHOLDS } }),
    sectionOf(COMMENTS.approval, { approval: { quorum: 1, expiresIn: '30m' } }),
    domains.size === 0
      ? ''
      : sectionOf(COMMENTS.domains, {
          domains: Object.fromEntries([...domains].map(([name, globs]) => [name, [...globs]])),
        }),
    `\n${commentOf(COMMENTS.actions)}actions:\n`,
    ...covered.map((one) => indented(commentOf(notesOf(one)) + yamlOf({ [one.tool.action]: declaration(one) }))),
    `\n${commentOf(COMMENTS.rules)}rules:\n`,
    rulesOf(covered)
      .map((rule) => indented(ruleText(rule, reasons)))
      .join('\n'),
  ].join('')
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ')
}

function ruleText({ id, effect, actions }: StarterRule, reasons: ReadonlyMap<string, string>): string {
  const { reason, comment } = RULES[id]
  const items = actions.map((action) => `    - ${yamlOf(action).trimEnd()} ${commentOf([reasons.get(action) ?? ''])}`)
  const rest = indented(yamlOf({ effect, reason }))
  return `${commentOf(comment)}- id: ${id}\n  actions:\n${items.join('')}${rest}`
}

function headOf(tenant: string, origin: string): string[] {
  return [
    modeline('policy'),
    `The policy of ${tenant}, ${origin}. It is a beginning: read it, then change it.`,
    'Whatever it was guessed from is text of others: names, descriptions and hints prove nothing.',
    '',
    'gate-sidecar validate                     finds every fault of this folder',
    'gate-sidecar lint                         adds advice on safety and style',
    'gate-sidecar test                         runs the tests beside this file',
    'gate-sidecar check --tenant T --action A  decides an action by it; --explain says why',
    'gate-sidecar schema policy                gives editors its JSON Schema',
  ]
}

const COMMENTS = {
  defaults: ['An action that no rule allows is denied. With require_approval, a person is asked instead.'],
  thresholds: [
    'Risk factors add up to a score from 0 to 100; from these scores on, a person must approve, or nothing is allowed.',
    'There are no factors yet. One looks like this:',
    'risk:',
    '  - name: large-amount',
    '    actions: ["payment.*"]',
    '    weight: 50',
    '    scale: {fact: context.amount, from: 0, to: 10000}',
  ],
  approval: ['How many people must approve what is held, and for how long an approval may be waited for and used.'],
  domains: ['Groups of actions, guessed from how their names begin. The kill switch stops a domain at level L2.'],
  actions: ['The actions of agents, each with the JSON Schema of its context. A call with other arguments is denied.'],
  rules: [
    'A rule with effect deny wins over one with require_approval, and that over one with allow. With `when`, a rule asks',
    'for facts: when: {fact: context.amount, operator: greaterThan, value: 1000}',
  ],
}

function declaration({ tool: { description = '' }, schema }: Covered): JsonObject {
  const line = oneLine(description, MAX_DESCRIPTION)
  return { ...(line !== '' && { description: line }), ...(schema !== undefined && { context: schema }) }
}

/** Comments above an action. */
function notesOf({ tool, dropped }: Covered): string[] {
  const renamed = `The tool is called ${shownName(tool.name)}, which no action can be.`
  const paths = dropped.slice(0, MAX_DROPPED).map((path) => oneLine(path, 120))
  const more = dropped.length > MAX_DROPPED ? ` and ${dropped.length - MAX_DROPPED} more` : ''
  return [
    ...(tool.name === tool.action ? [] : [renamed]),
    ...(dropped.length === 0 ? [] : [`Left out of the tool's own schema: ${paths.join(', ')}${more}.`]),
  ]
}
