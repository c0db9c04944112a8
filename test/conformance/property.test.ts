import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import fc from 'fast-check'
import { askCode, compare, load } from '../../conformance/compare.ts'
import type { AgtAction, AgtPolicy, Recorded } from '../../conformance/table.ts'
import { translate } from '../../conformance/translate.ts'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { evaluate } from './reference.ts'

const FIELDS = ['tool', 'count', 'user id', 'a.b', '*']
const scalar = fc.constantFrom<Json[]>('', 'a', 'ab', 'B', '1', '😀', 'ｚ', 0, 1, 2, -3, 0.5, true, false)
const value = fc.oneof(
  { weight: 8, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 3 }) as fc.Arbitrary<Json> },
  { weight: 1, arbitrary: fc.constantFrom<Json[]>(null, {}, { a: 1 }, [['a']], [null]) },
)
// Each means the same to Python, to JavaScript and, translated, to RE2.
const pattern = fc.constantFrom('^a', 'b$', '', 'a|1', '(?i)^AB?$', '[a-z]', '.', '^[^a]', '(a(b)?)+', '(?i)b')
const action = fc.constantFrom<AgtAction[]>('allow', 'audit', 'deny', 'block')
const comparison = fc.oneof(
  { weight: 2, arbitrary: fc.record({ operator: fc.constant('matches'), value: pattern as fc.Arbitrary<Json> }) },
  {
    weight: 8,
    arbitrary: fc.record({
      operator: fc.constantFrom('eq', 'ne', 'gt', 'lt', 'gte', 'lte', 'in', 'not_in', 'contains'),
      value,
    }),
  },
)
const rule = fc
  .record({ comparison, action, field: fc.constantFrom(...FIELDS), priority: fc.integer({ min: 0, max: 3 }) })
  .map(({ comparison: compared, ...others }) => ({ ...others, ...compared }))
const policy = fc.record({ defaultAction: action, rules: fc.array(rule, { maxLength: 6 }) }).map(
  ({ defaultAction, rules }): AgtPolicy => ({
    ...{ id: 'random', path: 'random', name: 'random', defaultAction },
    rules: rules.map((one, i) => ({ ...one, name: `rule ${i}` })),
  }),
)
const input: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom(...FIELDS), value, { noNullPrototype: true })

/** Case that is refused because lists are not compared: it may not permit what an error refuses in the toolkit. */
const EQUAL_LISTS: [AgtPolicy, JsonObject[]] = [
  {
    ...{ id: 'random', path: 'random', name: 'random', defaultAction: 'allow' },
    rules: [
      { name: 'rule 0', field: 'tool', operator: 'ne', value: [], action: 'allow', priority: 1 },
      { name: 'rule 1', field: 'count', operator: 'lte', value: false, action: 'allow', priority: 0 },
    ],
  },
  Array(4).fill({ tool: [], count: '' }),
]

test('any policy, translated, answers any input as the toolkit does, or says why not', async () => {
  const counts = { agreed: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(policy, fc.array(input, { minLength: 4, maxLength: 8 }), async (random, inputs) => {
      const loaded = load(translate(random, 'random'))
      const recorded = inputs.map(
        (one, i): Recorded => ({
          id: `${i}`,
          policy: 'random',
          input: one,
          unfit: undefined,
          expect: evaluate(random, one),
        }),
      )
      const { agreed, differences } = await compare(loaded, recorded, askCode)
      assert.notEqual(loaded.set, undefined, JSON.stringify(loaded.diagnostics))
      assert.deepEqual(
        differences.filter(({ refused }) => refused === undefined),
        [],
        loaded.yaml,
      )
      for (const { ours, expected } of differences)
        assert.ok(!ours?.allowed || expected.allowed, 'never more is permitted')
      counts.agreed += agreed
      counts.refused += differences.length
    }),
    // So many that chance does not bring the share of refusals near the bound.
    { numRuns: 200, examples: [EQUAL_LISTS] },
  )
  // Refusals are of lists, mappings and values that are no texts: one of eighteen on average.
  assert.ok(counts.agreed > 10 * counts.refused, JSON.stringify(counts))
})
