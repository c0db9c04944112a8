import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import type { JsonObject } from '../../src/base/json.ts'
import { compilePattern } from '../../src/base/pattern.ts'
import { MAX_WORK, newWork, UNLIMITED, type Work } from '../../src/base/work.ts'
import { decide } from '../../src/gate/decide.ts'
import { overTimeReader } from '../../src/gate/history.ts'
import { assessRisk } from '../../src/gate/risk.ts'
import { validatePlanAndContext } from '../../src/policies/evaluate.ts'
import { parseFactPath } from '../../src/policies/path.ts'
import type { PolicySet } from '../../src/policies/set.ts'
import { evaluateContext } from '../authoring/sets.ts'
import { setOf } from '../authoring/sources.ts'
import { processorMs } from '../processor.ts'
import { runs } from '../tier.ts'

const LONG = 1_000_000
/** Letters without a pattern, the same each time. */
const NOISE = noise(20_000)

function noise(length: number): string {
  let [state, text] = [1, '']
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    text += (state & 0x10000) === 0 ? 'a' : 'b'
  }
  return text
}

function denyingWhen(when: string, count = 1): PolicySet {
  const rules = Array.from(
    { length: count },
    (_, i) => `  - {id: d${i}, actions: ["**"], effect: deny, reason: R., when: ${when.replaceAll('#', String(i))}}\n`,
  )
  return setOf(`rules:\n  - {id: a, actions: ["**"], effect: allow, reason: R.}\n${rules.join('')}`)
}

const TOO_MUCH: [name: string, set: PolicySet, context: object, fact: string][] = [
  [
    'a pattern over a text that is too long',
    denyingWhen('{fact: context.t, operator: matches, value: "[0-9]$"}'),
    { t: 'x'.repeat(3 * LONG) },
    'context.t',
  ],
  [
    'a pattern with a state for each part of a text',
    denyingWhen(`{fact: context.t, operator: matches, value: '(?:[ab]*a[ab]{14}){1,2}[cd]$'}`),
    { t: NOISE },
    'context.t',
  ],
  [
    'patterns over many items',
    denyingWhen('{fact: context.l, operator: "someFact:matches", value: "x#$"}', 20),
    { l: Array.from({ length: 40_000 }, (_, i) => `item number ${i}`) },
    'context.l',
  ],
  [
    'a list that is walked again and again',
    denyingWhen('{fact: context.l, operator: contains, value: "x#"}', 20),
    { l: Array.from({ length: 40_000 }, (_, i) => `item ${i}`) },
    'context.l',
  ],
  [
    'a path over many values, of which it is unknown whether they are there',
    denyingWhen('{fact: "context.*.a#", operator: missing}', 20),
    Object.fromEntries(Array.from({ length: 49_000 }, (_, i) => [`k${i}`, i])),
    'context.*.a19',
  ],
]

for (const [name, set, context, fact] of TOO_MUCH) {
  test(`budget: ${name} is unknown, denies, and the reason says so`, async () => {
    const work = newWork()
    const evaluation = await evaluateContext(set, JSON.parse(JSON.stringify(context)), 'a.b', work)
    const last = evaluation.rules.at(-1)
    assert.deepEqual([last?.outcome, last?.missing, last?.overBudget], ['unknown', [], [fact]])
    const ruling = decided(set, evaluation)
    assert.equal(ruling.decision, 'deny')
    assert.match(ruling.reason, /^Rule d\d+ cannot be evaluated, since comparing context\.\S+ takes more work than/)
    assert.deepEqual(ruling.unevaluable.at(-1), { kind: 'rule', name: last?.rule.id, facts: [], overBudget: [fact] })
  })
}

