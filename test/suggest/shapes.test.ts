import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { accepted } from '../../src/suggest/accept.ts'
import { alwaysApproved } from '../../src/suggest/approved.ts'
import { named } from '../../src/suggest/draft.ts'
import { evidenceOf } from '../../src/suggest/evidence.ts'
import type { Proposal } from '../../src/suggest/proposal.ts'
import { type Ask, baseOfText, decidedBy, deciderOf, evidenceFor, MINIMA, recordedBy } from './support.ts'

const POLICY = `
facts: {context.amount: {type: number}, context.to: {type: string}, context.night: {type: boolean, default: false}}
approval: {unbound: [context.call]}
rules:
  - {id: large, actions: ["pay.*"], effect: require_approval, reason: L., when: {fact: context.amount, operator: greaterThan, value: 100}}
  - {id: night, actions: [pay.out], effect: require_approval, reason: N., when: {fact: context.night, operator: equal, value: true}}
  - {id: pays, actions: ["pay.*"], effect: allow, reason: P., when: {fact: context.amount, operator: lessThan, value: 1000}}
`
const base = baseOfText(POLICY)
const BY_AMOUNT = `rules:
  - {id: large, actions: [pay.out], effect: require_approval, reason: L., when: {fact: context.amount, operator: greaterThan, value: 1000}}
  - {id: pays, actions: [pay.out], effect: allow, reason: P.}
`
const SCORE = `rules:
  - {id: low, actions: [pay.out], effect: require_approval, reason: L., when: {fact: context.score, operator: lessThan, value: 50}}
  - {id: pays, actions: [pay.out], effect: allow, reason: P.}
`

const many = (count: number, contextOf: (i: number) => JsonObject, more: Partial<Ask> = {}): Ask[] =>
  Array.from({ length: count }, (_, i) => ({ action: 'pay.out', context: contextOf(i), result: 'approved', ...more }))
const alike = many(6, (i) => ({ amount: 200 + i, to: 'acme' }))

const free = ['context.note', 'context.amount']

async function found(asks: readonly Ask[], minima = MINIMA) {
  return alwaysApproved(base.set, await evidenceFor(base.set, asks), { minima, free })
}

const ROWS: [name: string, asks: Ask[], proposed: string[], why?: RegExp][] = [
  ['one shape', alike, ['context.night is false and context.to is "acme" and context.amount is from 0 to 205']],
  ['too few', alike.slice(1, 5), []],
  [
    'one of them was rejected',
    [...alike, ...many(1, () => ({ amount: 150, to: 'acme' }), { result: 'rejected' })],
    [],
    /not approved/,
  ],
  [
    'one of them expired',
    [...alike, ...many(1, () => ({ amount: 150, to: 'acme' }), { result: 'expired' })],
    [],
    /not approved/,
  ],
  [
    'one of them was cancelled',
    [...alike, ...many(1, () => ({ amount: 150, to: 'acme' }), { result: 'cancelled' })],
    [],
    /not approved/,
  ],
  [
    'one has an argument more, and was rejected',
    [...alike, ...many(1, () => ({ amount: 150, to: 'acme', urgent: true }), { result: 'rejected' })],
    [
      'context.night is false and context.to is "acme" and context.amount is from 0 to 205 and context.urgent is missing',
    ],
  ],
  [
    'a larger one was rejected',
    [...alike, ...many(1, () => ({ amount: 206, to: 'acme' }), { result: 'rejected' })],
    ['context.night is false and context.to is "acme" and context.amount is from 0 to 205'],
  ],
  [
    'another recipient was rejected',
    [...alike, ...many(1, () => ({ amount: 150, to: 'eve' }), { result: 'rejected' })],
    ['context.night is false and context.to is "acme" and context.amount is from 0 to 205'],
  ],
  [
    'two recipients',
    [...alike, ...many(6, () => ({ amount: 300, to: 'bob' }))],
    [
      'context.night is false and context.to is "acme" and context.amount is from 0 to 205',
      'context.night is false and context.to is "bob" and context.amount is from 0 to 300',
    ],
  ],
  ['a recipient of its own each', many(6, (i) => ({ amount: 200, to: `r-${i}` })), [], /context.to has a new value/],
  [
    'a text of its own each that nothing reads',
    many(6, (i) => ({ amount: 200, to: 'acme', text: `t-${i}` })),
    [],
    /context.text has a new value/,
  ],
  [
    'a number of its own each that nothing reads',
    many(6, (i) => ({ amount: 200, to: 'acme', id: i })),
    [],
    /context.id has a new value/,
  ],
  [
    'a long text, the same each time',
    many(6, () => ({ amount: 200, to: 'x'.repeat(65) })),
    [],
    /context.to has a new value/,
  ],
  ['a list, the same each time', many(6, () => ({ amount: 200, cc: ['a'] })), [], /context.cc has a new value/],
  [
    'a free argument by the author',
    many(6, (i) => ({ amount: 200, to: 'acme', note: { a: `t-${i}` } })),
    ['context.night is false and context.to is "acme" and context.amount is from 0 to 200'],
  ],
  [
    'a free argument by the approval',
    many(6, (i) => ({ amount: 200, to: 'acme', call: `t-${i}` })),
    ['context.night is false and context.to is "acme" and context.amount is from 0 to 200'],
  ],
  [
    'a flag',
    many(6, () => ({ amount: 200, dry: true })),
    ['context.dry is true and context.night is false and context.amount is from 0 to 200'],
  ],
  [
    'a free argument that the policies read',
    many(6, (i) => ({ to: 'acme', ...(i > 2 && { amount: 200 }) })),
    [],
    /context.amount has a new value/,
  ],
  [
    'one of them was rejected when another rule held it',
    [...alike, ...many(1, () => ({ amount: 150, to: 'acme' }), { result: 'rejected', rule: 'earlier' })],
    [],
    /not approved/,
  ],
  [
    'one of them was rejected that has the default',
    [
      ...many(6, () => ({ amount: 200, to: 'acme', night: false })),
      ...many(1, () => ({ amount: 150, to: 'acme' }), { result: 'rejected' }),
    ],
    [],
    /not approved/,
  ],
  [
    'those that another rule held are not evidence',
    many(6, () => ({ amount: 150, to: 'acme' }), { rule: 'earlier' }),
    [],
  ],
  [
    'one of them was rejected where one more rule held it, by an argument with a default',
    [...alike, ...many(1, () => ({ amount: 150, to: 'acme', night: true }), { result: 'rejected' })],
    ['context.night is false and context.to is "acme" and context.amount is from 0 to 205'],
  ],
  [
    'a flag that is sometimes there',
    many(6, (i) => ({ amount: 200, ...(i > 2 && { dry: true }) })),
    [],
    /context.dry has a new value/,
  ],
  [
    'too many arguments',
    [...alike, ...many(1, () => Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, 1])))],
    [],
    /too many/,
  ],
  [
    'undecided ones beside them',
    [...alike, ...many(3, () => ({ amount: 150, to: 'acme' }), { result: 'undecided' })],
    ['context.night is false and context.to is "acme" and context.amount is from 0 to 205'],
  ],
]
for (const [name, asks, proposed, why] of ROWS) {
  test(`always approved: ${name}`, async () => {
    const { proposals, not } = await found(asks)
    assert.deepEqual(proposals.map(({ what }) => what.replace('pay.out is allowed if ', '')).sort(), proposed)
    assert.match(not.map((one) => one.why).join(), why ?? /^$/)
  })
}

