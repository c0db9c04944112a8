import { UNLIMITED } from '../../src/base/work.ts'
import { type AskedAction, type History, overTimeReader } from '../../src/gate/history.ts'
import type { FactValues, PolicySet } from '../../src/policies/set.ts'

/** The facts over time that the set reads for this action, by path text, without the missing ones. */
export function factsOverTime(set: PolicySet, asked: AskedAction, history: History): FactValues {
  const read = overTimeReader(set, asked, history)
  const values = set.evaluator.about(asked.action).overTime.map((path) => [path.text, read(path, UNLIMITED)] as const)
  return new Map(values.flatMap(([text, value]) => (value === undefined ? [] : [[text, value]])))
}
