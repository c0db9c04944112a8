import { memo } from '../base/memo.ts'
import type { Evaluation } from '../policies/evaluate.ts'
import { combiner } from '../policies/kleene.ts'
import type { Condition, Leaf, PolicySet, Truth } from '../policies/set.ts'
import { type Shown, shortText, shown } from './shown.ts'

/** Most conditions shown in all, those of the deciding rule first. Each rule and factor shows at least one. */
export const MAX_CONDITIONS = 500
/** Most levels of nested conditions: readers of the explanation have limits too. */
const MAX_DEPTH = 24
/** Load refuses names that are not declared. */
const NOWHERE = { file: '', line: 0 }

/** A condition with its outcome, and with all conditions below it. */
export type ExplainedCondition = ExplainedLeaf | ExplainedGroup | ExplainedReference

export interface ExplainedLeaf {
  readonly kind: 'leaf'
  readonly outcome: Truth
  readonly fact: string
  /** With its decorators: `not:someFact:equal`. */
  readonly operator: string
  readonly wanted: Shown
  /** Null when the fact is missing and has no default. */
  readonly seen: Shown | null
  /** The fact was missing: `seen` is its declared default. */
  readonly defaulted?: true
  /** The comparison takes more work than one check may do, which is why its outcome is unknown. */
  readonly overBudget?: true
  readonly file: string
  readonly line: number
}

interface ExplainedGroup {
  readonly kind: 'all' | 'any' | 'not'
  readonly outcome: Truth
  readonly conditions: readonly ExplainedCondition[]
  /** Number of its conditions that are not shown, since the explanation would be too long. */
  readonly leftOut: number
}

/** A named condition where it is used. */
export interface ExplainedReference extends Omit<ExplainedGroup, 'kind'> {
  readonly kind: 'condition'
  readonly name: string
  /** Place of its declaration. */
  readonly file: string
  readonly line: number
  /** The condition that it names; empty where the same rule or factor has shown it before. */
  readonly conditions: readonly ExplainedCondition[]
}

/** Explains one condition after the other. When there is no more room, only the outermost part of each is shown. */
export function explainerOf(
  set: PolicySet | undefined,
  evaluation: Evaluation | undefined,
): (condition: Condition | undefined) => { condition?: ExplainedCondition } {
  if (set === undefined || evaluation === undefined) return () => ({})
  const explainLeaf = leafExplainer(evaluation)
  const truthOf = combiner(set.conditions, ({ index }) => truthAt(evaluation, index))
  let room = MAX_CONDITIONS

  const within = (entered: Set<string>) => {
    const explain = (node: Condition, depth: number): ExplainedCondition => {
      room -= 1
      if (node.kind === 'leaf') return explainLeaf(node)
      const outcome = truthOf(node)
      if (node.kind === 'not') return { kind: 'not', outcome, ...below([node.condition], outcome, depth) }
      if (node.kind !== 'condition') return { kind: node.kind, outcome, ...below(node.conditions, outcome, depth) }
      const { name } = node
      const target = entered.has(name) ? undefined : set.conditions.get(name)
      entered.add(name)
      const content = below(target === undefined ? [] : [target], outcome, depth)
      return { kind: 'condition', outcome, name, ...(set.conditionPlaces.get(name) ?? NOWHERE), ...content }
    }
    const below = (conditions: readonly Condition[], outcome: Truth, depth: number) => {
      const explained: ExplainedCondition[] = []
      for (const node of depth < MAX_DEPTH ? decisiveFirst(conditions, outcome) : []) {
        if (room <= 0) break
        explained.push(explain(node, depth + 1))
      }
      return { conditions: explained, leftOut: conditions.length - explained.length }
    }
    return explain
  }
  /** The conditions in written order; without room for all, those that make the outcome come first. */
  const decisiveFirst = (conditions: readonly Condition[], outcome: Truth): readonly Condition[] => {
    if (conditions.length <= room) return conditions
    const isDecisive = (node: Condition): boolean => truthOf(node) === outcome
    return [...conditions.filter(isDecisive), ...conditions.filter((node) => !isDecisive(node))]
  }
  return (condition) => (condition === undefined ? {} : { condition: within(new Set())(condition, 1) })
}

/** Comparisons with their values shortened; each value once, since many comparisons may read the same one. */
function leafExplainer(evaluation: Evaluation): (leaf: Leaf) => ExplainedLeaf {
  const shownOnce = memo(shown)
  return ({ fact, operator, wanted, index, file, line }) => {
    const seen = evaluation.facts.get(fact.text)
    return {
      kind: 'leaf',
      outcome: truthAt(evaluation, index),
      fact: shortText(fact.text),
      operator: shortText(operator),
      wanted: shownOnce(wanted),
      seen: seen === undefined ? null : shownOnce(seen),
      ...(evaluation.defaulted.has(fact.text) && { defaulted: true }),
      ...(!evaluation.truths.has(index) && { overBudget: true }),
      file,
      line,
    }
  }
}

function truthAt({ truths }: Evaluation, index: number): Truth {
  return truths.get(index) ?? 'unknown'
}
