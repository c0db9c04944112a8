import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { isVisible } from '../../base/visible.ts'
import { validatePlanAndContext } from '../../policies/evaluate.ts'
import type { PolicySet } from '../../policies/set.ts'
import { modeline } from '../editor/modeline.ts'
import { API_VERSION } from '../shapes/document.ts'
import { exampleOf } from './example.ts'
import type { Covered, StarterRule } from './policy.ts'
import { commentOf, sectionOf } from './yaml.ts'

export interface Example {
  action: string
  /** Arguments that pass the action's schema; undefined when none could be made up. */
  context: JsonObject | undefined
  /** True when the empty object passes it. */
  takesNone: boolean
}

/** The name of the empty context, which no action has. */
const NOTHING = 'no arguments'

/** An example call of each action, with arguments that pass its schema where they can be made up. */
export function examplesOf(set: PolicySet, covered: readonly Covered[]): Example[] {
  return covered.map(({ tool: { action }, schema }) => {
    const passes = (context: Json): context is JsonObject =>
      isJsonObject(context) && validatePlanAndContext(set, { action, context, plan: undefined }).ok
    const takesNone = passes({})
    if (takesNone) return { action, context: {}, takesNone }
    const context = exampleOf(schema ?? {})
    const usable = isVisible(JSON.stringify(context)) && passes(context)
    return { action, context: usable ? context : undefined, takesNone }
  })
}

// A type, since an interface would not count as JSON.
type Test = {
  name: string
  matrix: { actions: string[]; contexts: string[] }
  expect: Record<string, string | null>
}

/** The text of main.test.yaml: every rule decides its actions, and an action without a rule is denied. */
export function testText(tenant: string, rules: readonly StarterRule[], examples: readonly Example[]): string {
  const byAction = new Map(examples.map((example) => [example.action, example]))
  const contexts = examples.filter(({ context, takesNone }) => context !== undefined && !takesNone)
  const strict = examples.filter(({ takesNone }) => !takesNone).map(({ action }) => action)
  const denied = { decision: 'deny', rule: null }
  const tests = [
    ...rules.flatMap((rule) => testsOfRule(rule, byAction)),
    // Denied whatever their rule says.
    ...testOf('calls that lack arguments are denied', strict, NOTHING, { ...denied, decidedBy: 'invalid_context' }),
    ...testOf('what no rule names is denied', [unknownAction(byAction)], NOTHING, { ...denied, decidedBy: 'default' }),
  ]
  const madeUp = Object.fromEntries(contexts.map(({ action, context = {} }) => [action, context]))
  return [
    commentOf([
      modeline('test'),
      `The decisions that the policy of ${tenant} must make. Change a rule and its tests together.`,
    ]),
    sectionOf([], { apiVersion: API_VERSION, tenant }),
    sectionOf(['Arguments of calls, made up from the schemas.', ...missingNote(examples)], {
      contexts: { [NOTHING]: {}, ...madeUp },
    }),
    sectionOf(['Each test decides every action of its matrix in every context of it.'], { tests }),
  ].join('')
}

function missingNote(examples: readonly Example[]): string[] {
  const without = examples.filter(({ context }) => context === undefined).map(({ action }) => action)
  const shown = without.slice(0, 10).join(', ')
  const more = without.length > 10 ? ` and ${without.length - 10} more` : ''
  return without.length === 0
    ? []
    : [`No arguments could be made up for ${shown}${more}: add a context and a test for each.`]
}

/** One test for all actions that need no arguments, and one for each other action. */
function testsOfRule({ id, effect, actions }: StarterRule, examples: ReadonlyMap<string, Example>): Test[] {
  const expect = { decision: effect, rule: id }
  const known = actions.flatMap((action) => examples.get(action) ?? []).filter(({ context }) => context !== undefined)
  const bare = known.filter(({ takesNone }) => takesNone).map(({ action }) => action)
  const others = known.filter(({ takesNone }) => !takesNone)
  return [
    ...testOf(`${id}: without arguments`, bare, NOTHING, expect),
    ...others.flatMap(({ action }) => testOf(`${id}: ${action}`, [action], action, expect)),
  ]
}

/** A test of actions in one context; none without actions. */
function testOf(name: string, actions: string[], context: string, expect: Test['expect']): Test[] {
  return actions.length === 0 ? [] : [{ name, matrix: { actions, contexts: [context] }, expect }]
}

function unknownAction(known: ReadonlyMap<string, Example>): string {
  const free = Array.from({ length: known.size + 1 }, (_, i) => `unknown.tool${i === 0 ? '' : i + 1}`)
  return free.find((action) => !known.has(action)) ?? ''
}
