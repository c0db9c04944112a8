import type { Json } from '../../base/json.ts'
import { memo } from '../../base/memo.ts'
import { comparisonTests, leafTest, parseOperator } from '../../policies/decorators.ts'
import type { Leaf, Truth } from '../../policies/set.ts'
import type { Budget } from './budget.ts'
import type { Declared } from './known.ts'

/** A leaf with the comparison that evaluation makes, so that an analysis cannot differ from evaluation. */
export interface Asked {
  readonly leaf: Leaf
  /** The operator without decorators and negation: `equal` for `not:someFact:notEqual`. */
  readonly base: string
  /** Number of lists it looks into: 0 for a comparison of the fact itself. */
  readonly depth: number
  /** The constant; for inList the values of the list. */
  readonly wanted: readonly Json[]
  readonly test: (seen: Json | undefined) => Truth
  /**
   * Values for which any outcome is possible: none, those beside the constants, or all. A few values cannot tell the
   * outcome of others, and a list that is kept in a file, or is empty, is there to be changed.
   */
  readonly open: 'no' | 'beside' | 'everywhere'
}

/** Most members of a list that are tried one by one. */
const MAX_MEMBERS = 200

/** Prepares leaves; undefined when that would exceed the budget. */
export function leafAsker(
  { set, openLists }: Pick<Declared, 'set' | 'openLists'>,
  budget: Budget,
): (leaf: Leaf) => Asked | undefined {
  const testOf = comparisonTests(set)
  const known = memo((index: number) => {
    const comparison = set.comparisons[index]
    const parsed = comparison && parseOperator(comparison.operator)
    if (comparison === undefined || parsed === undefined) return undefined
    const { operator, decorators } = parsed
    const list = operator.value === 'list' ? (set.lists.get(String(comparison.wanted)) ?? []) : undefined
    // Compiling a pattern costs about as much as its length, and preparing a list as much as its length.
    const cost = operator.value === 'pattern' ? 300 + String(comparison.wanted).length * 10 : (list?.length ?? 0) / 5
    if (!budget.spend(cost)) return undefined
    const test = testOf(index)
    if (test === undefined) return undefined
    // Such a list could hold numbers beside those listed, which are not tried.
    if (list !== undefined && list.length > MAX_MEMBERS && list.some((item) => typeof item !== 'string'))
      return undefined
    const base = operator.opposite ?? operator.name
    const depth = decorators.filter((name) => name !== 'not').length + (base === 'contains' ? 1 : 0)
    const wanted = list ?? (Array.isArray(comparison.wanted) ? comparison.wanted : [comparison.wanted])
    const open = opennessOf(base, wanted, openLists.has(String(comparison.wanted)))
    return { base, depth, wanted, open, test: leafTest(parsed, test) }
  })
  return (leaf) => {
    const asked = known(leaf.index)
    return asked && { leaf, ...asked }
  }
}

function opennessOf(base: string, wanted: readonly Json[], isFile: boolean): Asked['open'] {
  if (base === 'matches' || base === 'inCidr') return 'beside'
  if (base !== 'inList') return 'no'
  if (isFile || wanted.length === 0) return 'everywhere'
  return wanted.length > MAX_MEMBERS ? 'beside' : 'no'
}