for (const [name, isDue, expected] of [
  // Each comparison takes 200,000 units, after which it asks.
  ['where it is due', true, 8],
  ['not where it is not', false, 0],
] as const) {
  test(`budget: others have their turn between the comparisons of an action, ${name}`, async () => {
    let [looks, pauses] = [0, 0]
    const pause = async (): Promise<void> => {
      await nextTurn()
      pauses += 1
    }
    const work = newWork(() => {
      looks += 1
      return isDue ? pause() : undefined
    })
    const set = denyingWhen('{fact: context.t, operator: matches, value: "[0-9]x#$"}', 8)
    await evaluateContext(set, { t: 'x'.repeat(200_000) }, 'a.b', work)
    assert.deepEqual([looks, pauses, work.refused], [8, expected, 0])
  })
}

test('budget: a pattern that compares two facts counts its steps for each', async () => {
  const pattern = '(?:[ab]*a[ab]{3}){1,2}[cd]$'
  const used = async (...names: string[]): Promise<number> => {
    const asked = names.map((name) => `{fact: context.${name}, operator: matches, value: "${pattern}"}`)
    const work = newWork()
    await evaluateContext(denyingWhen(`{all: [${asked.join(', ')}]}`), { a: 'abbab', b: 'abbab' }, 'a.b', work)
    return MAX_WORK - work.left
  }
  assert.equal(await used('a', 'b'), 2 * (await used('a')))
})

test('budget: a declared default does not replace a fact that takes too much work to read', async () => {
  const set = setOf(
    `facts: {"context.*.a": {type: list, default: []}}\nrules:\n  - {id: a, actions: ["**"], effect: deny, reason: R., when: {fact: "context.*.a", operator: contains, value: 1}}\n`,
  )
  const context = Object.fromEntries(Array.from({ length: 49_000 }, (_, i) => [`k${i}`, i]))
  const { rules, defaulted } = await evaluateContext(set, context, 'a.b', { ...newWork(), left: 100_000 })
  assert.deepEqual([rules[0]?.outcome, rules[0]?.overBudget, defaulted.size], ['unknown', ['context.*.a'], 0])
})

test('budget: a schema that takes more work than is left is a fault', () => {
  const branches = Array.from({ length: 150 }, (_, i) => `{type: object, required: [k${i}]}`)
  const set = setOf(
    `actions:\n  a.b:\n    context: {type: object, properties: {l: {type: array, items: {anyOf: [${branches.join(', ')}, {type: object}]}}, t: {type: string, pattern: "^(?:[ab]*a[ab]{14})+$"}}}\n`,
  )
  const faultOf = (context: object): string | undefined =>
    validatePlanAndContext(
      set,
      { action: 'a.b', context: JSON.parse(JSON.stringify(context)), plan: undefined },
      newWork(),
    ).fault
  const fault = 'context takes more work to validate than one check may do'
  assert.equal(faultOf({ l: Array.from({ length: 24_000 }, (_, a) => ({ a })) }), fault)
  assert.equal(faultOf({ t: NOISE }), fault)
  assert.equal(faultOf({ l: [{ a: 1 }], t: 'abababababababa' }), undefined)
})

test('budget: patterns over actions that were taken in a session count', () => {
  const taken = Array.from({ length: 60 }, (_, i) => `"*a*a*a*b${i}"`).join()
  const set = setOf(`session: {fact: context.s, taken: {t: [${taken}]}}\nrules: []\n`)
  const sessionActions = new Set(Array.from({ length: 900 }, (_, i) => `${'a'.repeat(100)}${i}`))
  const read = overTimeReader(set, { action: 'a.b' }, { tallies: new Map(), sessionActions })
  const path = parseFactPath('session.taken.t')
  assert.ok(path)
  const work = newWork()
  assert.equal(read(path, work), undefined)
  assert.equal(work.refused, 1)
  assert.equal(read(path, UNLIMITED), false)
})

test('budget: a search ends where its work does, not where the text does', () => {
  const long = noise(500_000)
  const searchMs = (work: Work): number => {
    const compiled = compilePattern('(?:[ab]*a[ab]{25}){1,2}[cd]$')
    assert.ok('find' in compiled)
    const sinceMs = processorMs()
    compiled.find(long, work)
    return processorMs() - sinceMs
  }
  const limitedMs = searchMs(newWork())
  // A twentieth.
  assert.ok(limitedMs < searchMs({ ...newWork(), left: Number.POSITIVE_INFINITY }) / 2, `${limitedMs} ms`)
})

