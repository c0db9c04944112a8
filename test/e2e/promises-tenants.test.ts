import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ACME_POLICY, type Answer, type Gate, type KeyOptions, startGate } from '../helpers.ts'
import { until } from '../until.ts'

type Key = Awaited<ReturnType<Gate['key']>>

interface Scene {
  gate: Gate
  /** Owner key of acme's live side, whose data the stranger may neither see nor change. */
  owner: Key
  stranger: Key
  decisionId: string
  approvalId: string
  post: (key: Key, path: string, body: object, headers?: Record<string, string>) => Promise<Answer>
}

const strangers: { name: string; options: KeyOptions }[] = [
  { name: 'the owner of another tenant', options: { tenant: 'other', roles: ['owner'] } },
  { name: 'the test side of the same tenant', options: { tenant: 'acme', roles: ['owner'], environment: 'test' } },
]
const held = { action: 'payment.transfer', context: { amount: 2000 } }
const mail = { action: 'email.send' }
const stop = { level: 'L3', reason: 'odd mail', triggeredBy: 'eve' }
const once = { 'idempotency-key': 'same' }

async function scene(t: TestContext, options: KeyOptions): Promise<Scene> {
  const theirs = ACME_POLICY.replace('tenant: acme', 'tenant: other')
  const gate = await startGate(t, { policies: { 'acme/main.yaml': ACME_POLICY, 'other/main.yaml': theirs } })
  const [owner, stranger] = [await gate.key(), await gate.key(options)]
  const post: Scene['post'] = (key, path, body, headers) =>
    gate.call(key, 'POST', path, { tenantId: key.tenant, ...body }, headers)
  const { decisionId, approvalId } = (await post(owner, '/gate/check', held, once)).body.data
  return { gate, owner, stranger, decisionId, approvalId, post }
}

const byId: { name: string; of: (scene: Scene) => Promise<Answer> }[] = [
  {
    name: 'a bundle by its decision',
    of: ({ gate, stranger, decisionId }) => gate.call(stranger, 'GET', `/evidence/bundle/${decisionId}`),
  },
  {
    name: 'a bundle by its entry',
    of: ({ gate, stranger, decisionId }) =>
      gate.call(stranger, 'GET', `/evidence/bundle/${decisionId.replace('dec_', 'aud_')}`),
  },
  {
    name: 'an approval',
    of: ({ gate, stranger, approvalId }) => gate.call(stranger, 'GET', `/approvals/${approvalId}`),
  },
  {
    name: 'an approval, to approve it',
    of: ({ post, stranger, approvalId }) => post(stranger, `/approvals/${approvalId}/approve`, { approverId: 'eve' }),
  },
  {
    name: 'an approval, to reject it',
    of: ({ post, stranger, approvalId }) => post(stranger, `/approvals/${approvalId}/reject`, { approverId: 'eve' }),
  },
]

