import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { approvalDigest, type Bound } from '../../src/approvals/approval.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { type JsonObject, parseJson } from '../../src/base/json.ts'
import { processorMs } from '../processor.ts'

const key = fc.string({ unit: 'grapheme', maxLength: 6 }).filter((text) => text !== '__proto__')
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n)),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
}))
/** As the service sees them: parsed from text. */
const object = json.object.map((value) => parseJson(canonicalJson(value), { maxDepth: 32 }) as JsonObject)

const bound = fc.record({
  chain: fc.constantFrom('acme/live', 'acme/test', 'other/live'),
  action: fc.constantFrom('payment.transfer', 'payment.refund'),
  context: object,
  plan: fc.option(object),
  requester: fc.constantFrom('ann', 'key_1'),
})

const BASE: Bound = {
  chain: 'acme/live',
  action: 'payment.transfer',
  context: { amount: 5000, to: 'acct_1', meta: { toolCallId: 'a', note: 'x' }, previous: null },
  plan: { action: 'payment.transfer', steps: [1, 2] },
  requester: 'key_1',
}
const UNBOUND = [['context', 'meta', 'toolCallId']]

test('equal requests and only equal requests have one digest', () => {
  fc.assert(
    fc.property(bound, bound, (a, b) => {
      const same = canonicalJson(a) === canonicalJson(b)
      assert.equal(approvalDigest(a, []) === approvalDigest(b, []), same)
    }),
    { numRuns: 300 },
  )
})

test('the digest does not depend on the order of members', () => {
  const reversed = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(value).reverse())
  fc.assert(
    fc.property(bound, (a) => {
      assert.equal(approvalDigest({ ...a, context: reversed(a.context) }, []), approvalDigest(a, []))
    }),
  )
})

test('one more member anywhere gives another digest', () => {
  fc.assert(
    fc.property(object, key, json.value, (context, name, value) => {
      fc.pre(!Object.hasOwn(context, name))
      const more = { ...context, [name]: value as JsonObject }
      assert.notEqual(approvalDigest({ ...BASE, context: more }, []), approvalDigest({ ...BASE, context }, []))
      const inside = { ...BASE, context: { inner: more } }
      assert.notEqual(approvalDigest(inside, []), approvalDigest({ ...BASE, context: { inner: context } }, []))
    }),
  )
})

const OTHER: [name: string, change: Partial<Bound>][] = [
  ['chain', { chain: 'acme/test' }],
  ['action', { action: 'payment.refund' }],
  ['requester', { requester: 'key_2' }],
  ['a number', { context: { ...BASE.context, amount: 5001 } }],
  ['a number as text', { context: { ...BASE.context, amount: '5000' } }],
  ['a member gone', { context: { amount: 5000, to: 'acct_1' } }],
  ['a member beside the unbound one', { context: { ...BASE.context, meta: { toolCallId: 'a', note: 'y' } } }],
  ['no plan', { plan: null }],
  ['an empty plan for none', { plan: {} }],
  ['order of a list', { plan: { action: 'payment.transfer', steps: [2, 1] } }],
  ['context and plan swapped', { context: BASE.plan ?? {}, plan: BASE.context }],
  ['the unbound name elsewhere', { context: { ...BASE.context, toolCallId: 'a' } }],
  ['the unbound path in the plan', { plan: { ...BASE.plan, meta: { toolCallId: 'b' } } }],
]

for (const [name, change] of OTHER) {
  test(`another digest: ${name}`, () => {
    assert.notEqual(approvalDigest({ ...BASE, ...change }, UNBOUND), approvalDigest(BASE, UNBOUND))
  })
}

test('an unbound path may hold anything, or be absent', () => {
  const expected = approvalDigest(BASE, UNBOUND)
  fc.assert(
    fc.property(json.value, (value) => {
      const context = { ...BASE.context, meta: { toolCallId: value as JsonObject, note: 'x' } }
      assert.equal(approvalDigest({ ...BASE, context }, UNBOUND), expected)
    }),
  )
  const absent = { ...BASE.context, meta: { note: 'x' } }
  assert.equal(approvalDigest({ ...BASE, context: absent }, UNBOUND), expected)
})

test('a whole branch may be unbound, and an unbound path of the plan', () => {
  const paths = [
    ['context', 'meta'],
    ['plan', 'steps'],
  ]
  const change = { context: { ...BASE.context, meta: 1 }, plan: { action: 'payment.transfer' } }
  assert.equal(approvalDigest({ ...BASE, ...change }, paths), approvalDigest(BASE, paths))
  assert.notEqual(approvalDigest({ ...BASE, ...change, plan: {} }, paths), approvalDigest(BASE, paths))
})

const NOWHERE = [
  ['context', 'to', 'inner'],
  ['context', 'nothing'],
  ['plan', 'nothing'],
  ['context', 'previous', 'inner'],
  ['plan', 'steps', '0'],
  ['other'],
  [],
]

for (const path of NOWHERE) {
  test(`an unbound path that leads nowhere leaves nothing out: ${path.join('.')}`, () => {
    assert.equal(approvalDigest(BASE, [path]), approvalDigest(BASE, []))
  })
}

test('the request is not changed by leaving paths out', () => {
  const before = canonicalJson(BASE)
  approvalDigest(BASE, UNBOUND)
  assert.equal(canonicalJson(BASE), before)
})

test('a request with as many unbound paths as members takes no longer than another', { timeout: 30_000 }, () => {
  const context = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]))
  const paths = Object.keys(context).map((name) => ['context', name])
  const startMs = processorMs()
  assert.equal(approvalDigest({ ...BASE, context }, paths), approvalDigest({ ...BASE, context: {} }, []))
  assert.equal(processorMs() - startMs < 5000, true)
})
