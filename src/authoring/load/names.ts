import type { Glob } from '../../base/glob.ts'
import type { Json } from '../../base/json.ts'
import type { Comparison, Condition, FactDeclaration, Factor, FactType, PolicyData, Rule } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import type { Node, Place } from '../yaml/node.ts'

/** What the files of a set declare, so that references can be checked; and what is found while reading. */
export interface Names {
  readonly report: Report
  /** Undefined when no file declares facts: then any context and plan path may be read. */
  readonly facts: ReadonlyMap<string, FactDeclaration> | undefined
  /** Path texts of all declarations, those at fault included: who reads such a fact is not at fault too. */
  readonly declaredFacts: ReadonlySet<string>
  /** Types of the declared facts over time, by path text. */
  readonly overTime: ReadonlyMap<string, FactType>
  /** Those that a misspelt one may mean. */
  readonly factNames: readonly string[]
  readonly lists: ReadonlyMap<string, readonly Json[]>
  readonly conditions: ReadonlyMap<string, Node>
  /** Where they are named. */
  readonly conditionKeys: ReadonlyMap<string, Place>
  /** Those that are declared a second time, which may be at fault too. */
  readonly repeatedConditions: readonly Node[]
  readonly conditionPlaces: PolicyData['conditionPlaces']
  readonly domains: ReadonlyMap<string, readonly Glob[]>
  /** True when some file or section could not be read: a name that is unknown may be declared there. */
  readonly unsure: boolean
  /** Names of lists and conditions; path texts of facts over time. */
  readonly used: { readonly lists: Set<string>; readonly conditions: Set<string>; readonly overTime: Set<string> }
  /** Where what was read is written. */
  readonly nodes: Map<Condition | Rule | Factor, Node>
  /** What the leaves ask, by Leaf.index. */
  readonly comparisons: Comparison[]
  /** Leaf.index by what the leaf asks. */
  readonly indexes: Map<string, number>
}