test('a refusal counts where the history of its request was pruned, and nothing of it is called erased', async () => {
  const { add, evidence } = evidenceOf(base.set)
  for (const recorded of await recordedBy(base.set, [...alike, ...alike.slice(0, 1)])) {
    const isRefused = recorded.seq === alike.length
    const replayed = isRefused
      ? ({ result: 'unknown', why: 'pruned' } as const)
      : await deciderOf(base.set).decide(recorded)
    await add(recorded, replayed, { result: isRefused ? 'rejected' : 'approved', approvers: ['eve'] })
  }
  const { proposals, not } = alwaysApproved(base.set, evidence(), { minima: MINIMA, free })
  assert.deepEqual([proposals, not.map(({ why }) => why)], [[], ['some requests of the same shape were not approved']])
})

test('a request with a path of any length is not looked at', async () => {
  const { not } = await found([...alike, ...many(1, () => ({ amount: 200, ['x'.repeat(200)]: 1 }))])
  assert.match(not[0]?.why ?? '', /too many arguments/)
})

/** Policies and approved requests, of which a request that people never saw must not become free. */
const EVASIONS: [name: string, policy: string, approved: JsonObject, sent: JsonObject, more?: JsonObject][] = [
  [
    'a number with a default is left out, then sent',
    'facts: {context.amount: {type: number, default: 1000000}}',
    { to: 'acme' },
    { to: 'acme', amount: 9e8 },
  ],
  ['a number is left out, then sent', '', { to: 'acme' }, { to: 'acme', amount: 9e8 }],
  ['a number is left out, then sent as a text', '', { to: 'acme' }, { to: 'acme', amount: 'x' }],
  [
    'a number below those that were seen, where low is risky',
    SCORE,
    { to: 'acme', amount: 2000, score: 44 },
    { to: 'acme', amount: 2000, score: 3 },
  ],
  [
    'an argument that only allowed requests had',
    '',
    { to: 'acme', amount: 2000 },
    { to: 'acme', amount: 2000, iban: 'x' },
    { to: 'acme', amount: 1, iban: 'y' },
  ],
  [
    'an object, of which a member was refused, as something else',
    '',
    { to: 'acme', amount: 2000 },
    { to: 'acme', amount: 2000, opt: true },
    { to: 'acme', amount: 1, opt: { force: true } },
  ],
]
for (const [name, policy, context, sent, more] of EVASIONS)
  test(`not allowed by what people approved: ${name}`, async () => {
    const { set, source } = baseOfText(`${policy}\n${policy.includes('rules:') ? '' : BY_AMOUNT}`)
    const asks = [...many(6, () => context), ...many(more === undefined ? 0 : 1, () => more ?? {}, {})]
    const { proposals } = alwaysApproved(set, await evidenceFor(set, asks), { minima: MINIMA, free: [] })
    const draft = await accepted({ set, source }, named(set, proposals), 'Test')
    assert.deepEqual(draft.dropped, [])
    assert.equal(await decidedBy(set, 'pay.out', sent), 'require_approval')
    assert.equal(await decidedBy(draft.set, 'pay.out', sent), 'require_approval')
  })

