import { Almanac, Engine, Rule } from 'json-rules-engine'
import { DECORATORS, testFact } from './decorators.ts'
import { OPERATORS, type Test } from './operators.ts'
import type { FactValues, Leaf, Question, Truth } from './set.ts'

/**
 * The part of json-rules-engine that is used here. Its types lack Rule.evaluate and Rule.setEngine and
 * say that operators answer booleans, which the code neither needs nor checks. Engine.run is left out
 * on purpose: overlapping runs of one engine lose rules.
 */
interface LeafEngine {
  addOperator(name: string, test: (seen: unknown, index: number) => Truth): void
  addOperatorDecorator(
    name: string,
    test: (seen: unknown, index: number, next: (seen: unknown, index: number) => Truth) => Truth,
  ): void
}
interface LeafRule {
  setEngine(engine: LeafEngine): void
  evaluate(almanac: Almanac): Promise<{ conditions: { all: readonly { result?: Truth }[] } }>
}

// Without caching, a constant fact is not hashed when it is added; its value never changes anyway.
const CONSTANT = { cache: false }

/** A comparison with its constant compiled in, by Leaf.index. */
type TestAt = (index: number) => Test | undefined

/**
 * Prepares distinct leaves for evaluation, all of an action in one json-rules-engine rule: each rule costs more
 * than its leaves. The engine is only a registry of operators: it is never run, and it has none of
 * json-rules-engine's own operators, which take a missing fact for a value. It is given Leaf.index as the
 * constant, so that it can neither copy nor interpret the real one.
 */
export function leafPreparer(testAt: TestAt): (leaves: readonly Leaf[]) => Question['answer'] {
  const engine = registryEngine(testAt)
  return (leaves) => {
    if (leaves.length === 0) return async () => new Map()
    const rule = leafRule(leaves, engine)
    return async (facts) => {
      const { conditions } = await rule.evaluate(almanacOf(facts))
      return new Map(leaves.map(({ index }, i) => [index, conditions.all[i]?.result ?? 'unknown']))
    }
  }
}

/** Only constants are added, so that nothing is computed, awaited or shared between two evaluations. */
function almanacOf(facts: FactValues): Almanac {
  const almanac = new Almanac({ allowUndefinedFacts: true })
  for (const [name, value] of facts) almanac.addFact(name, value, CONSTANT)
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
      return test === undefined ? 'unknown' : testFact(operator, test, seen)
    })
  }
  for (const [name, decorate] of DECORATORS) {
    registry.addOperatorDecorator(name, (seen, index, next) => decorate(seen, (item) => next(item, index)))
  }
  return registry
}

function leafRule(leaves: readonly Leaf[], engine: LeafEngine): LeafRule {
  const all = leaves.map(({ fact, operator, index }) => ({ fact: fact.text, operator, value: index }))
  const rule = new Rule({ conditions: { all }, event: { type: 'leaves' } }) as unknown as LeafRule // see LeafEngine
  rule.setEngine(engine)
  return rule
}
