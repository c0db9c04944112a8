import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/base/json.ts'
import type { Decision } from '../../src/policies/set.ts'
import { accepted } from '../../src/suggest/accept.ts'
import { named } from '../../src/suggest/draft.ts'
import { closerLimits } from '../../src/suggest/limits.ts'
import { unusedActions } from '../../src/suggest/unused.ts'
import { type Ask, baseOfText, decidedBy, evidenceFor, MINIMA } from './support.ts'

const WANTED = { minima: MINIMA, free: [] }
const FACTS = 'facts: {context.amount: {type: number}, context.to: {type: string}}\n'
const SCHEMA =
  'actions: {pay.out: {context: {type: object, required: [amount], properties: {amount: {type: number}, to: {type: string}}}}}\n'
const rules = (...all: string[]): string => `rules:\n${all.map((one) => `  - {reason: R., ${one}}\n`).join('')}`
const LARGE =
  'id: large, effect: require_approval, actions: ["pay.*"], when: {fact: context.amount, operator: greaterThan, value: 100000}'
const PAYS = 'id: pays, effect: allow, actions: ["pay.*"]'
const AT_MOST = `${PAYS}, when: {fact: context.amount, operator: lessThanInclusive, value: 100000}`
const ORDERS = 'id: orders, effect: allow, actions: [order.read, order.delete]'

const asked = (count: number, action: string, contextOf: (i: number) => JsonObject = () => ({})): Ask[] =>
  Array.from({ length: count }, (_, i) => ({ action, context: contextOf(i) }))
const payments = asked(20, 'pay.out', (i) => ({ amount: 20 * i + 20, to: 'acme' }))

const ROWS: [name: string, policy: string, asks: Ask[], proposed: string[]][] = [
  [
    'a pattern becomes the actions asked for',
    rules(PAYS),
    [...asked(4, 'pay.out'), ...asked(2, 'pay.back')],
    ['rule pays allows pay.back, pay.out instead of pay.*'],
  ],
  ['too few requests', rules(PAYS), asked(4, 'pay.out'), []],
  [
    'too many actions for a list',
    rules('id: all, effect: allow, actions: ["**"]'),
    Array.from({ length: 13 }, (_, i) => ({ action: `a.${i}`, context: {} })),
    [],
  ],
  [
    'an action of a list that nobody asked for',
    rules(ORDERS),
    asked(5, 'order.read'),
    ['order.delete requires approval, which rule orders allows now'],
  ],
  [
    'one that was asked for, and denied',
    rules(ORDERS, 'id: no, effect: deny, actions: [order.delete]'),
    [...asked(5, 'order.read'), ...asked(1, 'order.delete')],
    [],
  ],
  [
    'one of a rule with a condition is left',
    rules(`${ORDERS}, when: {fact: context.to, operator: exists}`),
    asked(5, 'order.read', () => ({ to: 'a' })),
    [],
  ],
  [
    'a limit by a hold, far above what is used',
    FACTS + rules(LARGE, PAYS),
    payments,
    ['rule pays allows pay.out instead of pay.*', 'pay.* requires approval if context.amount is above 500'],
  ],
  [
    'a limit near what is used',
    FACTS + rules(LARGE.replace('100000', '2499'), PAYS),
    payments,
    ['rule pays allows pay.out instead of pay.*'],
  ],
  [
    'a limit by a hold under a condition is none',
    FACTS + rules(`${LARGE.replace('{fact', '{all: [{fact: context.to, operator: equal, value: x}, {fact')}]}`, PAYS),
    payments,
    ['rule pays allows pay.out instead of pay.*'],
  ],
  [
    'a limit of the allow rule itself, where a hold would loosen',
    FACTS + rules(AT_MOST),
    payments,
    ['rule pays allows pay.out instead of pay.*', 'rule pays allows pay.* only if context.amount is at most 500'],
  ],
  [
    'a limit of the allow rule itself, whatever its schema requires',
    SCHEMA + FACTS + rules(AT_MOST.replace('"pay.*"', 'pay.out')),
    payments,
    ['rule pays allows pay.out only if context.amount is at most 500'],
  ],
]
for (const [name, policy, asks, proposed] of ROWS) {
  test(`tightens: ${name}`, async () => {
    const base = baseOfText(policy)
    const evidence = await evidenceFor(base.set, asks)
    const all = [...unusedActions(base.set, evidence, WANTED), ...closerLimits(base.set, evidence, WANTED)]
    const draft = await accepted(base, named(base.set, all), 'Test')
    assert.deepEqual([draft.accepted.map(({ proposal }) => proposal.what), draft.dropped], [proposed, []])
    for (const { action, context } of asks)
      assert.equal(await decidedBy(draft.set, action, context ?? {}), await decidedBy(base.set, action, context ?? {}))
  })
}