test('budget: the work of a search depends on pattern and text alone, not on searches before it', () => {
  const used = (pattern: string, text: string): number => {
    const compiled = compilePattern(pattern)
    assert.ok('find' in compiled)
    const work = { ...newWork(), left: MAX_WORK }
    compiled.find(text, work)
    return MAX_WORK - work.left
  }
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '😀', '\ud800'), maxLength: 60 })
  fc.assert(
    fc.property(
      fc.constantFrom('(?i)\\bAb+\\b', '^a.*b$', '(?m)^(a|b)*$', '[^a]{3}é', '(a?){5}b'),
      text,
      text,
      (p, a, b) => {
        const first = used(p, a)
        used(p, b)
        assert.equal(used(p, a), first)
      },
    ),
    { numRuns: runs(300) },
  )
})

const LEAVES = [
  '{fact: context.t, operator: matches, value: "a[ab]{5}c"}',
  '{fact: context.t, operator: "not:matches", value: "^b+"}',
  '{fact: context.t, operator: startsWith, value: a}',
  '{fact: context.l, operator: "someFact:matches", value: "b$"}',
  '{fact: context.l, operator: "everyFact:in", value: [a, b]}',
  '{fact: context.l, operator: "not:someFact:equal", value: ab}',
  '{fact: context.l, operator: contains, value: a}',
  '{fact: context.l, operator: doesNotContain, value: zz}',
  '{fact: "context.o.*.x", operator: missing}',
  '{fact: "context.o.*.x", operator: exists}',
  '{fact: "context.o.*.x", operator: "everyFact:equal", value: a}',
  '{fact: context.absent, operator: equal, value: 1}',
  '{fact: context.absent, operator: missing}',
]

const condition: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...LEAVES),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((nodes) => `{all: [${nodes.join(', ')}]}`),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((nodes) => `{any: [${nodes.join(', ')}]}`),
    tie('node').map((node) => `{not: ${node}}`),
  ),
})).node

const policy = fc
  .record({
    rules: fc.array(fc.tuple(fc.constantFrom('allow', 'deny', 'require_approval'), condition), {
      minLength: 1,
      maxLength: 6,
    }),
    factors: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), condition), { maxLength: 3 }),
    whole: fc.constantFrom('deny', 'require_approval'),
  })
  .map(({ rules, factors, whole }) =>
    [
      `defaults: {decision: ${whole}, reason: R.}`,
      `risk: [${factors.map(([weight, when], i) => `{name: f${i}, actions: ["**"], weight: ${weight}, when: ${when}}`).join(', ')}]`,
      'rules:',
      ...rules.map(
        ([effect, when], i) => `  - {id: r${i}, actions: ["**"], effect: ${effect}, reason: R., when: ${when}}`,
      ),
      '',
    ].join('\n'),
  )

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é'), maxLength: 40 })
const context = fc.record(
  {
    t: fc.tuple(text, fc.integer({ min: 0, max: 30 })).map(([part, times]) => part.repeat(times)),
    l: fc.array(text, { maxLength: 60 }),
    o: fc.array(fc.oneof(fc.record({ x: fc.constantFrom('a', 'b') }), fc.constant({})), { maxLength: 60 }),
  },
  { requiredKeys: [] },
)

const SEVERITY = ['allow', 'require_approval', 'deny']
const isAsStrict = (a: string, b: string): boolean => SEVERITY.indexOf(a) >= SEVERITY.indexOf(b)

