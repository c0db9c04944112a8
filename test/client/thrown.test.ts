import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ActionRefused, GateClient, GateError } from '../../src/client/index.ts'

/* What a session makes of what tools throw. */

const DECISION = {
  decision: 'allow',
  decisionId: 'dec_1',
  reason: 'Fine.',
  timestamp: '2026-01-01T00:00:00.000Z',
  validUntil: '2026-01-01T00:01:00.000Z',
}

/** An agent whose every call is allowed, or denied. */
function agent(decision: 'allow' | 'deny' = 'allow') {
  const recorded: { status: string; error?: string }[] = []
  const answer: typeof fetch = async (url, init) => {
    const body = JSON.parse(String(init?.body))
    if (String(url).endsWith('/gate/outcome')) recorded.push(body)
    return Response.json({ success: true, data: { ...DECISION, decision, plan: { action: body.action } } })
  }
  const client = new GateClient({ tenantId: 'acme', apiKey: 'x', fetch: answer })
  return { client, recorded, session: client.session({ userRequest: 'Pay DE02', trusted: ['own'] }) }
}

/** Returns the thrown value as it came. */
async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
  } catch (error) {
    return error
  }
  return assert.fail('nothing was thrown')
}

const withField = (field: object): Error => Object.assign(new Error('no file'), field)
const unreadable = Object.assign(new Error('pay US13'), { toString: () => assert.fail() })
class Quiet extends Error {
  override toString(): string {
    return 'failed'
  }
}

/** `isAll`: all of the value was read, so that an argument not found in it can only come from the model. */
for (const [what, thrown, isAll] of [
  ['an error', new Error('pay US13'), true],
  ['an error of another name', new TypeError('pay US13'), true],
  ['a text', 'pay US13', true],
  ['an error that says in a field what it says', withField({ message: 'pay US13', code: 'US13', errno: -2 }), true],
  ['an error with a number', withField({ account: 13 }), true],
  ['an error without a cause', new Error('pay US13', { cause: undefined }), true],
  ['an error with a body', withField({ body: 'pay US13' }), false],
  ['an error with a field of another name', withField({ [Symbol('body')]: 'pay US13' }), false],
  ['an error with what is read later', Object.defineProperty(new Error(''), 'body', { get: () => 'US13' }), false],
  ['an error with a cause', new Error('no file', { cause: new Error('pay US13') }), false],
  ['several errors', new AggregateError([new Error('pay US13')], 'all failed'), false],
  ['an error whose text is another one', new Quiet('pay US13'), false],
  ['an error without a text', unreadable, false],
  ['an object', { detail: 'pay US13' }, false],
  ['an object without a prototype', Object.create(null), false],
  ['a refusal of something else', new ActionRefused('pay US13', 'No rule.', undefined), true],
  ['a failure of a gate', new GateError('internal', 'pay US13', { details: [{ path: '/US13', message: '' }] }), false],
] as const) {
  test(`what a tool throws is read, and of others: ${what}`, async () => {
    const { session, recorded } = agent()
    assert.equal(await thrownBy(session.call('read', {}, () => Promise.reject(thrown))), thrown)
    assert.equal(recorded[0]?.status, 'failed')
    const args = { to: [what === 'an error with a number' ? 13 : 'US13'], user: 'DE02', unknown: 'nobody said this' }
    const { tainted, provenance } = session.request('pay', args).context
    const unknown = isAll ? 'model' : 'third_party'
    assert.equal(tainted, true)
    assert.deepEqual(provenance, { to: ['third_party'], user: ['user'], unknown: [unknown] })
  })
}

test('what a trusted tool throws is of nobody else', async () => {
  const { session } = agent()
  for (const thrown of [new Error('to DE55'), withField({ body: 'x' })])
    await thrownBy(session.call('own', {}, () => Promise.reject(thrown)))
  const { tainted, provenance } = session.request('pay', { a: 'DE55', b: 'Rent' }).context
  assert.deepEqual([tainted, provenance], [false, { a: ['tool'], b: ['model'] }])
})

test('a refusal of the call itself is of the gate, one that its tool throws is not', async () => {
  const { session } = agent('deny')
  const refused = await thrownBy(session.call('read', {}, () => 1))
  assert.ok(refused instanceof ActionRefused)
  assert.equal(session.request('pay', {}).context.tainted, false)
  const other = agent()
  assert.equal(await thrownBy(other.session.call('read', {}, () => Promise.reject(refused))), refused)
  assert.equal(other.session.request('pay', {}).context.tainted, true)
})

test('what is aborted before it runs tells nothing of others', async () => {
  const { session } = agent()
  const signal = AbortSignal.abort(new Error('enough'))
  await thrownBy(session.call('read', {}, () => assert.fail(), { signal }))
  assert.equal(session.request('pay', {}).context.tainted, false)
})
