import type { Json } from '../base/json.ts'
import { spend, UNLIMITED, type Work } from '../base/work.ts'
import { notTruth } from './kleene.ts'
import { compileTest, OPERATORS, type Operator, type Test } from './operators.ts'
import type { PolicyData, Truth } from './set.ts'

/** `next` is the decorator or operator behind this one. */
type Decorate = (seen: unknown, next: (item: unknown) => Truth, work: Work) => Truth

/** json-rules-engine's decorators, in three-valued logic. */
export const DECORATORS: ReadonlyMap<string, Decorate> = new Map<string, Decorate>([
  ['not', (seen, next) => notTruth(next(seen))],
  ['someFact', (seen, next, work) => (Array.isArray(seen) ? walk(seen, next, work, 'true') : 'unknown')],
  [
    'everyFact',
    // Over no values at all, "every" is as likely a mistake in the data as it is true.
    (seen, next, work) => (Array.isArray(seen) && seen.length > 0 ? walk(seen, next, work, 'false') : 'unknown'),
  ],
])

/** Asks one item after the other until one has the truth that decides; unknown as soon as there is no work left for one. */
function walk(
  items: readonly unknown[],
  next: (item: unknown) => Truth,
  work: Work,
  deciding: 'true' | 'false',
): Truth {
  let sum: Truth = notTruth(deciding)
  for (const item of items) {
    if (!spend(work, 'item')) return 'unknown'
    const truth = next(item)
    if (truth === deciding) return deciding
    if (truth === 'unknown') sum = 'unknown'
  }
  return sum
}

export interface ParsedOperator {
  /** Outermost first. */
  readonly decorators: readonly string[]
  readonly operator: Operator
  /** True when the operator applies to the items of a list. */
  readonly overItems: boolean
}

/** Parses `not:someFact:equal`; undefined when a part is unknown. */
export function parseOperator(text: string): ParsedOperator | undefined {
  const parts = text.split(':')
  const operator = OPERATORS.get(parts.pop() ?? '')
  if (operator === undefined || !parts.every((part) => DECORATORS.has(part))) return undefined
  return { decorators: parts, operator, overItems: parts.some((part) => part !== 'not') }
}

/** Evaluates an operator on a fact: the base test on a value, or unknown where there is none. */
export function testFact(operator: Operator, test: Test, seen: unknown, work: Work): Truth {
  const present = seen !== undefined && seen !== null
  if (operator.value === 'none') return (operator.name === 'exists') === present ? 'true' : 'false'
  if (!present) return 'unknown'
  // All facts were read from JSON.
  const truth = test(seen as Json, work)
  return operator.opposite === undefined ? truth : notTruth(truth)
}

/** Compiles a leaf to a function of its fact's value, as the engine evaluates it, without a budget. `test` has the constant compiled in. */
export function leafTest({ decorators, operator }: ParsedOperator, test: Test): (seen: Json | undefined) => Truth {
  let next = (seen: unknown): Truth => testFact(operator, test, seen, UNLIMITED)
  for (const name of decorators.toReversed()) {
    const inner = next
    const decorate = DECORATORS.get(name)
    if (decorate !== undefined) next = (seen) => decorate(seen, inner, UNLIMITED)
  }
  return next
}

/** The comparisons with their constants compiled in, by Leaf.index; each is compiled at its first use. */
export function comparisonTests({
  comparisons,
  lists,
}: Pick<PolicyData, 'comparisons' | 'lists'>): (index: number) => Test | undefined {
  const compile = (index: number): Test | undefined => {
    const comparison = comparisons[index]
    const operator = comparison && parseOperator(comparison.operator)?.operator
    return operator && compileTest(operator, comparison.wanted, lists)
  }
  // No map: each comparison of each check looks here.
  const compiled = new Array<Test | undefined>(comparisons.length)
  return (index) => (compiled[index] ??= compile(index))
}
