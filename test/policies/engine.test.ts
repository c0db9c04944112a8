import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Almanac, type Engine, Rule } from 'json-rules-engine'
import type { Json } from '../../src/base/json.ts'
import { newWork } from '../../src/base/work.ts'
import { comparisonTests, DECORATORS } from '../../src/policies/decorators.ts'
import { leafPreparer, registryOf } from '../../src/policies/engine.ts'
import { OPERATORS } from '../../src/policies/operators.ts'
import { parseFactPath } from '../../src/policies/path.ts'
import type { Leaf, Truth } from '../../src/policies/set.ts'
import { runs } from '../tier.ts'

const FACTS = ['a', 'b', 'c'].map((name) => parseFactPath(`context.${name}`) ?? assert.fail())
const LISTS = new Map<string, Json[]>([['known', ['a', 'ab', 1]]])

const decorators = fc.array(fc.constantFrom(...DECORATORS.keys()), { maxLength: 3 })
const operator = fc
  .tuple(decorators, fc.constantFrom(...OPERATORS.keys()))
  .map(([before, name]) => [...before, name].join(':'))
const scalar = fc.constantFrom<Json>('a', 'ab', '', 0, 1, 1.5, true, false, '10.0.0.1', '2026-03-01T10:00:00Z')
const wanted = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.constantFrom('known', '10.0.0.0/8', '^a+b?$', '('),
)
const leaf = fc.record({ fact: fc.constantFrom(...FACTS), operator, wanted })
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 3, arbitrary: fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 4 }) },
  fc.constantFrom<Json>(null, {}),
)
const facts = fc.dictionary(fc.constantFrom(...FACTS.map(({ text }) => text)), value)

/** The answers of a json-rules-engine rule of these leaves. */
async function byRule(leaves: readonly Leaf[], seen: ReadonlyMap<string, Json>): Promise<Map<number, Truth>> {
  const all = leaves.map(({ fact, operator, index }) => ({ fact: fact.text, operator, value: index }))
  const rule = new Rule({ conditions: { all }, event: { type: 'leaves' } }) as Rule & {
    setEngine(engine: Engine): void
    evaluate(almanac: Almanac): Promise<{ conditions: { all: readonly { result: Truth }[] } }>
  }
  rule.setEngine(registryOf(comparisonTests({ comparisons: leaves, lists: LISTS })) as unknown as Engine)
  const almanac = new Almanac()
  const work = newWork()
  for (const { text } of FACTS) almanac.addFact(text, { value: seen.get(text), work }, { cache: false })
  const { conditions } = await rule.evaluate(almanac)
  return new Map(conditions.all.map(({ result }, index) => [index, result]))
}

test('operators that are asked directly answer as in a rule of json-rules-engine', async () => {
  const counts: Record<Truth, number> = { true: 0, false: 0, unknown: 0 }
  const property = fc.asyncProperty(fc.array(leaf, { minLength: 1, maxLength: 5 }), facts, async (asked, given) => {
    const leaves = asked.map((one, index): Leaf => ({ ...one, kind: 'leaf', index, file: 'p.yaml', line: 1 }))
    const seen = new Map(Object.entries(given))
    const answer = leafPreparer(comparisonTests({ comparisons: leaves, lists: LISTS }))(leaves)
    const truths = await answer({ facts: seen, refused: new Set() }, newWork(), true)
    assert.deepEqual(truths, await byRule(leaves, seen))
    for (const truth of truths.values()) counts[truth] += 1
  })
  const numRuns = runs(100_000)
  await fc.assert(property, { numRuns })
  for (const count of Object.values(counts)) assert.ok(count > numRuns / 10, JSON.stringify(counts))
})

test('a leaf with an operator that is not there is not prepared', () => {
  const [fact = assert.fail()] = FACTS
  const odd = (operator: string): Leaf => ({ kind: 'leaf', fact, operator, wanted: 1, index: 0, file: 'p', line: 1 })
  const prepare = leafPreparer(() => undefined)
  for (const name of ['swap:equal', 'someValue:equal', 'equals', '', 'not:']) assert.throws(() => prepare([odd(name)]))
})
