import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../../src/base/json.ts'
import { combiner } from '../../src/policies/kleene.ts'
import type { Truth } from '../../src/policies/set.ts'
import { setWhen, truthOf } from '../authoring/sets.ts'
import { runs } from '../tier.ts'

// The tree as the policy says it, the facts as the request brings them, and the outcome that Kleene's tables give.
type Tree = { leaf: number } | { all: Tree[] } | { any: Tree[] } | { not: Tree } | { condition: number }
const NAMED: Tree[] = [{ leaf: 0 }, { not: { leaf: 1 } }, { any: [{ leaf: 2 }, { condition: 1 }] }]
const tree = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ leaf: fc.integer({ min: 0, max: 5 }) }),
    fc.record({ condition: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ not: tie('tree') }),
    fc.record({ all: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }) }),
    fc.record({ any: fc.array(tie('tree'), { minLength: 1, maxLength: 4 }) }),
  ),
})).tree
const TRUTHS: Truth[] = ['false', 'unknown', 'true']

function toPolicy(node: Tree): Json {
  if ('leaf' in node)
    return { fact: `context.f${node.leaf}`, operator: node.leaf % 2 ? 'not:equal' : 'equal', value: true }
  if ('condition' in node) return { condition: `c${node.condition}` }
  if ('not' in node) return { not: toPolicy(node.not) }
  return 'all' in node ? { all: node.all.map(toPolicy) } : { any: node.any.map(toPolicy) }
}

// Truth as 0, 1, 2: and is the least, or the greatest, not the mirror image.
function reference(node: Tree, facts: readonly number[]): number {
  if ('leaf' in node) return node.leaf % 2 ? 2 - (facts[node.leaf] ?? 1) : (facts[node.leaf] ?? 1)
  if ('condition' in node) return reference(NAMED[node.condition] ?? { leaf: 0 }, facts)
  if ('not' in node) return 2 - reference(node.not, facts)
  if ('all' in node) return Math.min(...node.all.map((one) => reference(one, facts)))
  return Math.max(...node.any.map((one) => reference(one, facts)))
}

test('property: random conditions come out as Kleene logic says', async () => {
  const conditions = Object.fromEntries(NAMED.map((node, i) => [`c${i}`, toPolicy(node)]))
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 6, maxLength: 6 }),
      async (node, facts) => {
        const set = setWhen(JSON.stringify(toPolicy(node)), `conditions: ${JSON.stringify(conditions)}\n`)
        const known = facts.flatMap((truth, i) => (truth === 1 ? [] : [[`f${i}`, truth === 2]]))
        assert.equal(await truthOf(set, Object.fromEntries(known)), TRUTHS[reference(node, facts)])
      },
    ),
    { numRuns: runs(300) },
  )
})

// The whole language of comparisons against a reference that shares no code with the product: operators, decorators, and facts
// that are missing, null or of any type.

type Asked = { fact: number; operator: string; value?: Json }
type Question = { asked: Asked } | { all: Question[] } | { any: Question[] } | { not: Question }

const scalar = fc.constantFrom<Json>(0, 1, 2.5, -3, '', 'a', 'ab', 'ba', '1', true, false)
const address = fc.constantFrom('10.1.2.3', '11.0.0.1', '10.0.0.0', 'a', '')
const time = fc.constantFrom(
  '2026-01-01T00:00:00Z',
  '2026-01-01T01:00:00+02:00',
  '2026-06-01T00:00:00.5Z',
  '2026-01-01',
)
const item = fc.oneof(scalar, address, time, fc.constant(null), fc.constant<Json>([1, 'a']))
/** Undefined is a fact that is missing. */
const seen = fc.oneof(
  fc.constantFrom(undefined, null),
  item,
  fc.array(item, { maxLength: 3 }),
  fc.array(scalar, { maxLength: 3 }),
  fc.array(fc.array(scalar, { maxLength: 2 }), { maxLength: 2 }),
  fc.constant<Json>({ a: 1 }),
)
const number = fc.constantFrom<Json>(-3, 0, 1, 2)
const VALUES: Record<string, fc.Arbitrary<Json>> = {
  equal: scalar,
  notEqual: scalar,
  in: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  notIn: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  contains: scalar,
  doesNotContain: scalar,
  lessThan: number,
  lessThanInclusive: number,
  greaterThan: number,
  greaterThanInclusive: number,
  startsWith: fc.constantFrom('a', 'ab', '1'),
  endsWith: fc.constantFrom('a', 'ab', '1'),
  matches: fc.constantFrom('^a', 'b$', 'a.?', '[0-9]'),
  inList: fc.constantFrom('letters', 'mixed', 'none'),
  notInList: fc.constantFrom('letters', 'mixed', 'none'),
  inCidr: fc.constantFrom<Json>('10.0.0.0/8', ['11.0.0.0/8', '10.0.0.0/32']),
  before: fc.constantFrom('2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z'),
  after: fc.constantFrom('2026-01-01T00:00:00Z', '2025-12-31T23:00:00Z'),
}
const LISTS_DECLARED: Record<string, Json[]> = { letters: ['a', 'b'], mixed: ['a', 1, true], none: [] }

