import { grouped } from '../../base/grouped.ts'
import { memo } from '../../base/memo.ts'
import { combiner, distinctLeaves, leavesOf } from '../../policies/kleene.ts'
import type { FactPath } from '../../policies/path.ts'
import type { Condition, Leaf, PolicyData, Truth } from '../../policies/set.ts'
import { leafAsker } from './asked.ts'
import type { Budget } from './budget.ts'
import { type Cell, cellsOf } from './cells.ts'
import { type Declared, type Known, knownOf, type Scope } from './known.ts'

/** A condition and its required outcome. */
interface Goal {
  readonly condition: Condition
  readonly holds: (truth: Truth) => boolean
}

/** `unclear` when it was not possible to try everything. */
type Found = 'found' | 'none' | 'unclear'

/** Called with the truths of the goals' conditions for a request that meets them; true to stop. */
type Visit = (truths: readonly Truth[]) => boolean

export type Search = ReturnType<typeof createSearch>

/** Most nodes of all conditions of one search, and most steps that it may take. */
const MAX_NODES = 200
const MAX_STEPS = 20_000
const SEARCH_COST = 10

/** The leaves about one fact, and their possible combined outcomes. */
interface Axis {
  readonly leaves: readonly Leaf[]
  readonly cells: readonly Cell[]
  /** Positions of the goals that are certain once this fact and those before it are chosen. */
  readonly goals: readonly number[]
}

/** Tries all requests that conditions can distinguish. */
export function createSearch(declared: Declared, budget: Budget) {
  const { set } = declared
  const ask = leafAsker(declared, budget)
  const leavesBelow = memo((condition: Condition) => distinctLeaves(leavesOf(condition, set.conditions)))
  const sizeOf = nodeCounter(set)
  const axesOf = (goals: readonly Goal[], scope: Scope): Axis[] | undefined => {
    const read = goals.flatMap(({ condition }, goal) => leavesBelow(condition).map((leaf) => ({ leaf, goal })))
    const byFact = grouped(read, ({ leaf }) => leaf.fact.text)
    const axes: Axis[] = []
    const later = new Set<number>()
    for (const group of [...byFact.values()].reverse()) {
      const leaves = distinctLeaves(group.map(({ leaf }) => leaf))
      const asked = leaves.map(ask)
      const [first] = leaves
      if (first === undefined || !asked.every((one) => one !== undefined)) return undefined
      const cells = cellsOf(asked, knownOf(first.fact, scope, declared), budget)
      if (cells === undefined) return undefined
      const certain = new Set(group.map(({ goal }) => goal).filter((goal) => !later.has(goal)))
      axes.unshift({ leaves, cells, goals: [...certain] })
      for (const goal of certain) later.add(goal)
    }
    return axes
  }
  return {
    /** The distinct leaves below a condition, in document order. */
    leavesOf: leavesBelow,
    /** False when the budget is spent; the cost is that of the work before the next search. */
    mayGoOn: budget.spend,
    knownOf: (fact: FactPath, scope: Scope): Known => knownOf(fact, scope, declared),
    /** Searches for a request about these actions that meets all goals. */
    search(goals: readonly Goal[], scope: Scope, visit: Visit = () => true): Found {
      if (!budget.spend(SEARCH_COST)) return 'unclear'
      const size = goals.reduce((sum, { condition }) => sum + sizeOf(condition), 0)
      const axes = size > MAX_NODES ? undefined : axesOf(goals, scope)
      return axes === undefined ? 'unclear' : walk({ axes, goals, cost: size, budget, visit }, set)
    },
  }
}

/** Nodes of a condition, those of named ones counted at each use. */
function nodeCounter({ conditions }: PolicyData): (condition: Condition) => number {
  const sizeOf = (node: Condition): number => {
    if (node.kind === 'leaf') return 1
    if (node.kind === 'condition') return 1 + sizeOfNamed(node.name)
    if (node.kind === 'not') return 1 + sizeOf(node.condition)
    return node.conditions.reduce((sum, part) => sum + sizeOf(part), 1)
  }
  const sizeOfNamed = memo((name: string): number => {
    const named = conditions.get(name)
    return named === undefined ? 0 : sizeOf(named)
  })
  return memo(sizeOf)
}

interface Walk {
  readonly axes: readonly Axis[]
  readonly goals: readonly Goal[]
  /** Cost of evaluating all goals once. */
  readonly cost: number
  readonly budget: Budget
  readonly visit: Visit
}

function walk({ axes, goals, cost, budget, visit }: Walk, { conditions }: PolicyData): Found {
  const chosen = new Map<number, Truth>()
  const outcomes: Truth[] = goals.map(() => 'unknown')
  const truthOf = ({ index }: Leaf): Truth => chosen.get(index) ?? 'unknown'
  const isMet = (i: number): boolean => {
    const goal = goals[i]
    if (goal === undefined) return false
    const truth = combiner(conditions, truthOf)(goal.condition)
    outcomes[i] = truth
    return goal.holds(truth)
  }
  let steps = 0
  const from = (depth: number): Found => {
    const axis = axes[depth]
    if (axis === undefined) return visit(outcomes) ? 'found' : 'none'
    for (const cell of axis.cells) {
      steps += 1
      if (steps > MAX_STEPS || !budget.spend(axis.goals.length === 0 ? 1 : cost)) return 'unclear'
      for (const [i, { index }] of axis.leaves.entries()) chosen.set(index, cell[i] ?? 'unknown')
      const found = axis.goals.every(isMet) ? from(depth + 1) : 'none'
      if (found !== 'none') return found
    }
    return 'none'
  }
  return from(0)
}
