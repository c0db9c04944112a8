import { Almanac, Engine, Rule } from 'json-rules-engine'
import type { Json } from '../base/json.ts'
import { DECORATORS, testFact } from './decorators.ts'
import { OPERATORS, type Test } from './operators.ts'
import type { FactValues, Leaf, PreparedCondition, Truth } from './set.ts'

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

interface AlmanacValues extends FactValues {
  readonly almanac: Almanac
}

// Without caching, a constant fact is not hashed when it is added; its value never changes anyway.
const CONSTANT = { cache: false }

/** Only constants are added, so that nothing is computed, awaited or shared between two evaluations. */
export function factValues(values: ReadonlyMap<string, Json>): FactValues {
  const almanac = new Almanac({ allowUndefinedFacts: true })
  for (const [name, value] of values) almanac.addFact(name, value, CONSTANT)
  const facts: AlmanacValues = { values, almanac }
  return facts
}

/**
 * Makes the preparer of a set's conditions. The engine is only a registry of operators: it is never
 * run, and it has none of json-rules-engine's own operators, which take a missing fact for a value.
 *
 * @param tests The compiled constants, by Leaf.index. The engine is given the index as the constant,
 *   so that it can neither copy nor interpret what it stands for.
 */
export function conditionPreparer(tests: readonly Test[]): (leaves: readonly Leaf[]) => PreparedCondition {
  const engine = registryEngine(tests)
  return (leaves) => {
    const distinct = [...new Map(leaves.map((leaf) => [leaf.index, leaf])).values()]
    const rule = leafRule(distinct, engine)
    return {
      leaves: distinct,
      facts: [...new Map(distinct.map(({ fact }) => [fact.text, fact])).values()],
      run: async (facts) => {
        const { conditions } = await rule.evaluate(almanacOf(facts))
        return conditions.all.map(({ result }) => result ?? 'unknown')
      },
    }
  }
}

function registryEngine(tests: readonly Test[]): LeafEngine {
  const engine = new Engine([], { allowUndefinedFacts: true })
  // `operators` is what Rule.evaluate looks up; its default content is taken out by name.
  for (const name of ['equal', 'notEqual', 'in', 'notIn', 'contains', 'doesNotContain']) engine.removeOperator(name)
  for (const name of ['lessThan', 'lessThanInclusive', 'greaterThan', 'greaterThanInclusive'])
    engine.removeOperator(name)
  for (const name of ['someFact', 'someValue', 'everyFact', 'everyValue', 'swap', 'not'])
    engine.removeOperatorDecorator(name)
  const registry = engine as unknown as LeafEngine // see LeafEngine
  for (const operator of OPERATORS.values()) {
    registry.addOperator(operator.name, (seen, index) => {
      const test = tests[index]
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

function almanacOf(facts: FactValues): Almanac {
  return (facts as AlmanacValues).almanac // made by factValues, the only maker
}
