import { memo } from '../../base/memo.ts'
import { allTruths, anyTruth, leavesOf, notTruth } from '../../policies/kleene.ts'
import type { Candidate, Condition, Factor, Leaf, PolicySet, Rule, Truth } from '../../policies/set.ts'
import { pairwise } from '../lint/truths.ts'
import { declaredFor, isPresenceTest, mayBeMissing, type Presence } from '../schemas/presence.ts'

/** Outcomes that are possible for requests that fit their schemas. */
type Possible = ReadonlySet<Truth>

const TRUTHS: readonly Truth[] = ['true', 'false', 'unknown']

/** Possible outcomes of a rule or factor, and of each leaf below it. */
export interface PossibleTruths {
  readonly whole: Possible
  readonly leaves: ReadonlyMap<Leaf, Possible>
}

/**
 * Possible outcomes by what is known of facts: `exists` is never unknown. Nor is a comparison of a fact that has a
 * default, or that every schema requires. A fact of the wrong type does not count: a schema refuses it.
 */
export function possibleTruths(set: PolicySet, candidate: Rule | Factor): PossibleTruths {
  const presence = { ...set, contextsOf: memo((about: Pick<Candidate, 'actions'>) => declaredFor(about, set.actions)) }
  const mayLack = (leaf: Pick<Leaf, 'fact'>): boolean => mayLackFact(leaf, set, candidate, presence)
  const { condition } = candidate
  const leaves = condition === undefined ? [] : leavesOf(condition, set.conditions)
  const ofLeaf = new Map(leaves.map((leaf) => [leaf, leafOutcomes(leaf, mayLack(leaf))]))
  // A condition that tests a fact's presence handles its absence: the whole is not unknown for that.
  const guarded = new Set(leaves.filter(isPresenceTest).map(({ fact }) => fact.text))
  const inWhole = (leaf: Leaf): Possible =>
    guarded.has(leaf.fact.text) ? without(ofLeaf.get(leaf), 'unknown') : (ofLeaf.get(leaf) ?? new Set())
  const when: Possible = condition === undefined ? new Set(['true']) : outcomesOf(condition, set.conditions, inWhole)
  const isUncertain = 'scale' in candidate && candidate.scale !== undefined && mayLack(candidate.scale)
  return { whole: isUncertain ? new Set([...when, 'unknown']) : when, leaves: ofLeaf }
}

function mayLackFact({ fact }: Pick<Leaf, 'fact'>, set: PolicySet, candidate: Candidate, presence: Presence): boolean {
  if (fact.text !== 'domain') return mayBeMissing(fact, candidate, presence)
  const covered = new Set([...set.domains.values()].flatMap((globs) => globs.map(({ text }) => text)))
  return candidate.actions.some(({ text, exact }) =>
    exact ? set.evaluator.about(text).domain === undefined : !covered.has(text),
  )
}

function leafOutcomes(leaf: Leaf, mayLack: boolean): Possible {
  if (!isPresenceTest(leaf)) return new Set(mayLack ? TRUTHS : ['true', 'false'])
  if (mayLack) return new Set(['true', 'false'])
  return new Set([leaf.operator === 'exists' ? 'true' : 'false'])
}

function without(possible: Possible | undefined, truth: Truth): Possible {
  return new Set([...(possible ?? [])].filter((one) => one !== truth))
}

/** Possible outcomes of the whole when its parts vary independently. */
export function outcomesOf(
  condition: Condition,
  named: ReadonlyMap<string, Condition>,
  ofLeaf: (leaf: Leaf) => Possible,
): Possible {
  const known = new Map<string, Possible>()
  const walk = (node: Condition): Possible => {
    if (node.kind === 'leaf') return ofLeaf(node)
    if (node.kind === 'not') return new Set([...walk(node.condition)].map(notTruth))
    if (node.kind === 'all') return node.conditions.map(walk).reduce(pairwise(allTruths))
    if (node.kind === 'any') return node.conditions.map(walk).reduce(pairwise(anyTruth))
    const target = named.get(node.name)
    const possible = known.get(node.name) ?? (target === undefined ? new Set<Truth>() : walk(target))
    known.set(node.name, possible)
    return possible
  }
  return walk(condition)
}