test('property: however little work a check may do, it allows nothing more, denies what a rule or the risk denies, and always decides the same', async () => {
  let stricter = 0
  await fc.assert(
    fc.asyncProperty(policy, context, fc.integer({ min: 0, max: 8000 }), async (texts, given, left) => {
      const set = setOf(texts)
      const parsed = JSON.parse(JSON.stringify(given))
      const within = async (work: Work) => decided(set, await evaluateContext(set, parsed, 'a.b', work))
      const unlimited = await within({ ...newWork(), left: Number.POSITIVE_INFINITY })
      const limited = await within({ ...newWork(), left })
      if (limited.decision === 'allow') assert.equal(unlimited.decision, 'allow')
      // A hold that could not be evaluated comes before a denial for want of a rule, as it does for want of a fact.
      if (['deny_rule', 'risk'].includes(unlimited.decidedBy))
        assert.ok(isAsStrict(limited.decision, unlimited.decision))
      assert.deepEqual(await within({ ...newWork(), left }), limited)
      if (limited.decision !== unlimited.decision) stricter += 1
    }),
    { numRuns: runs(1000) },
  )
  assert.ok(stricter > runs(20), `only ${stricter} decisions were stricter`)
})

test('property: what nobody explains comes out the same, and less is compared', async () => {
  let left = 0
  const first = '{fact: context.t, operator: startsWith, value: a}'
  const second = '{fact: context.l, operator: contains, value: a}'
  // Few random policies have a comparison that can be left.
  const leaving: [string, object, number] = [
    `rules:\n  - {id: r, actions: ["**"], effect: deny, reason: R., when: {all: [${first}, ${second}]}}\n`,
    { t: 'b', l: [] },
    50_000,
  ]
  await fc.assert(
    fc.asyncProperty(policy, context, fc.integer({ min: 0, max: 50_000 }), async (texts, given, units) => {
      const set = setOf(texts)
      const parsed = JSON.parse(JSON.stringify(given))
      const evaluated = (isComplete: boolean) =>
        evaluateContext(set, parsed, 'a.b', { ...newWork(), left: units }, isComplete)
      const [{ truths, ...whole }, { truths: asked, ...part }] = [await evaluated(true), await evaluated(false)]
      assert.deepEqual(part, whole)
      for (const [index, truth] of asked) assert.equal(truths.get(index), truth)
      left += truths.size - asked.size
    }),
    { numRuns: runs(1000), examples: [leaving] },
  )
  assert.ok(left > 0)
})

test('after its first comparison is false, a rule is compared no further, unless another rule asks', async () => {
  const first = '{fact: context.a, operator: equal, value: 1}'
  const second = '{fact: context.b, operator: equal, value: 2}'
  const third = '{fact: context.c, operator: equal, value: 3}'
  const rule = (id: string, when: string): string =>
    `  - {id: ${id}, actions: [a.b], effect: deny, reason: R., when: ${when}}\n`
  const set = setOf(`rules:\n${rule('r', `{all: [${first}, ${second}, {any: [${third}]}]}`)}${rule('s', third)}`)
  const asked = async (context: JsonObject, isComplete: boolean) =>
    (await evaluateContext(set, context, 'a.b', newWork(), isComplete)).truths.size
  assert.equal(await asked({ a: 2, b: 2, c: 3 }, false), 2)
  assert.equal(await asked({ a: 2, b: 2, c: 3 }, true), 3)
  assert.equal(await asked({ a: 1, b: 2, c: 3 }, false), 3)
  assert.equal(await asked({ b: 2, c: 3 }, false), 3)
  const shared = `rules:\n${rule('r', `{all: [${first}, {any: [${second}, ${third}]}]}`)}${rule('s', `{all: [${second}, ${third}]}`)}`
  const { truths } = await evaluateContext(setOf(shared), { a: 1, b: 0, c: 3 }, 'a.b', newWork(), false)
  assert.deepEqual([...truths.values()], ['true', 'false', 'true'])
})

function decided(set: PolicySet, evaluation: Awaited<ReturnType<typeof evaluateContext>>) {
  const validation = { ok: false }
  return decide({ set, killSwitchReason: undefined, validation, evaluation, risk: assessRisk(evaluation) })
}
