import { memo } from '../base/memo.ts'
import type { Test } from './constants.ts'
import { parseOperator } from './decorators.ts'
import { compileValue } from './operators.ts'
import type { PolicyData } from './set.ts'

/** The comparisons with their constants compiled in, by Leaf.index; each is compiled when it is first asked for. */
export function comparisonTests({
  comparisons,
  lists,
}: Pick<PolicyData, 'comparisons' | 'lists'>): (index: number) => Test | undefined {
  return memo((index) => {
    const asked = comparisons[index]
    const operator = asked && parseOperator(asked.operator)?.operator
    const compiled = operator && compileValue(operator, asked.wanted, lists)
    return compiled && 'test' in compiled ? compiled.test : undefined
  })
}
