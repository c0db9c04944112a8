import type { PolicyData } from '../../policies/set.ts'
import type { Names } from '../load/names.ts'
import type { PolicyTest } from '../test-files/cases.ts'
import { memberOf } from '../yaml/node.ts'

/** A rule or factor that no case of the tests makes match. */
export interface Untested {
  readonly kind: 'rule' | 'factor'
  readonly name: string
  /** True when some case evaluates an action of it. */
  readonly isAsked: boolean
}

/** Runs the tests of a set. Undefined when they are too many to be run. */
export type FindUntested = (set: PolicyData, tests: readonly PolicyTest[]) => Promise<readonly Untested[] | undefined>

export function reportUntested({ rules, factors }: PolicyData, names: Names, untested: readonly Untested[]): void {
  const nodes = {
    rule: new Map(rules.map((rule) => [rule.id, memberOf(names.nodes.get(rule), 'id')])),
    factor: new Map(factors.map((factor) => [factor.name, memberOf(names.nodes.get(factor), 'name')])),
  }
  for (const { kind, name, isAsked } of untested) {
    const place = nodes[kind].get(name)
    if (place === undefined) continue
    const message = isAsked
      ? `The tests never make ${kind} ${name} match. Add a case for which its condition is true.`
      : `No test asks about an action of ${kind} ${name}. Add a case for one.`
    names.report.add('GATE2101', place, message)
  }
}
