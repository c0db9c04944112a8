import { globMatches } from '../../base/glob.ts'
import { isRequired } from '../actions.ts'
import { BUILT_IN_FACTS } from '../fact-names.ts'
import { leavesOf } from '../kleene.ts'
import type { Names } from '../names.ts'
import { memberOf, type Node } from '../node.ts'
import type { FactPath } from '../path.ts'
import type { Leaf, PolicyData, Rule } from '../set.ts'
import { placeOf } from './describe.ts'

/** Reports facts whose absence makes a restraining rule apply, where nothing shows that the author thought of it. */
export function reportUncertain(set: PolicyData, names: Names, actionNodes: ReadonlyMap<string, Node>): void {
  const reported = new Set<Leaf>()
  for (const rule of set.rules) {
    if (rule.effect === 'allow') continue
    for (const leaf of uncertainLeaves(rule, set, actionNodes)) {
      if (reported.has(leaf)) continue
      reported.add(leaf)
      const message = `Where ${leaf.fact.text} is missing, rule ${rule.id} applies; give it a default, require it in the schema, or ask with exists.`
      names.report.add('GATE2007', placeOf(leaf, names), message)
    }
  }
}

/** The leaves of a rule that read a fact which may be missing: without default, guard, or a schema that requires it. */
export function uncertainLeaves(
  { condition, actions }: Rule,
  set: PolicyData,
  actionNodes: ReadonlyMap<string, Node>,
): Leaf[] {
  if (condition === undefined) return []
  const leaves = leavesOf(condition, set.conditions)
  const guarded = new Set(leaves.filter(isPresenceTest).map(({ fact }) => fact.text))
  const isOpen = ({ fact }: Leaf): boolean =>
    !BUILT_IN_FACTS.has(fact.text) && !guarded.has(fact.text) && set.facts.get(fact.text)?.default === undefined
  const open = leaves.filter(isOpen)
  if (open.length === 0) return []
  const declared = [...actionNodes].filter(([name]) => actions.some((glob) => globMatches(glob, name)))
  // A plan may be left out, whatever its schema requires.
  const isCertain = ({ fact }: Leaf): boolean =>
    fact.root === 'context' &&
    declared.length > 0 &&
    declared.every(([, node]) => isRequired(memberOf(node, fact.root), plainSegments(fact)))
  return open.filter((leaf) => !isCertain(leaf))
}

export function isPresenceTest({ operator }: Leaf): boolean {
  return operator === 'exists' || operator === 'missing'
}

/** The names before a `*`, where there is one. */
function plainSegments({ segments }: FactPath): string[] {
  const names: string[] = []
  for (const segment of segments) {
    if (typeof segment !== 'string') break
    names.push(segment)
  }
  return names
}