for (const { name, options } of strangers) {
  for (const { name: what, of } of byId) {
    test(`${name} does not find ${what}`, async (t) => {
      const made = await scene(t, options)
      const { status, body } = await of(made)
      assert.deepEqual([status, body.error, body.data], [404, 'not_found', undefined])
      // It is there, for its owner, and as it was.
      assert.equal((await of({ ...made, stranger: made.owner })).body.error === 'not_found', false)
    })
  }

  test(`${name} sees its own entries, approvals and stops only`, async (t) => {
    const { gate, owner, stranger, decisionId, approvalId, post } = await scene(t, options)
    await post(owner, '/audit/log', { eventType: 'custom.secret', data: { secret: 'of acme live' } })
    await post(owner, '/killswitch/trigger', stop)
    const own = (await post(stranger, '/audit/log', { eventType: 'custom.note', data: {} })).body.data
    const entries = (await gate.call(stranger, 'GET', '/audit/chain?limit=500')).body.data
    const ids = entries.map(({ id }: { id: string }) => id)
    assert.ok(ids.includes(own.id))
    assert.equal(ids.includes(decisionId.replace('dec_', 'aud_')), false)
    const everything = await Promise.all(
      ['/audit/chain?limit=500', '/approvals', '/killswitch/status'].map((path) => gate.call(stranger, 'GET', path)),
    )
    const text = JSON.stringify(everything.map(({ body }) => body))
    for (const hidden of [decisionId, approvalId, 'of acme live', 'odd mail'])
      assert.equal(text.includes(hidden), false)
  })

  test(`a stop of ${name} stops nothing here, and the other way`, async (t) => {
    const { gate, owner, stranger, post } = await scene(t, options)
    await post(stranger, '/killswitch/trigger', stop)
    assert.equal((await post(owner, '/gate/check', mail)).body.data.decision, 'allow')
    assert.equal((await post(stranger, '/gate/check', mail)).body.data.decision, 'deny')
    assert.equal((await gate.call(owner, 'GET', '/killswitch/status')).body.data.active, false)
    assert.equal(
      (await post(owner, '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })).body.error,
      'kill_switch_inactive',
    )
  })

  test(`an approval does not serve ${name}`, async (t) => {
    const { gate, stranger, approvalId, post } = await scene(t, options)
    const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
    const voted = await post(approver, `/approvals/${approvalId}/approve`, { approverId: 'ann' })
    assert.equal(voted.body.data.status, 'approved')
    const asked = (await post(stranger, '/gate/check', { ...held, approvalId })).body.data
    assert.equal(asked.decision, 'require_approval')
    assert.notEqual(asked.approvalId, approvalId)
    assert.equal((await gate.call(approver, 'GET', `/approvals/${approvalId}`)).body.data.status, 'approved')
  })

  test(`an Idempotency-Key of ${name} is another one`, async (t) => {
    const { stranger, decisionId, post } = await scene(t, options)
    const { status, body } = await post(stranger, '/gate/check', mail, once)
    assert.equal(status, 200)
    assert.notEqual(body.data.decisionId, decisionId)
  })

  test(`verifying finds nothing of ${name}`, async (t) => {
    const { gate, stranger, post } = await scene(t, options)
    const today = new Date().toISOString().slice(0, 10)
    const range = { startDate: '2020-01-01', endDate: today }
    // The service may write an entry between the two answers.
    await until('as many entries are verified as there are', async () => {
      const counted = (await post(stranger, '/audit/verify', range)).body.data.entriesChecked
      const { total } = (await gate.call(stranger, 'GET', '/audit/chain')).body.page
      return counted === total
    })
  })
}

test('a key of another tenant is not found to be revoked, and a test key reaches no live key', async (t) => {
  const { gate, owner } = await scene(t, { tenant: 'other' })
  for (const [options, status, code] of [
    [{ tenant: 'other' }, 404, 'not_found'],
    [{ environment: 'test' }, 403, 'forbidden'],
  ] as const) {
    const stranger = await gate.key(options)
    const answer = await gate.call(stranger, 'DELETE', `/keys/${owner.id}`)
    assert.deepEqual([answer.status, answer.body.error], [status, code])
    const listed = (await gate.call(stranger, 'GET', '/keys')).body.data
    assert.equal(JSON.stringify(listed).includes(owner.id), false)
  }
  assert.equal((await gate.call(owner, 'GET', '/keys')).status, 200)
})

test('a key that names another tenant is refused', async (t) => {
  const { gate, stranger } = await scene(t, { tenant: 'other' })
  const named = { ...stranger, tenant: 'acme' }
  for (const [method, path, body] of [
    ['GET', '/audit/chain'],
    ['POST', '/gate/check', { tenantId: 'acme', ...mail }],
    ['GET', '/killswitch/status'],
  ] as const) {
    const answer = await gate.call(named, method, path, body)
    assert.deepEqual([answer.status, answer.body.error], [403, 'tenant_mismatch'])
  }
})
