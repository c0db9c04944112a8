import { counted } from '../../base/counted.ts'
import type { JsonObject } from '../../base/json.ts'
import { formatDiagnostic } from '../diagnostics/text.ts'
import { formatDocument } from '../format/format.ts'
import { LIMITS } from '../load/limits.ts'
import { loadPolicySet } from '../load/load.ts'
import { type NamedTool, nameActions, type Tool } from './list.ts'
import { coverTools, policyText, rulesOf, type StarterRule } from './policy.ts'
import { type Example, examplesOf, testText } from './tests.ts'

export interface Starter {
  files: readonly { name: string; text: string }[]
  rules: readonly StarterRule[]
  /** Tools whose actions have another name. */
  renamed: readonly NamedTool[]
  /** A call to try the policy with, which a rule decides; undefined when no arguments could be made up. */
  example: Example | undefined
}

/** Sources of a set without tools: one example of each kind. */
const EXAMPLES: readonly Tool[] = [
  {
    name: 'document.search',
    description: 'Finds documents.',
    schema: object({ query: { type: 'string' } }, ['query']),
  },
  {
    name: 'email.send',
    description: 'Sends an email.',
    schema: object({ to: { type: 'array', items: { type: 'string' } }, subject: { type: 'string' } }, ['to']),
  },
  {
    name: 'ticket.update',
    description: 'Changes a ticket.',
    schema: object({ id: { type: 'string' }, status: { enum: ['open', 'closed'] } }, ['id', 'status']),
  },
]

function object(properties: JsonObject, required: string[]): JsonObject {
  return { type: 'object', properties, required }
}

/**
 * Creates a policy folder for the tools: main.yaml and main.test.yaml. It has no error and no warning, and its tests
 * pass, whatever the tools say. `fault` says why there is none: tools that would be one action, or too many.
 */
export function starterFor(tenant: string, tools: readonly Tool[]): Starter | { fault: string } {
  const named = nameActions(tools.length === 0 ? EXAMPLES : tools)
  if ('fault' in named) return named
  const covered = coverTools(named)
  const origin =
    tools.length === 0
      ? 'with three examples in place of tools'
      : `made by gate-sidecar init from ${counted(tools.length, 'tool')}`
  const main = { name: 'main.yaml', text: styled(policyText(tenant, covered, origin)) }
  const set = load(tenant, [main])
  if ('fault' in set) return set
  const rules = rulesOf(covered)
  const examples = examplesOf(set, covered)
  const test = { name: 'main.test.yaml', text: styled(testText(tenant, rules, examples)) }
  const files = [main, test]
  const whole = load(tenant, files)
  if ('fault' in whole) return whole
  const renamed = named.filter(({ name, action }) => name !== action)
  return { files, rules, renamed, example: firstCall(rules, examples) }
}

/** The formatted text; one that cannot be formatted stays as it is, and is found faulty, or too large, later. */
function styled(text: string): string {
  const formatted = formatDocument('main.yaml', new TextEncoder().encode(text))
  return 'text' in formatted ? formatted.text : text
}

/** The first call with arguments, of a tool that is allowed if there is one. */
function firstCall(rules: readonly StarterRule[], examples: readonly Example[]): Example | undefined {
  const byAction = new Map(examples.map((example) => [example.action, example]))
  return rules
    .flatMap(({ actions }) => actions.flatMap((action) => byAction.get(action) ?? []))
    .find(({ context }) => context !== undefined)
}

/** Loads the files. @throws Error when they have a fault, which would be a bug here */
function load(tenant: string, files: Starter['files']) {
  const encoder = new TextEncoder()
  const read = files.map(({ name, text }) => ({ name, bytes: encoder.encode(text) }))
  const large = read.find(({ bytes }) => bytes.byteLength > LIMITS.fileBytes)
  if (large !== undefined) {
    const most = `${LIMITS.fileBytes} bytes, which is what is read at most`
    return { fault: `The tools make a ${large.name} of more than ${most}; give fewer tools, or shorter schemas.` }
  }
  const { set, diagnostics } = loadPolicySet({ tenant, files: read, lists: new Map(), ignored: [] })
  if (set !== undefined && diagnostics.length === 0) return set
  const faults = diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, undefined))
  throw new Error(`the files made for the tools have faults:\n${faults.join('\n')}`)
}
