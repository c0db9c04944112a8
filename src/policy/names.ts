import type { Glob } from '../base/glob.ts'
import type { Json } from '../base/json.ts'
import type { Node } from './node.ts'
import type { Report } from './report.ts'
import type { Comparison, Condition, FactDeclaration, Factor, PolicyData, Rule } from './set.ts'

/** What the files of a set declare, so that references can be checked; and what is found while reading. */
export interface Names {
  readonly report: Report
  /** Undefined when no file declares facts: then any context and plan path may be read. */
  readonly facts: ReadonlyMap<string, FactDeclaration> | undefined
  /** Path texts of all declarations, those at fault included: who reads such a fact is not at fault too. */
  readonly declaredFacts: ReadonlySet<string>
  readonly lists: ReadonlyMap<string, readonly Json[]>
  readonly conditions: ReadonlyMap<string, Node>
  readonly conditionPlaces: PolicyData['conditionPlaces']
  readonly domains: ReadonlyMap<string, readonly Glob[]>
  /** True when some file could not be read: a name that is unknown may be declared there. */
  readonly partial: boolean
  readonly used: { readonly lists: Set<string>; readonly conditions: Set<string> }
  /** Where what was read is written. */
  readonly nodes: Map<Condition | Rule | Factor, Node>
  /** What the leaves ask, by Leaf.index. */
  readonly comparisons: Comparison[]
  /** Leaf.index by what the leaf asks. */
  readonly indexes: Map<string, number>
}
