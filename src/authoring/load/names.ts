import type { Glob } from '../../base/glob.ts'
import type { Json } from '../../base/json.ts'
import type { Comparison, Condition, FactDeclaration, Factor, FactType, PolicyData, Rule } from '../../policies/set.ts'
import type { Report } from '../diagnostics/report.ts'
import type { Node, Place, Source } from '../yaml/node.ts'

/** Names that the files of a set declare, to check references; and findings collected while reading. */
export interface Names {
  readonly report: Report
  /** Undefined when no file declares facts: then any path under context and plan may be read. */
  readonly facts: ReadonlyMap<string, FactDeclaration> | undefined
  /** Path texts of all declarations, faulty ones included: a reader of such a fact is not at fault too. */
  readonly declaredFacts: ReadonlySet<string>
  /** Types of the declared facts over time, by path text. */
  readonly overTime: ReadonlyMap<string, FactType>
  /** Facts that a misspelt one may mean. */
  readonly factNames: readonly string[]
  readonly lists: ReadonlyMap<string, readonly Json[]>
  /** The texts of lists that are kept in files, by the name of the list. */
  readonly listSources: ReadonlyMap<string, Source>
  readonly conditions: ReadonlyMap<string, Node>
  /** Places of their names. */
  readonly conditionKeys: ReadonlyMap<string, Place>
  /** Repeated declarations, which may be at fault too. */
  readonly repeatedConditions: readonly Node[]
  readonly conditionPlaces: PolicyData['conditionPlaces']
  readonly domains: ReadonlyMap<string, readonly Glob[]>
  /** True when some file or section could not be read: an unknown name may be declared there. */
  readonly unsure: boolean
  /** Names in use: of lists and conditions, and path texts of facts over time. */
  readonly used: { readonly lists: Set<string>; readonly conditions: Set<string>; readonly overTime: Set<string> }
  /** Nodes of the parts that were read. */
  readonly nodes: Map<Condition | Rule | Factor, Node>
  /** Comparisons of the leaves, by Leaf.index. */
  readonly comparisons: Comparison[]
  /** Leaf.index by the fact and comparison of the leaf. */
  readonly indexes: Map<string, number>
}