test('the quantiles, the limit and where it is are stated', async () => {
  const base = baseOfText(FACTS + rules(LARGE, PAYS))
  const [limit] = closerLimits(base.set, await evidenceFor(base.set, payments), WANTED)
  assert.match(
    limit?.why ?? '',
    /limit in force is 100000, by rule large\. Rule pays allowed 20 requests: the median is 200, the 95th percentile 380, the 99th 400, the maximum 400\./,
  )
})

test('a proposal that a test of the policies contradicts is dropped, with the test', async () => {
  const base = baseOfText(rules(PAYS))
  const test = `apiVersion: gate-sidecar/v1\ntenant: acme\ntests: [{name: any payment, matrix: {actions: [pay.any]}, expect: {decision: allow}}]\n`
  const source = { ...base.source, files: [...base.source.files, { name: 'main.test.yaml', bytes: Buffer.from(test) }] }
  const proposals = unusedActions(base.set, await evidenceFor(base.set, asked(6, 'pay.out')), WANTED)
  const draft = await accepted({ ...base, source }, named(base.set, proposals), 'Test')
  assert.deepEqual([draft.accepted, draft.set.digest], [[], base.set.digest])
  assert.match(draft.dropped[0]?.why ?? '', /Test "any payment" fails/)
})

const RESTRAINT: Record<Decision, number> = { allow: 0, require_approval: 1, deny: 2 }
const condition = fc.constantFrom(
  '',
  ', when: {fact: context.amount, operator: lessThanInclusive, value: 100000}',
  ', when: {all: [{fact: context.amount, operator: lessThan, value: 50000}, {fact: context.to, operator: equal, value: acme}]}',
  ', when: {any: [{fact: context.amount, operator: greaterThan, value: 90000}, {fact: context.to, operator: equal, value: eve}]}',
  ', when: {not: {fact: context.amount, operator: greaterThan, value: 70000}}',
  ', when: {fact: context.to, operator: exists}',
)
const actions = fc.uniqueArray(fc.constantFrom('pay.out', 'pay.back', '"pay.*"', '"**"', 'mail.send', '"mail.**"'), {
  minLength: 1,
  maxLength: 3,
})
const rule = fc.tuple(fc.constantFrom('allow', 'allow', 'require_approval', 'deny'), actions, condition)
const policy = fc.record({
  all: fc.array(rule, { minLength: 1, maxLength: 5 }),
  before: fc.constantFrom('', 'defaults: {decision: require_approval, reason: D.}\n', SCHEMA),
})
const ask = fc.record({
  action: fc.constantFrom('pay.out', 'pay.back', 'mail.send'),
  context: fc.record({ amount: fc.integer({ min: 1, max: 900 }), to: fc.constantFrom('acme', 'bob') }),
})
const VALUES: (Json | undefined)[] = [undefined, 'acme', 'eve', 5]
const AMOUNTS: (Json | undefined)[] = [undefined, -1, 1, 400, 901, 1001, 5001, 60_000, 95_000, 100_001, '5']
const GRID = ['pay.out', 'pay.back', 'pay.x', 'mail.send', 'mail.a.b', 'other'].flatMap((action) =>
  VALUES.flatMap((to) =>
    AMOUNTS.map((amount) => ({
      action,
      context: { ...(to !== undefined && { to }), ...(amount !== undefined && { amount }) },
    })),
  ),
)

test('whatever the policies and the trail: what tightens allows nothing, and holds nothing that was denied', async () => {
  let made = 0
  await fc.assert(
    fc.asyncProperty(policy, fc.array(ask, { minLength: 5, maxLength: 15 }), async ({ all, before }, asks) => {
      const text = all.map(
        ([effect, of, when], i) => `id: r${i}, effect: ${effect}, actions: [${of.join(', ')}]${when}`,
      )
      const base = baseOfText(before + FACTS + rules(...text))
      const evidence = await evidenceFor(base.set, asks)
      const proposals = [...unusedActions(base.set, evidence, WANTED), ...closerLimits(base.set, evidence, WANTED)]
      const draft = await accepted(base, named(base.set, proposals), 'Test')
      made += draft.accepted.length
      for (const { action, context } of GRID) {
        const [was, is] = [await decidedBy(base.set, action, context), await decidedBy(draft.set, action, context)]
        assert.ok(RESTRAINT[is] >= RESTRAINT[was], `${JSON.stringify([action, context])}: ${was} → ${is}`)
      }
    }),
    { numRuns: 120 },
  )
  assert.ok(made > 15, `${made} proposals were tried`)
})
