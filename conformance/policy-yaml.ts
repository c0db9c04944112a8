import { formatDocument } from '../src/authoring/format/format.ts'
import type { Json } from '../src/base/json.ts'
import { isVisible, visible, visibleJson } from '../src/base/visible.ts'
import { permits } from './answers.ts'
import type { Condition } from './conditions.ts'
import type { Rule, Translation } from './translate.ts'

/** The action of every request: what the toolkit is asked about is a bag of fields, of which tool_name is only one. */
export const ACTION = 'agt.call'
const LONGEST = 200

/** The policy set as a file that people can read, in the style of `gate-sidecar fmt`. */
export function policyYaml(translation: Translation): string {
  const formatted = formatDocument('main.yaml', Buffer.from(plainYaml(translation)))
  if ('text' in formatted) return formatted.text
  throw new Error(`The policy ${translation.policy.id} cannot be formatted: ${JSON.stringify(formatted)}`)
}

function plainYaml({ policy, tenant, conditions, rules, refusals }: Translation): string {
  const refuses = !permits(policy.defaultAction)
  const lines = [
    `# ${comment(policy.name)}, from ${comment(policy.path)} of agent-governance-toolkit (MIT).`,
    '# Translated mechanically: see README.md of the conformance check.',
    ...refusals.map(({ rule, reason }) => `# Not said here: rule ${comment(rule)}: ${comment(reason)}.`),
    'apiVersion: gate-sidecar/v1',
    `tenant: ${scalar(tenant)}`,
    'defaults:',
    '  decision: deny',
    `  reason: ${scalar(refuses ? `No rule matches: ${policy.defaultAction}` : 'No rule matches.')}`,
  ]
  if (conditions.size > 0) lines.push('conditions:')
  for (const [name, condition] of conditions) lines.push(`  ${scalar(name)}:`, ...block(condition, '    '))
  if (rules.length > 0) lines.push('rules:', ...rules.flatMap(ruleLines))
  return `${lines.join('\n')}\n`
}

function ruleLines({ id, effect, reason, when, ignore, comment: says }: Rule): string[] {
  return [
    `  # ${comment(says)}`,
    `  - id: ${scalar(id)}`,
    `    actions: [${ACTION}]`,
    `    effect: ${effect}`,
    `    reason: ${scalar(reason.slice(0, LONGEST).toWellFormed())}`,
    ...(ignore === undefined ? [] : [`    # lint-ignore ${ignore}`]),
    ...(when === undefined ? [] : ['    when:', ...block(when, '      ')]),
  ]
}

/** One comparison a line; lists and what holds them on lines of their own. */
function block(condition: Condition, indent: string): string[] {
  if ('all' in condition || 'any' in condition) {
    const [key, parts] = 'all' in condition ? ['all', condition.all] : ['any', condition.any]
    return [`${indent}${key}:`, ...parts.flatMap((part) => item(part, `${indent}  `))]
  }
  if ('not' in condition) return [`${indent}not:`, ...block(condition.not, `${indent}  `)]
  if ('condition' in condition) return [`${indent}condition: ${scalar(condition.condition)}`]
  return Object.entries(condition).map(([key, value]) => `${indent}${key}: ${flow(value)}`)
}

function item(condition: Condition, indent: string): string[] {
  if ('fact' in condition || 'condition' in condition || ('not' in condition && 'condition' in condition.not)) {
    return [`${indent}- ${flow(condition as Json)}`]
  }
  const [first = '', ...rest] = block(condition, `${indent}  `)
  return [`${indent}- ${first.trimStart()}`, ...rest]
}

function flow(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value !== 'object' || value === null) return scalar(value)
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${key}: ${flow(member)}`)
    .join(', ')} }`
}

/** Plain where it is a word, in single quotes where every character is seen, so that patterns stay as they are. */
function scalar(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  if (/^[A-Za-z][A-Za-z0-9_.*-]*$/.test(value) && !/^(?:true|false|null)$/i.test(value)) return value
  return isVisible(value) && /^[\x20-\x7e]*$/.test(value) ? `'${value.replaceAll("'", "''")}'` : visibleJson(value)
}

function comment(text: string): string {
  const line = Array.from(visible(text))
  return line.length > LONGEST ? `${line.slice(0, LONGEST).join('')}…` : line.join('')
}