test('a hold that looks beside the request gets no exception', async () => {
  for (const fact of ['time.hour', 'agent']) {
    const value = fact === 'time.hour' ? 'greaterThanInclusive, value: 0' : 'notEqual, value: z'
    const { set } = baseOfText(
      `rules:\n  - {id: h, actions: [pay.out], effect: require_approval, reason: R., when: {fact: ${fact}, operator: ${value}}}\n`,
    )
    const found = alwaysApproved(set, await evidenceFor(set, alike), { minima: MINIMA, free: ['context.amount'] })
    assert.deepEqual(
      [found.proposals, found.not.map(({ why }) => why)],
      [[], [`rule h reads ${fact}, of which a shape says nothing`]],
    )
  }
})

test('the least of requests, days and people is kept', async () => {
  for (const minima of [
    { ...MINIMA, requests: 7 },
    { ...MINIMA, days: 3 },
    { ...MINIMA, approvers: 2 },
  ])
    assert.deepEqual((await found(alike, minima)).proposals, [], JSON.stringify(minima))
  const two = alike.map((ask, i) => ({ ...ask, approvers: [i % 2 === 0 ? 'eve' : 'joe'] }))
  const [one] = (await found(two, { ...MINIMA, approvers: 2 })).proposals
  assert.deepEqual([one?.approvers, one?.support.requests, one?.support.days], [2, 6, 2])
})

test('erased requests are counted, and not guessed', async () => {
  const { proposals } = await found(
    [...alike, ...many(2, () => ({}))].map((ask, i) => (i < 6 ? ask : { ...ask, context: null })),
  )
  assert.match(
    proposals[0]?.why ?? '',
    /approved all 6 requests like this, held by rule large\. The largest of context\.amount: 205, 204, 203\. Unknown, since erased: 2 requests that the same rule held/,
  )
})

const VALUES: (Json | undefined)[] = [undefined, 'acme', 'bob', 'ACME', '', 5]
const AMOUNTS: (Json | undefined)[] = [undefined, -1, 0, 99, 100, 101, 200, 205, 206, 999, 1000, '200']
const GRID = ['pay.out', 'pay.back', 'mail.send'].flatMap((action) =>
  VALUES.flatMap((to) => AMOUNTS.map((amount) => ({ action, context: given({ to, amount }) }))),
)

function given(values: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as JsonObject
}

async function draftWith(proposal: Proposal) {
  const draft = await accepted(base, named(base.set, [proposal]), 'Test')
  assert.deepEqual(draft.dropped, [])
  return draft
}

test('what is allowed anew is of the shape, and all of the shape that was held is allowed', async () => {
  const [proposal] = (await found(alike)).proposals
  const { set } = await draftWith(proposal ?? assert.fail())
  for (const { action, context } of GRID) {
    const [before, after] = [await decidedBy(base.set, action, context), await decidedBy(set, action, context)]
    const { to, amount } = context
    const isOfShape =
      action === 'pay.out' && to === 'acme' && typeof amount === 'number' && amount >= 0 && amount <= 205
    const text = JSON.stringify([action, context])
    if (!isOfShape) assert.equal(after, before, text)
    else assert.equal(after, 'allow', text)
  }
})

const ANY_TEXT = fc.oneof(
  fc.string({ minLength: 1, maxLength: 64 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }),
)

test('any text of agents is a value, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(ANY_TEXT, async (to) => {
      const { proposals } = await found(many(6, () => ({ amount: 200, to })))
      const draft = await accepted(base, named(base.set, proposals), `about ${to}`)
      // A text that no file can hold is dropped as a whole.
      if (draft.accepted.length === 0 && !/^[ -~]+$/.test(to)) return
      assert.deepEqual(draft.set.rules.map(({ id, effect }) => `${id} ${effect}`).sort(), [
        'large require_approval',
        'night require_approval',
        'pays allow',
        'suggested-1 allow',
      ])
      assert.equal(await decidedBy(draft.set, 'pay.out', { amount: 200, to }), 'allow')
      assert.equal(await decidedBy(draft.set, 'pay.out', { amount: 200, to: `${to}x` }), 'require_approval')
      assert.ok(draft.set.comparisons.some(({ wanted }) => wanted === to))
    }),
    { numRuns: 60 },
  )
})
