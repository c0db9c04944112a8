import { grouped } from '../../base/grouped.ts'
import type { Json } from '../../base/json.ts'
import { compilePattern } from '../../base/pattern.ts'
import { UNLIMITED } from '../../base/work.ts'
import { parseOperator } from '../../policies/decorators.ts'
import { ANY, isPlural } from '../../policies/path.ts'
import type { Candidate, Leaf } from '../../policies/set.ts'
import { schemaAt } from '../schemas/actions.ts'
import { declaredFor } from '../schemas/presence.ts'
import { memberOf, type Node, numberOf, textOf } from '../yaml/node.ts'
import { createBudget, PAIRS } from './budget.ts'
import { boundsOf, type Declared, hasTypeOf, typesOfNode, valuesOf } from './known.ts'

/** A comparison in a rule or factor. */
export interface Use {
  readonly leaf: Leaf
  readonly about: Candidate
}

/** Limit that keeps a constant from occurring. */
export interface Refusal {
  /** The actions whose schemas refuse it. */
  readonly actions: readonly string[]
  /** Values that one of them lists. */
  readonly values: readonly Json[]
}

/**
 * Why no request has the constant where it is used: the schemas of all actions concerned refuse it. Undefined when some
 * action lets it through, or may.
 */
export function refusalOf(value: Json, uses: readonly Use[], { actionNodes, set }: Declared): Refusal | undefined {
  const actions = new Set<string>()
  const values: Json[] = []
  for (const { leaf, about } of uses) {
    // A default need not pass the schema.
    if ([set.facts.get(leaf.fact.text)?.default].flat().includes(value)) return undefined
    for (const { exact, text } of about.actions) {
      const schema = exact ? schemaOf(leaf, actionNodes?.get(text)) : undefined
      if (schema === undefined || !refuses(schema, value)) return undefined
      actions.add(text)
      values.push(...(valuesOf(schema) ?? []))
    }
  }
  return actions.size === 0 ? undefined : { actions: [...actions], values }
}

/** Whether the declarations expect the value of a comparison: they list it, or say what type it has. */
export type Expected = (leaf: Leaf, value: Json, by: 'enum' | 'type') => boolean

export function expectedBy({ actionNodes = new Map<string, Node>(), set }: Declared, all: readonly Use[]): Expected {
  const uses = grouped(all, ({ leaf }) => leaf)
  // Beyond it every value counts as expected.
  const budget = createBudget(PAIRS)
  return (leaf, value, by) => {
    const expects = (schema: Node | undefined): boolean =>
      by === 'enum' ? valuesOf(schema)?.includes(value) === true : isOfType(value, typesOfNode(schema))
    const isExpected = ({ about }: Use): boolean => {
      if (by === 'type' && isOfType(value, set.facts.get(leaf.fact.text)?.type)) return true
      if (!budget.spend(about.actions.every(({ exact }) => exact) ? about.actions.length : actionNodes.size))
        return true
      const declared = declaredFor(about, actionNodes)
      return declared.length > 0 && declared.every((action) => expects(schemaOf(leaf, action)))
    }
    const ofLeaf = uses.get(leaf) ?? []
    return ofLeaf.length > 0 && ofLeaf.every(isExpected)
  }
}

function isOfType(value: Json, types: string | readonly string[] | undefined): boolean {
  return types !== undefined && types.length > 0 && [types].flat().every((type) => hasTypeOf(value, [type]))
}

/** The schema of what a comparison looks at: the fact, or each of its items. */
function schemaOf({ fact, operator }: Leaf, action: Node | undefined): Node | undefined {
  const parsed = parseOperator(operator)
  const { name, opposite } = parsed?.operator ?? {}
  const looksInside = parsed?.overItems === true || (opposite ?? name) === 'contains'
  if (isPlural(fact) && !looksInside) return undefined
  const segments = looksInside && !isPlural(fact) ? [...fact.segments, ANY] : fact.segments
  return schemaAt(memberOf(action, fact.root), segments)
}

/** True when a value surely does not pass; of most keywords nothing is said. */
function refuses(schema: Node, value: Json): boolean {
  if (!hasTypeOf(value, typesOfNode(schema))) return true
  if (valuesOf(schema)?.includes(value) === false) return true
  if (typeof value === 'number') return !boundsOf(schema).every(({ holds }) => holds(value))
  return typeof value === 'string' && refusesText(schema, value)
}

function refusesText(schema: Node, text: string): boolean {
  const length = [...text].length
  if (length < (numberOf(memberOf(schema, 'minLength')) ?? 0)) return true
  if (length > (numberOf(memberOf(schema, 'maxLength')) ?? Number.POSITIVE_INFINITY)) return true
  const pattern = textOf(memberOf(schema, 'pattern'))
  const compiled = pattern === undefined ? undefined : compilePattern(pattern)
  return compiled !== undefined && 'find' in compiled && compiled.find(text, UNLIMITED) === false
}
