import type { JsonObject } from '../../base/json.ts'
import { parseOperator } from '../../policies/decorators.ts'
import type { Condition } from '../../policies/set.ts'

/** A condition as it is written in a file of its set. */
export function writtenCondition(condition: Condition): JsonObject {
  switch (condition.kind) {
    case 'leaf': {
      const { fact, operator, wanted } = condition
      const isBare = parseOperator(operator)?.operator.value === 'none'
      return { fact: fact.text, operator, ...(!isBare && { value: wanted }) }
    }
    case 'not':
      return { not: writtenCondition(condition.condition) }
    case 'condition':
      return { condition: condition.name }
    default:
      return { [condition.kind]: condition.conditions.map(writtenCondition) }
  }
}
