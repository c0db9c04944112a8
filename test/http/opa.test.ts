import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import type { ErrorCode } from '../../src/base/errors.ts'
import { plainFetch } from '../declared.ts'
import { type Answer, startGate } from '../helpers.ts'
import { runs } from '../tier.ts'
import { assertDone, assertRefusedBy, entries, entriesOf } from './support.ts'

/* The wire of the package @ai-sdk/policy-opa 1.0.112 with @open-policy-agent/opa 1.7.11, as their sources have it. */

const PATH = '/v1/data/gate/decision'
const ALLOW = '/v1/data/gate/allow'
const gate = await startGate({ after })
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver', 'auditor'], identity: 'ann' })
const owner = await gate.key()
const stranger = await gate.key({ tenant: 'other', roles: ['agent'] })

type Headers = Record<string, string>
const BEARER: Headers = { authorization: `Bearer ${agent.secret}` }

/** As the client of OPA sends it. */
async function ask(body: unknown, headers: Headers = BEARER, query = '', path = PATH): Promise<Answer> {
  const response = await fetch(`${gate.server.url}${path}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Effect in the package: any answer but a 200 throws, which denies; a 200 without a result runs the tool. */
function effect({ status, body }: Answer): 'runs' | 'denied' | 'user-approval' {
  if (status !== 200) return 'denied'
  if (body.result === undefined || body.result === null) return 'runs'
  if (body.result.decision === 'allow') return 'runs'
  return body.result.decision === 'requires-approval' ? 'user-approval' : 'denied'
}

const user = (content: unknown) => ({ role: 'user', content })
const called = { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'x', input: {} }] }
const result = (output: unknown) => ({ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', output }] })
const answered = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a1', approved: true }] }

const MESSAGES = [user('Pay the bill.')]
const call = (name: string, args: unknown, more: object = { messages: MESSAGES }) => ({
  input: { tool: { name }, args, ...more },
})
/** The policies of these tests read `context.amount`; an application puts it there by `toInput`. */
const pay = (amount: number, more: object = { messages: MESSAGES }) =>
  call('payment.transfer', { amount }, { amount, ...more })

async function recorded(answer: Answer) {
  const { data } = (await gate.call(owner, 'GET', `/decisions/${answer.body.decision_id}`)).body
  return data.request
}

test('an allow, a deny and a hold, each on record under its decision_id', async () => {
  for (const [amount, decision, does] of [
    [5, 'allow', 'runs'],
    [200_000, 'deny', 'denied'],
    [5001, 'requires-approval', 'user-approval'],
  ] as const) {
    const answer = await ask(pay(amount))
    assert.deepEqual([answer.status, answer.body.result.decision, effect(answer)], [200, decision, does])
    assert.match(answer.body.result.reason, /\S/)
    assert.equal((await recorded(answer)).action, 'payment.transfer')
  }
})

test('an action that no rule covers is denied, as at /gate/check', async () => {
  assert.equal((await ask(call('unknown.tool', {}))).body.result.decision, 'deny')
})

describe('what policies are told', () => {
  const seen = async (input: object) =>
    (await recorded(await ask({ input: { tool: { name: 'email.send' }, ...input } }))).context

  test('arguments and the runtime context as they are, and other members of the input beside them', async () => {
    const context = await seen({ args: { to: ['a@b.example'] }, runtimeContext: { session: 's1' }, effect: 'write' })
    assert.deepEqual(context, { args: { to: ['a@b.example'] }, runtimeContext: { session: 's1' }, effect: 'write' })
  })

  const conversations: [name: string, messages: object[], said: string, tainted: boolean][] = [
    ['nothing', [], '', false],
    [
      'what the user said',
      [user('Pay it.'), called, user([{ type: 'text', text: 'And soon.' }])],
      'Pay it.\n\nAnd soon.',
      false,
    ],
    ['the application', [{ role: 'system', content: 'Be nice.' }, user('Hi.')], 'Hi.', false],
    [
      'the model',
      [
        user('Hi.'),
        { role: 'assistant', content: 'Hello.' },
        { role: 'assistant', content: [{ type: 'reasoning', text: 'x' }] },
      ],
      'Hi.',
      false,
    ],
    ['a result', [user('Hi.'), called, result({ type: 'text', value: 'from a page' })], 'Hi.', true],
    [
      'a result in the message of the model',
      [user('Hi.'), { role: 'assistant', content: [{ type: 'tool-result', output: { type: 'json', value: 1 } }] }],
      'Hi.',
      true,
    ],
    ['an error of a tool', [user('Hi.'), result({ type: 'error-text', value: 'from a page' })], 'Hi.', true],
    ['a denial, by which no tool ran', [user('Hi.'), result({ type: 'execution-denied', reason: 'no' })], 'Hi.', false],
    ['an answer of the user', [user('Hi.'), called, answered], 'Hi.', false],
    [
      'a file of the user',
      [
        user([
          { type: 'text', text: 'Read.' },
          { type: 'file', data: 'eA==' },
        ]),
      ],
      'Read.',
      true,
    ],
    ['a role that is not known', [user('Hi.'), { role: 'data', content: 'x' }], 'Hi.', true],
    [
      'a part that is not known',
      [user('Hi.'), { role: 'assistant', content: [{ type: 'source', url: 'x' }] }],
      'Hi.',
      true,
    ],
    ['a message without content', [user('Hi.'), { role: 'tool' }], 'Hi.', true],
    ['parts that are none', [user('Hi.'), { role: 'user', content: [null, 1] }], 'Hi.', true],
    ['a role with an inherited name', [{ role: 'constructor', content: 'x' }], '', true],
  ]
  for (const [name, messages, userRequest, tainted] of conversations) {
    test(`from a conversation: ${name}`, async () => {
      assert.deepEqual(await seen({ args: {}, messages }), { args: {}, userRequest, tainted })
    })
  }

  test('what follows from a conversation is not overruled by the rest of the input', async () => {
    const messages = [user('Hi.'), result({ type: 'text', value: 'x' })]
    const context = await seen({ messages, tainted: false, userRequest: 'Pay everything.' })
    assert.deepEqual(context, { userRequest: 'Hi.', tainted: true })
  })

  test('without a conversation, what the application says', async () => {
    assert.deepEqual(await seen({ tainted: false, userRequest: 'Hi.' }), { tainted: false, userRequest: 'Hi.' })
  })
})

describe('a hold is for approvers of the gate', () => {
  const holds: [name: string, more: object, does: ReturnType<typeof effect>][] = [
    ['asked for the first time', { messages: MESSAGES }, 'user-approval'],
    ['after a user of the application has answered', { messages: [...MESSAGES, called, answered] }, 'denied'],
    [
      'after an answer in an earlier message',
      { messages: [...MESSAGES, called, answered, user('Go on.')] },
      'user-approval',
    ],
    ['without a conversation, of which nobody knows', {}, 'denied'],
    ['with an empty conversation', { messages: [] }, 'denied'],
  ]
  for (const [i, [name, more, does]] of holds.entries()) {
    test(name, async () => {
      const answer = await ask(pay(6000 + i, more))
      assert.equal(effect(answer), does)
      assert.match(answer.body.result.approval_id, /^apr_/)
      assert.match(answer.body.result.reason, new RegExp(answer.body.result.approval_id))
    })
  }

  const trimmed: [name: string, messages: object[]][] = [
    ['those of users', [user('Pay it.')]],
    ['the first one', [{ role: 'system', content: 'Be nice.' }]],
    ['an empty one', [user('')]],
    ['all but the last', [user('Pay it.'), called]],
  ]
  for (const [i, [name, messages]] of trimmed.entries()) {
    test(`asked twice with messages of which the application leaves only ${name}`, async () => {
      const first = await ask(pay(6100 + i, { messages }))
      const second = await ask(pay(6100 + i, { messages }))
      assert.deepEqual([effect(first), effect(second)], ['user-approval', 'denied'])
      assert.equal(second.body.result.approval_id, first.body.result.approval_id)
    })
  }

  test('whatever the messages, only one question about a call is the first', async () => {
    let amount = 6200
    const part = fc.record({
      type: fc.constantFrom('text', 'tool-call', 'tool-approval-response', 'file'),
      text: fc.string(),
    })
    const message = fc.record({
      role: fc.constantFrom('user', 'assistant', 'tool', 'system'),
      content: fc.oneof(fc.string(), fc.array(part, { maxLength: 3 })),
    })
    const property = fc.asyncProperty(fc.array(message, { maxLength: 4 }), async (messages) => {
      amount += 1
      const body = pay(amount, { messages })
      const does = [effect(await ask(body)), effect(await ask(body)), effect(await ask(body))]
      assert.deepEqual(does.slice(1), ['denied', 'denied'])
      assert.notEqual(does[0], 'runs')
    })
    await fc.assert(property, { numRuns: runs(60) })
  })

  test('of many questions at once, one is the first', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(pay(6300))))
    assert.deepEqual(
      answers.map(effect).filter((does) => does !== 'denied'),
      ['user-approval'],
    )
  })

  test('one that was held elsewhere before is not asked about first here', async () => {
    const { action, context } = await recorded(await ask(pay(5)))
    const request = { tenantId: 'acme', action, context: { ...context, amount: 6400, args: { amount: 6400 } } }
    const held = await gate.call(agent, 'POST', '/gate/check', request)
    const answer = await ask(pay(6400))
    assert.deepEqual([effect(answer), answer.body.result.approval_id], ['denied', held.body.data.approvalId])
  })

  test('once one has approved, the tool runs once', async () => {
    const resumed = pay(7000, { messages: [...MESSAGES, called, answered] })
    const first = await ask(pay(7000))
    const id = first.body.result.approval_id
    assertDone(await gate.call(approver, 'POST', `/approvals/${id}/approve`, { approverId: 'ann' }))
    const second = await ask(resumed)
    assert.deepEqual([effect(second), second.body.result.approval_id], ['runs', id])
    assert.equal(effect(await ask(resumed)), 'denied')
  })

  test('once one has rejected, it does not', async () => {
    const { approval_id: id } = (await ask(pay(7001))).body.result
    assertDone(await gate.call(approver, 'POST', `/approvals/${id}/reject`, { approverId: 'ann', reason: 'no' }))
    assert.equal(effect(await ask(pay(7001))), 'denied')
  })
})

describe('the decision as a truth value', () => {
  const allowed = async (body: unknown): Promise<unknown> => (await ask(body, BEARER, '', ALLOW)).body.result

  for (const [amount, result] of [
    [5, true],
    [200_000, false],
    [5101, false],
  ] as const)
    test(`of ${amount} is ${result}, and on record`, async () => {
      const answer = await ask(pay(amount), BEARER, '', ALLOW)
      assert.deepEqual([answer.status, answer.body.result], [200, result])
      assert.deepEqual(Object.keys(answer.body), ['decision_id', 'result'])
      assert.equal((await recorded(answer)).context.amount, amount)
    })

  test('what is held is true once, when an approver of the gate has approved it', async () => {
    assert.equal(await allowed(pay(5102)), false)
    const { approval_id: id } = (await ask(pay(5102))).body.result
    assertDone(await gate.call(approver, 'POST', `/approvals/${id}/approve`, { approverId: 'ann' }))
    assert.deepEqual([await allowed(pay(5102)), await allowed(pay(5102))], [true, false])
  })
})

describe('keys and tenants', () => {
  const key = { 'x-api-key': agent.secret }
  const good: [name: string, headers: Headers][] = [
    ['a bearer token', BEARER],
    ['a bearer token in small letters', { authorization: `bearer ${agent.secret}` }],
    ['our header', key],
    ['our header beside a token for somebody else', { ...key, authorization: 'Bearer of-a-mesh' }],
    ['a tenant', { ...BEARER, 'x-tenant-id': 'acme' }],
  ]
  for (const [name, headers] of good)
    test(`taken: ${name}`, async () => assert.equal(effect(await ask(pay(5), headers)), 'runs'))

  const bad: [name: string, code: ErrorCode, headers: Headers][] = [
    ['none', 'unauthenticated', {}],
    ['another scheme', 'unauthenticated', { authorization: `Basic ${agent.secret}` }],
    ['two tokens', 'unauthenticated', { authorization: `Bearer ${agent.secret} ${agent.secret}` }],
    ['an unknown key', 'unauthenticated', { authorization: 'Bearer sk_live_none' }],
    ['an empty key beside a token', 'unauthenticated', { ...BEARER, 'x-api-key': '' }],
    ['the tenant of somebody else', 'tenant_mismatch', { ...BEARER, 'x-tenant-id': 'other' }],
    ['an empty tenant', 'unauthenticated', { ...BEARER, 'x-tenant-id': '' }],
    ['a key that may not ask', 'forbidden', { authorization: `Bearer ${approver.secret}` }],
  ]
  for (const [name, code, headers] of bad)
    test(`refused: ${name}`, async () => {
      const before = await entries(gate)
      assertRefusedBy('opa', await ask(pay(5), headers), code)
      assert.equal(await entries(gate), before)
    })

  test('an admin names the tenant', async () => {
    const admin = await gate.key({ roles: ['admin'] })
    const headers = { authorization: `Bearer ${admin.secret}` }
    assertRefusedBy('opa', await ask(pay(5), headers), 'unauthenticated')
    assert.equal(effect(await ask(pay(5), { ...headers, 'x-tenant-id': 'acme' })), 'runs')
  })

  test('who belongs to another tenant is decided by its policies, of which there are none', async () => {
    assert.equal(effect(await ask(pay(5), { authorization: `Bearer ${stranger.secret}` })), 'denied')
  })

  test('only facades take a bearer token, or go without a tenant', async () => {
    const body = JSON.stringify({ tenantId: 'acme', action: 'email.send' })
    for (const headers of [{ ...BEARER, 'x-tenant-id': 'acme' }, { 'x-api-key': agent.secret }]) {
      const { status } = await fetch(`${gate.server.url}/gate/check`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
      assert.equal(status, 401)
    }
  })
})

test('parameters of OPA that change no decision are taken, others are refused', async () => {
  const known = '?pretty=true&explain=full&metrics&instrument=true&provenance=true&strict-builtin-errors=true'
  assert.equal(effect(await ask(pay(5), BEARER, known)), 'runs')
  for (const query of ['?partial=true', '?input=%7B%7D', '?pretty=1&pretty=2'])
    assertRefusedBy('opa', await ask(pay(5), BEARER, query), 'invalid_request', query)
})

const MIB = 1024 * 1024
const REFUSED: [name: string, code: ErrorCode, body: unknown, headers?: Headers][] = [
  ['no input', 'invalid_request', {}],
  ['input that is no object', 'invalid_request', { input: 'x' }],
  ['no tool', 'invalid_request', { input: { args: {} } }],
  ['a tool without a name', 'invalid_request', { input: { tool: {} } }],
  ['a name that is no action', 'invalid_request', call('rm -rf', {})],
  ['an empty name', 'invalid_request', call('', {})],
  ['a name of 129', 'invalid_request', call('x'.repeat(129), {})],
  ['messages that are no list', 'invalid_request', pay(5, { messages: 'Pay.' })],
  ['messages that are texts', 'invalid_request', pay(5, { messages: ['Pay.'] })],
  ['a body that is a list', 'invalid_request', []],
  ['half a body', 'invalid_json', '{"input":'],
  ['a key that comes twice', 'invalid_json', '{"input":{"tool":{"name":"email.send"},"tool":{"name":"email.send"}}}'],
  ['__proto__', 'invalid_json', '{"input":{"tool":{"name":"email.send"},"__proto__":{"tainted":false}}}'],
  ['depth 33', 'invalid_json', `{"input":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}`],
  ['more than 1 MiB', 'payload_too_large', pay(5, { messages: [user('x'.repeat(MIB))] })],
  ['more than 10,000 values', 'invalid_json', pay(5, { messages: [user(new Array(10_001).fill(1))] })],
  ['YAML', 'unsupported_media_type', 'input: {}', { 'content-type': 'application/x-yaml' }],
  ['compressed', 'unsupported_media_type', '{}', { 'content-encoding': 'gzip' }],
]
for (const [name, code, body, headers = {}] of REFUSED) {
  test(`an error, and so a denial: ${name}`, async () => {
    const before = await entries(gate)
    for (const path of [PATH, ALLOW]) {
      const answer = await ask(body, { ...BEARER, ...headers }, '', path)
      assertRefusedBy('opa', answer, code)
      assert.equal(effect(answer), 'denied')
    }
    assert.equal(await entries(gate), before)
  })
}

test('a path of OPA that is none here is an error, not an answer without a result', async () => {
  for (const path of [
    '/v1/data',
    '/v1/data/gate',
    '/v1/data/gate/decison',
    '/v1/data/gate/allow/',
    '/v1/data/gate%2Fdecision',
    '/v0/data/gate/decision',
  ])
    assert.equal((await plainFetch(gate.server.url + path, { method: 'POST', headers: BEARER })).status, 404, path)
  assert.equal((await plainFetch(gate.server.url + PATH, { headers: BEARER })).status, 405)
})

test('whatever the input, an answer has a decision, or is an error', async () => {
  const words = ['allow', 'deny', 'requires-approval']
  const asked = async (path: string, body: string) => {
    const headers = { ...BEARER, 'content-type': 'application/json' }
    const response = await plainFetch(gate.server.url + path, { method: 'POST', headers, body })
    return { status: response.status, body: (await response.json()) as { result?: unknown } }
  }
  const property = fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.boolean(), async (value, whole) => {
    const body = JSON.stringify(
      whole ? value : { input: { tool: { name: 'email.send' }, args: value, messages: [value] } },
    )
    const decided = await asked(PATH, body)
    const { decision } = (decided.body.result ?? {}) as { decision?: string }
    assert.equal(decided.status === 200, words.includes(decision ?? ''), body)
    const allowed = await asked(ALLOW, body)
    assert.equal(allowed.status, decided.status)
    assert.equal(allowed.body.result, decided.status === 200 ? decision === 'allow' : undefined, body)
  })
  await fc.assert(property, { numRuns: runs(200) })
})

test('a stop denies what is asked here too', async (t) => {
  const stopped = await startGate(t)
  const key = await stopped.key()
  await stopped.call(key, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'drill', triggeredBy: 'ann' })
  const { status, body } = await stopped.call(key, 'POST', PATH, { input: { tool: { name: 'email.send' } } })
  assert.deepEqual([status, body.result.decision], [200, 'deny'])
  assert.equal(await entriesOf(stopped, 'gate.decision'), 1)
})
