import { Almanac, Engine, Rule } from 'json-rules-engine'
import { breathe, MAX_WORK, spend, UNLIMITED, WEIGHTS, type Work } from '../base/work.ts'
import { DECORATORS, testFact } from './decorators.ts'
import { OPERATORS, type Test } from './operators.ts'
import type { Leaf, Question, ReadFacts, Truth } from './set.ts'

/**
 * The part of json-rules-engine that is used here. Its types lack Rule.evaluate and Rule.setEngine and
 * say that operators answer booleans, which the code neither needs nor checks. Engine.run is left out
 * on purpose: overlapping runs of one engine lose rules.
 */
interface LeafEngine {
  addOperator(name: string, test: (seen: Metered | undefined, index: number) => Truth): void
  addOperatorDecorator(
    name: string,
    test: (
      seen: Metered | undefined,
      index: number,
      next: (seen: Metered | undefined, index: number) => Truth,
    ) => Truth,
  ): void
}
interface LeafRule {
  setEngine(engine: LeafEngine): void
  evaluate(almanac: Almanac): Promise<{ conditions: { all: readonly { result?: Truth }[] } }>
}

/** The value of a fact with what its evaluation counts, which nothing else of json-rules-engine carries along. */
interface Metered {
  readonly value: unknown
  /** True when reading the fact takes more work than was left. */
  readonly isRefused: boolean
  /** True behind a decorator: what was prepared for one item serves the next. */
  readonly isItem: boolean
  readonly work: Work
  /** Leaf.index of comparisons that wanted more work than was left. */
  readonly overBudget: Set<number>
}

// Without caching, a constant fact is not hashed when it is added; its value never changes anyway.
const CONSTANT = { cache: false }

/** Comparisons beyond these are never asked, and need not be prepared. */
const MAX_COMPARISONS = Math.floor(MAX_WORK / WEIGHTS.comparison.units)
/** Comparisons that are evaluated at once: more of them share nothing, and make each one dearer. */
const AT_ONCE = 100

/** A comparison with its constant compiled in, by Leaf.index. */
type TestAt = (index: number) => Test | undefined

/**
 * Prepares distinct leaves for evaluation, many of an action in one json-rules-engine rule: each rule costs more
 * than its leaves. The engine is only a registry of operators: it is never run, and it has none of
 * json-rules-engine's own operators, which take a missing fact for a value. It is given Leaf.index as the
 * constant, so that it can neither copy nor interpret the real one.
 */
export function leafPreparer(testAt: TestAt): (leaves: readonly Leaf[]) => Question['answer'] {
  const engine = registryEngine(testAt)
  return (leaves) => {
    const parts = inParts(leaves.slice(0, MAX_COMPARISONS)).map((part) => ({ part, rule: leafRule(part, engine) }))
    return async (read, work) => {
      const truths = new Map<number, Truth>()
      for (const { part, rule } of parts) {
        await breathe(work)
        if (!spend(work, 'comparison', part.length)) break
        const overBudget = new Set<number>()
        const { conditions } = await rule.evaluate(almanacOf(read, work, overBudget))
        for (const [i, { index }] of part.entries()) {
          const result = conditions.all[i]?.result ?? 'unknown'
          if (result !== 'unknown' || !overBudget.has(index)) truths.set(index, result)
        }
      }
      return truths
    }
  }
}

function inParts(leaves: readonly Leaf[]): (readonly Leaf[])[] {
  const count = Math.ceil(leaves.length / AT_ONCE)
  return Array.from({ length: count }, (_, i) => leaves.slice(i * AT_ONCE, (i + 1) * AT_ONCE))
}

/** Only constants are added, so that nothing is computed, awaited or shared between two evaluations. */
function almanacOf({ facts, refused }: ReadFacts, work: Work, overBudget: Set<number>): Almanac {
  const almanac = new Almanac({ allowUndefinedFacts: true })
  const add = (name: string, metered: Metered): void => void almanac.addFact(name, metered, CONSTANT)
  for (const [name, value] of facts) add(name, { value, isRefused: false, isItem: false, work, overBudget })
  for (const name of refused) add(name, { value: undefined, isRefused: true, isItem: false, work, overBudget })
  return almanac
}

function registryEngine(testAt: TestAt): LeafEngine {
  const engine = new Engine([], { allowUndefinedFacts: true })
  // Rule.evaluate looks operators up in the engine, whose own ones are removed by name.
  for (const name of ['equal', 'notEqual', 'in', 'notIn', 'contains', 'doesNotContain']) engine.removeOperator(name)
  for (const name of ['lessThan', 'lessThanInclusive', 'greaterThan', 'greaterThanInclusive'])
    engine.removeOperator(name)
  for (const name of ['someFact', 'someValue', 'everyFact', 'everyValue', 'swap', 'not'])
    engine.removeOperatorDecorator(name)
  const registry = engine as unknown as LeafEngine // see LeafEngine
  for (const operator of OPERATORS.values()) {
    registry.addOperator(operator.name, (seen, index) => {
      const test = testAt(index)
      if (test === undefined) return 'unknown'
      // Nothing is counted where there is no value to compare.
      if (seen === undefined) return testFact(operator, test, undefined, UNLIMITED)
      // What an item is refused, its decorator notes.
      if (seen.isItem) return testFact(operator, test, seen.value, seen.work)
      return noting(seen, index, () => testFact(operator, test, seen.value, seen.work))
    })
  }
  for (const [name, decorate] of DECORATORS) {
    registry.addOperatorDecorator(name, (seen, index, next) => {
      if (seen === undefined) return decorate(undefined, () => next(undefined, index), UNLIMITED)
      const { work, overBudget } = seen
      return noting(seen, index, () =>
        decorate(seen.value, (value) => next({ value, isRefused: false, isItem: true, work, overBudget }, index), work),
      )
    })
  }
  return registry
}

/** Notes a comparison during which work was refused, or before it, when its fact was read. */
function noting({ work, overBudget, isRefused }: Metered, index: number, compare: () => Truth): Truth {
  if (work.prepared !== undefined && work.prepared.size > 0) work.prepared.clear()
  const before = isRefused ? -1 : work.refused
  const truth = isRefused ? 'unknown' : compare()
  if (work.refused > before) overBudget.add(index)
  return truth
}

function leafRule(leaves: readonly Leaf[], engine: LeafEngine): LeafRule {
  const all = leaves.map(({ fact, operator, index }) => ({ fact: fact.text, operator, value: index }))
  const rule = new Rule({ conditions: { all }, event: { type: 'leaves' } }) as unknown as LeafRule // see LeafEngine
  rule.setEngine(engine)
  return rule
}
