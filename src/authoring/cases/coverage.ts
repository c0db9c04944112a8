import type { Json } from '../../base/json.ts'
import type { Judgement } from '../../gate/judge.ts'
import { type Candidate, enforcedRules, type Factor, type Leaf, type PolicySet, type Rule } from '../../policies/set.ts'
import { leafText } from '../lint/describe.ts'
import { type Boundary, boundariesOf } from './boundaries.ts'
import { type PossibleTruths, possibleTruths } from './possible-truths.ts'

/** Branches of a rule, a factor or a comparison; `decided` belongs to rules alone. */
const BRANCHES = ['true', 'false', 'unknown', 'decided'] as const
export type Branch = (typeof BRANCHES)[number]

export interface CoverageItem {
  readonly kind: 'rule' | 'factor' | 'comparison'
  /** The rule's id, the factor's name, or the comparison as it is written: `context.amount greaterThan 1000`. */
  readonly name: string
  readonly file: string
  readonly line: number
  /** Number of cases that evaluated it. */
  readonly asked: number
  /** Number of cases that reached each branch, of those branches that are possible. */
  readonly seen: ReadonlyMap<Branch, number>
  /** Number of cases with a value on each side of the comparison's threshold. */
  readonly boundaries: ReadonlyMap<Boundary, number>
}

interface Counter extends CoverageItem {
  asked: number
  readonly seen: Map<Branch, number>
  readonly boundaries: Map<Boundary, number>
}

/** Counts the branches of a set that cases reach. */
export function coverageOf(set: PolicySet) {
  const counters = new Map<Candidate | Leaf, Counter>()
  const leavesBelow = new Map<Candidate, readonly Leaf[]>()
  // Tests ask what is enforced.
  for (const candidate of [...enforcedRules(set), ...set.factors]) {
    const possible = possibleTruths(set, candidate)
    leavesBelow.set(candidate, [...possible.leaves.keys()])
    addCandidate(counters, candidate, possible)
  }
  const count = (of: Candidate | Leaf, outcomes: readonly Branch[], value?: Json): void => {
    const known = counters.get(of)
    if (known === undefined) return
    known.asked += 1
    for (const outcome of outcomes) {
      const times = known.seen.get(outcome)
      if (times !== undefined) known.seen.set(outcome, times + 1)
    }
    if (value === undefined) return
    for (const [boundary, times] of known.boundaries) if (boundary.has(value)) known.boundaries.set(boundary, times + 1)
  }
  return {
    add({ outcome, evaluation }: Judgement): void {
      // A request that does not fit its schema is denied before any rule is evaluated.
      if (evaluation === undefined || outcome.decidedBy === 'invalid_context') return
      for (const { rule, outcome: truth } of evaluation.rules)
        count(rule, outcome.rule === rule.id ? [truth, 'decided'] : [truth])
      for (const { factor, outcome: truth } of evaluation.factors) count(factor, [truth])
      const asked = [...evaluation.rules.map(({ rule }) => rule), ...evaluation.factors.map(({ factor }) => factor)]
      const leaves = new Set(asked.flatMap((candidate) => leavesBelow.get(candidate) ?? []))
      for (const leaf of leaves)
        count(leaf, [evaluation.truths.get(leaf.index) ?? 'unknown'], evaluation.facts.get(leaf.fact.text))
    },
    /** By file and line. */
    items: (): readonly CoverageItem[] => [...counters.values()].sort(compareItems),
  }
}

function addCandidate(
  counters: Map<Candidate | Leaf, Counter>,
  candidate: Rule | Factor,
  { whole, leaves }: PossibleTruths,
): void {
  const own =
    'id' in candidate
      ? counter('rule', candidate.id, candidate, [...whole, 'decided'])
      : counter('factor', candidate.name, candidate, [...whole])
  counters.set(candidate, own)
  for (const [leaf, possible] of leaves) {
    // A leaf of a named condition belongs to several candidates; a branch possible for one of them is possible.
    const known = counters.get(leaf)?.seen.keys() ?? []
    const own = counter('comparison', leafText(leaf, Number.POSITIVE_INFINITY), leaf, [...known, ...possible])
    counters.set(leaf, { ...own, boundaries: new Map(boundariesOf(leaf).map((boundary) => [boundary, 0])) })
  }
}

function counter(
  kind: CoverageItem['kind'],
  name: string,
  { file, line }: { readonly file: string; readonly line: number },
  outcomes: readonly Branch[],
): Counter {
  const seen = new Map(BRANCHES.filter((outcome) => outcomes.includes(outcome)).map((outcome) => [outcome, 0]))
  return { kind, name, file, line, asked: 0, seen, boundaries: new Map() }
}

function compareItems(a: CoverageItem, b: CoverageItem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.line - b.line
}

type CoverageTotal = ReturnType<typeof coverageTotal>

/** The covered part of the possible branches, and of the sides of thresholds. */
export function coverageTotal(items: readonly CoverageItem[]) {
  const isCovered = (count: number): boolean => count > 0
  const times = items.flatMap(({ seen }) => [...seen.values()])
  const sides = items.flatMap(({ boundaries }) => [...boundaries.values()])
  return {
    outcomes: times.length,
    covered: times.filter(isCovered).length,
    boundaries: sides.length,
    boundariesCovered: sides.filter(isCovered).length,
  }
}

/** A percentage with one decimal, rounded down, so that only complete coverage is 100. */
export function percentOf({ outcomes, covered }: Pick<CoverageTotal, 'outcomes' | 'covered'>): number {
  return outcomes === 0 ? 100 : Math.floor((covered * 1000) / outcomes) / 10
}

/** The possible branches that no case has reached. */
export function missingOf({ seen }: CoverageItem): Branch[] {
  return [...seen].flatMap(([outcome, times]) => (times === 0 ? [outcome] : []))
}

/** The sides of its threshold on which no case has a value. */
export function missingBoundariesOf({ boundaries }: CoverageItem): Boundary[] {
  return [...boundaries].flatMap(([boundary, times]) => (times === 0 ? [boundary] : []))
}
