import { memo } from '../base/memo.ts'
import { parseOperator } from './decorators.ts'
import { compileTest, type Test } from './operators.ts'
import type { PolicyData } from './set.ts'

/** The comparisons with their constants compiled in, by Leaf.index; each is compiled at its first use. */
export function comparisonTests({
  comparisons,
  lists,
}: Pick<PolicyData, 'comparisons' | 'lists'>): (index: number) => Test | undefined {
  return memo((index) => {
    const comparison = comparisons[index]
    const operator = comparison && parseOperator(comparison.operator)?.operator
    return operator && compileTest(operator, comparison.wanted, lists)
  })
}