const decorators = fc.array(fc.constantFrom('not', 'someFact', 'everyFact'), { maxLength: 3 })
const asked = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(...Object.keys(VALUES)).chain((base) =>
      fc.record({
        fact: fc.nat(3),
        operator: decorators.map((before) => [...before, base].join(':')),
        value: VALUES[base] ?? scalar,
      }),
    ),
  },
  { weight: 1, arbitrary: fc.record({ fact: fc.nat(3), operator: fc.constantFrom('exists', 'missing') }) },
)
const question = fc.letrec<{ question: Question }>((tie) => ({
  question: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ asked }),
    fc.record({ not: tie('question') }),
    fc.record({ all: fc.array(tie('question'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('question'), { minLength: 1, maxLength: 3 }) }),
  ),
})).question

function written(one: Question): Json {
  if ('asked' in one) return { ...one.asked, fact: `context.f${one.asked.fact}` }
  if ('not' in one) return { not: written(one.not) }
  return 'all' in one ? { all: one.all.map(written) } : { any: one.any.map(written) }
}

/** 0 false, 1 unknown, 2 true. */
function answer(one: Question, facts: readonly (Json | undefined)[]): number {
  if ('asked' in one) return compare(one.asked.operator.split(':'), facts[one.asked.fact], one.asked.value)
  if ('not' in one) return 2 - answer(one.not, facts)
  if ('all' in one) return Math.min(...one.all.map((each) => answer(each, facts)))
  return Math.max(...one.any.map((each) => answer(each, facts)))
}

function compare([first = '', ...rest]: string[], value: Json | undefined, wanted: Json | undefined): number {
  if (rest.length > 0) {
    if (first === 'not') return 2 - compare(rest, value, wanted)
    if (!Array.isArray(value)) return 1
    const each = value.map((one) => compare(rest, one, wanted))
    if (first === 'someFact') return Math.max(0, ...each)
    return each.length === 0 ? 1 : Math.min(...each)
  }
  const isThere = value !== undefined && value !== null
  if (first === 'exists' || first === 'missing') return isThere === (first === 'exists') ? 2 : 0
  const opposite = { notEqual: 'equal', notIn: 'in', doesNotContain: 'contains', notInList: 'inList' }[first]
  if (opposite !== undefined) return 2 - compare([opposite], value, wanted)
  const known = isThere ? plainly(first, value, wanted) : undefined
  return known === undefined ? 1 : known ? 2 : 0
}

/** Undefined where the value cannot be compared. */
function plainly(operator: string, value: Json, wanted: Json | undefined): boolean | undefined {
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value)
  if (operator === 'equal') return typeof value === typeof wanted ? value === wanted : undefined
  if (operator === 'in' || operator === 'inList') {
    const list = operator === 'in' ? (wanted as Json[]) : (LISTS_DECLARED[String(wanted)] ?? [])
    if (!isScalar) return undefined
    if (list.length === 0) return false
    return list.some((one) => typeof one === typeof value) ? list.includes(value) : undefined
  }
  if (operator === 'contains') {
    if (!Array.isArray(value)) return undefined
    if (value.some((one) => one === wanted)) return true
    return value.some((one) => typeof one !== typeof wanted) ? undefined : false
  }
  if (typeof wanted === 'number') {
    if (typeof value !== 'number') return undefined
    if (operator === 'lessThan') return value < wanted
    if (operator === 'lessThanInclusive') return value <= wanted
    return operator === 'greaterThan' ? value > wanted : value >= wanted
  }
  if (typeof value !== 'string') return undefined
  if (operator === 'inCidr') {
    if (!/^\d+\.\d+\.\d+\.\d+$/.test(value)) return undefined
    return wanted === '10.0.0.0/8' ? value.startsWith('10.') : value.startsWith('11.') || value === '10.0.0.0'
  }
  const text = String(wanted)
  if (operator === 'startsWith') return value.indexOf(text) === 0
  if (operator === 'endsWith') return value.length >= text.length && value.slice(value.length - text.length) === text
  if (operator === 'matches') return new RegExp(text).test(value)
  if (!value.includes('T')) return undefined
  return operator === 'before' ? Date.parse(value) < Date.parse(text) : Date.parse(value) > Date.parse(text)
}

test('property: every operator and decorator answers as a naive reference does, whatever the facts are', async () => {
  const lists = Object.fromEntries(Object.entries(LISTS_DECLARED).map(([name, values]) => [name, { values }]))
  await fc.assert(
    fc.asyncProperty(question, fc.array(seen, { minLength: 4, maxLength: 4 }), async (one, facts) => {
      const set = setWhen(JSON.stringify(written(one)), `lists: ${JSON.stringify(lists)}\n`)
      const context = Object.fromEntries(facts.flatMap((fact, i) => (fact === undefined ? [] : [[`f${i}`, fact]])))
      assert.equal(await truthOf(set, context), TRUTHS[answer(one, facts)])
    }),
    { numRuns: runs(800) },
  )
})

test('a condition of a name that is not there is neither a match nor a miss', () => {
  const truthOf = combiner(new Map(), () => 'true')
  assert.equal(truthOf({ kind: 'condition', name: 'gone' }), 'unknown')
})
