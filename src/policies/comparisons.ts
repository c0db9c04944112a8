import { memo } from '../base/memo.ts'
import { parseOperator } from './decorators.ts'
import { compileTest, type Test } from './operators.ts'
import type { PolicyData } from './set.ts'

/** The comparisons with their constants compiled in, by Leaf.index; each is compiled when it is first asked for. */
export function comparisonTests({
  comparisons,
  lists,
}: Pick<PolicyData, 'comparisons' | 'lists'>): (index: number) => Test | undefined {
  return memo((index) => {
    const asked = comparisons[index]
    const operator = asked && parseOperator(asked.operator)?.operator
    return operator && compileTest(operator, asked.wanted, lists)
  })
}
