import { Engine } from 'json-rules-engine'
import { beginComparison, MAX_WORK, othersTurn, spend, WEIGHTS, type Work } from '../base/work.ts'
import { DECORATORS, testFact } from './decorators.ts'
import { OPERATORS, type Test } from './operators.ts'
import type { Leaf, Question, ReadFacts, Truth, Truths } from './set.ts'

/**
 * The part of json-rules-engine that is used here. Its types lack Engine.operators and say that operators answer
 * booleans, which the code neither needs nor checks. Engine.run is left out on purpose: overlapping runs of one engine
 * lose rules.
 */
interface Registry {
  addOperator(name: string, test: (seen: Metered, index: number) => Truth): void
  addOperatorDecorator(
    name: string,
    test: (seen: Metered, index: number, next: (seen: Metered, index: number) => Truth) => Truth,
  ): void
  readonly operators: {
    /** The operator behind its decorators, as in `not:someFact:equal`; null when a part is unknown. */
    get(name: string): { evaluate(seen: Metered, index: number): Truth } | null
  }
}

/** The value of a fact with the work of its evaluation, which nothing else of json-rules-engine carries along. */
interface Metered {
  readonly value: unknown
  readonly work: Work
}

/** Comparisons beyond these are never asked, and need not be prepared. */
const MAX_COMPARISONS = Math.floor(MAX_WORK / WEIGHTS.comparison.units)
/** Comparisons that are charged together. */
const AT_ONCE = 100

/** A comparison with its constant compiled in, by Leaf.index. */
type TestAt = (index: number) => Test | undefined

/**
 * Prepares distinct leaves for evaluation. The operators of json-rules-engine are asked directly (docs/decisions/0032):
 * one answer of a rule takes seven promises and a clone of its conditions.
 *
 * @throws TypeError for a leaf with an unknown operator
 */
export function leafPreparer(testAt: TestAt): (leaves: readonly Leaf[], guards?: Guards) => Question['answer'] {
  const { operators } = registryOf(testAt)
  return (leaves, guards = NO_GUARDS) => {
    const prepared = leaves.slice(0, MAX_COMPARISONS).map(({ fact, operator: name, index }): PreparedLeaf => {
      const operator = operators.get(name)
      if (operator === null) throw new TypeError(`There is no operator ${name}.`)
      return { fact: fact.text, operator, index, guard: guards.get(index) }
    })
    return (read, work, isComplete) => {
      const truths = new Map<number, Truth>()
      const skipped: PreparedLeaf[] = []
      const answerFrom = (asked: readonly PreparedLeaf[], first: number): Truths | Promise<Truths> => {
        const isFirstPass = asked === prepared
        for (let i = first, leaf = asked[i]; leaf !== undefined; leaf = asked[++i]) {
          if (isFirstPass && i % AT_ONCE === 0 && !spend(work, 'comparison', Math.min(AT_ONCE, asked.length - i))) break
          if (isFirstPass && leaf.guard !== undefined && truths.get(leaf.guard) === 'false') {
            if (isComplete) skipped.push(leaf)
            continue
          }
          answerLeaf(leaf, read, work, truths)
          const turn = othersTurn(work)
          if (turn !== undefined) return turn.then(() => answerFrom(asked, i + 1))
        }
        return isFirstPass && isComplete ? answerFrom(skipped, 0) : truths
      }
      return answerFrom(prepared, 0)
    }
  }
}

/** By Leaf.index, the leaf whose falsehood makes it needless. */
export type Guards = ReadonlyMap<number, number>

const NO_GUARDS: Guards = new Map()

interface PreparedLeaf {
  fact: string
  operator: { evaluate(seen: Metered, index: number): Truth }
  index: number
  guard: number | undefined
}

function answerLeaf(
  { fact, operator, index }: PreparedLeaf,
  { facts, refused }: ReadFacts,
  work: Work,
  truths: Map<number, Truth>,
): void {
  // A fact that was too large to read is over the budget, whatever it is compared with.
  if (refused.size > 0 && refused.has(fact)) return
  const before = work.refused
  beginComparison(work)
  const truth = operator.evaluate({ value: facts.get(fact), work }, index)
  if (truth !== 'unknown' || work.refused === before) truths.set(index, truth)
}

/**
 * An engine that is only a registry of operators: it is never run, and it has none of json-rules-engine's own operators,
 * which take a missing fact for a value. They get Leaf.index as the constant, which can be neither copied nor
 * interpreted.
 */
export function registryOf(testAt: TestAt): Registry {
  const engine = new Engine()
  // Operators are looked up in the engine, whose own ones are removed by name.
  for (const name of ['equal', 'notEqual', 'in', 'notIn', 'contains', 'doesNotContain']) engine.removeOperator(name)
  for (const name of ['lessThan', 'lessThanInclusive', 'greaterThan', 'greaterThanInclusive'])
    engine.removeOperator(name)
  for (const name of ['someFact', 'someValue', 'everyFact', 'everyValue', 'swap', 'not'])
    engine.removeOperatorDecorator(name)
  const registry = engine as unknown as Registry // see Registry
  for (const operator of OPERATORS.values()) {
    registry.addOperator(operator.name, ({ value, work }, index) => {
      const test = testAt(index)
      return test === undefined ? 'unknown' : testFact(operator, test, value, work)
    })
  }
  for (const [name, decorate] of DECORATORS) {
    registry.addOperatorDecorator(name, ({ value, work }, index, next) =>
      decorate(value, (item) => next({ value: item, work }, index), work),
    )
  }
  return registry
}
