import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { ErrorCode } from '../../src/base/errors.ts'
import { ACME_POLICY, type Answer, startGate } from '../helpers.ts'
import { assertDone, assertRefusedBy, entries } from './support.ts'

/* The Access Request and Approval Profile of AuthZEN, draft 1: a hold is a denial that can be requested, its approval a task. */

const clock = { nowMs: Date.now() }
const UNBOUND = `${ACME_POLICY}approval: {unbound: [context.time]}\n`
const gate = await startGate({ after }, { clock: () => clock.nowMs })
const agent = await gate.key({ roles: ['agent'], identity: 'billing-bot' })
const other = await gate.key({ roles: ['agent'], identity: 'other-bot' })
const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
const owner = await gate.key({ identity: 'olga' })
const stranger = await gate.key({ tenant: 'other', roles: ['agent'] })
type Key = typeof agent

interface Evaluation {
  [member: string]: unknown
  subject: object
  action: object
  resource: object
  context: Record<string, unknown>
}
const access = (amount: number, more: object = {}): Evaluation => ({
  subject: { type: 'user', id: 'alice' },
  action: { name: 'payment.transfer' },
  resource: { type: 'account', id: 'DE02', properties: { currency: 'EUR' } },
  context: { amount, ...more },
})

const evaluate = async (evaluation: object, key: Key = agent): Promise<Answer> =>
  gate.call(key, 'POST', '/access/v1/evaluation', evaluation)
const request = (evaluation: object, denial: unknown, key: Key = agent) =>
  gate.call(key, 'POST', '/access/v1/requests', { ...evaluation, denial })
const task = (id: string, key: Key = agent) => gate.call(key, 'GET', `/access/v1/requests/${id}`)
const vote = (id: string, verb: 'approve' | 'reject') =>
  gate.call(approver, 'POST', `/approvals/${id}/${verb}`, {
    approverId: 'ann',
    ...(verb === 'reject' && { reason: 'no' }),
  })

/** Returns the part of a denial that a client echoes. */
const denialOf = ({ body: { context } }: Answer) => ({
  evaluation_id: context.evaluation_id,
  evaluated_at: context.evaluated_at,
  expires_at: context.access_request?.expires_at ?? context.evaluated_at,
  reason: context.reason,
})

/** A hold, and the task that came of it. */
async function requested(evaluation: object) {
  const denied = await evaluate(evaluation)
  const answer = await request(evaluation, denialOf(denied))
  assert.equal(answer.status, 202, JSON.stringify(answer.body))
  return { denied, id: answer.body.task.id as string, answer }
}
const withApproval = (evaluation: Evaluation, approval: unknown): Evaluation => ({
  ...evaluation,
  context: { ...evaluation.context, approval },
})

test('denied, requested, approved, evaluated again: allowed once', async () => {
  const evaluation = access(2000)
  const { denied, id, answer } = await requested(evaluation)
  const { url } = gate.server
  assert.equal(denied.body.decision, false)
  assert.deepEqual(
    [denied.body.context.reason, denied.body.context.access_request.endpoint],
    ['approval_required', `${url}/access/v1/requests`],
  )
  const status_endpoint = `${url}/access/v1/requests/${id}`
  assert.deepEqual(answer.body, { task: { id, status: 'pending', status_endpoint } })
  assert.deepEqual((await task(id)).body, answer.body)
  assertDone(await vote(id, 'approve'))
  const { body } = await task(id)
  assert.deepEqual([body.task.status, body.result.mode, body.result.approval.id], ['approved', 'reevaluate', id])
  assert.equal(body.result.approval.approved_until, denied.body.context.access_request.expires_at)

  const again = await evaluate(withApproval(evaluation, body.result.approval))
  assert.equal(again.body.decision, true)
  assert.equal(again.body.context.approval.id, id)
  assert.equal(again.body.context.approval.approved_until, again.body.context.valid_until)

  // A task that has ended stays as it ended; what it gave is used up.
  assert.equal((await task(id)).body.task.status, 'approved')
  const third = await evaluate(withApproval(evaluation, body.result.approval))
  assert.deepEqual(
    [third.body.decision, third.body.context.reason, third.body.context.next_action],
    [false, 'approval_required', 'request'],
  )
  assert.notEqual((await request(evaluation, denialOf(third))).body.task.id, id)
})

test('a request writes nothing, and asked for again it is the same task', async () => {
  const evaluation = access(2010)
  const { denied, id } = await requested(evaluation)
  const before = await entries(gate)
  for (const more of [{}, { requested_access: { emergency: true }, client: { id: 'x' }, foo: 1 }])
    assert.equal((await request({ ...evaluation, ...more }, denialOf(denied))).body.task.id, id)
  assert.equal(await entries(gate), before)
})

test('a request may add to its context, and the approval is for what was evaluated', async () => {
  const evaluation = access(2020)
  const denied = await evaluate(evaluation)
  const justified = access(2020, { business_justification: 'Quarter ends.' })
  const { body } = await request(justified, denialOf(denied))
  assert.equal(body.task.status, 'pending')
  const { data } = (await gate.call(owner, 'GET', `/approvals/${body.task.id}`)).body
  assert.equal('business_justification' in data.context, false)
})

describe('what is not what was denied gets no task', () => {
  const rows: [
    name: string,
    change: (evaluation: Evaluation, denial: ReturnType<typeof denialOf>) => [object, object],
    code: ErrorCode,
  ][] = [
    [
      'another subject',
      (one, denial) => [{ ...one, subject: { type: 'user', id: 'bob' } }, denial],
      'invalid_denial_binding',
    ],
    [
      'another action',
      (one, denial) => [{ ...one, action: { name: 'payment.refund' } }, denial],
      'invalid_denial_binding',
    ],
    [
      'another resource',
      (one, denial) => [{ ...one, resource: { type: 'account', id: 'DE03' } }, denial],
      'invalid_denial_binding',
    ],
    [
      'fewer properties',
      (one, denial) => [{ ...one, resource: { type: 'account', id: 'DE02' } }, denial],
      'invalid_denial_binding',
    ],
    ['another amount', (one, denial) => [{ ...one, context: { amount: 1 } }, denial], 'invalid_denial_binding'],
    ['no context', ({ context: _, ...one }, denial) => [one, denial], 'invalid_denial_binding'],
    [
      'no such evaluation',
      (one, denial) => [one, { ...denial, evaluation_id: 'dec_01m7yzzehe6pjva8zh9yqf6aqb' }],
      'invalid_denial_binding',
    ],
    ['an id that is none', (one, denial) => [one, { ...denial, evaluation_id: '../x' }], 'invalid_denial_binding'],
    ['no id', (one, { evaluation_id: _, ...denial }) => [one, denial], 'invalid_request'],
    ['no deadline', (one, { expires_at: _, ...denial }) => [one, denial], 'invalid_request'],
    [
      'items of a bundle, which are not taken',
      ({ action: _, resource: __, ...one }, denial) => [{ ...one, items: [] }, denial],
      'invalid_request',
    ],
  ]
  for (const [i, [name, change, code]] of rows.entries())
    test(name, async () => {
      const evaluation = access(3000 + i)
      const denied = await evaluate(evaluation)
      const [sent, denial] = change(evaluation, denialOf(denied))
      const answer = await request(sent, denial)
      assertRefusedBy('access-request', answer, code)
      const urn = code === 'invalid_request' ? undefined : `urn:openid:authzen:access-request:error:${code}`
      assert.equal(answer.body.type, urn)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/)
    })

  for (const [name, amount] of [
    ['an allow', 5],
    ['a deny', 200_000],
  ] as const)
    test(`${name} cannot be requested`, async () => {
      const decided = await evaluate(access(amount))
      assert.equal('access_request' in decided.body.context, false)
      assertRefusedBy('access-request', await request(access(amount), denialOf(decided)), 'not_requestable')
    })

  test('what others were denied is nobody else’s', async () => {
    const evaluation = access(3100)
    const { denied, id } = await requested(evaluation)
    for (const key of [other, stranger, owner])
      assertRefusedBy('access-request', await request(evaluation, denialOf(denied), key), 'invalid_denial_binding')
    for (const key of [other, stranger]) {
      const answer = await task(id, key)
      assertRefusedBy('access-request', answer, 'not_found')
      assert.equal(answer.body.type, 'urn:openid:authzen:access-request:error:unknown_task')
    }
    assertRefusedBy('access-request', await task(id, approver), 'forbidden')
  })
})

test('an approval serves what it was for, whoever presents it', async () => {
  const evaluation = access(4000)
  const { id } = await requested(evaluation)
  assertDone(await vote(id, 'approve'))
  const { approval } = (await task(id)).body.result
  for (const [swapped, key] of [
    [access(4001), agent],
    [{ ...evaluation, subject: { type: 'user', id: 'bob' } }, agent],
    [evaluation, other],
  ] as const) {
    const { body } = await evaluate(withApproval(swapped, approval), key)
    assert.deepEqual([body.decision, body.context.next_action], [false, 'request'])
  }
  // A value that is no reference to an approval is a part of the context like any other.
  for (const [forged, next] of [
    [{ id: 'apr_x' }, 'request'],
    [{ id: 'x'.repeat(64) }, 'request'],
    [{ id: 'x'.repeat(65) }, undefined],
    [{ id: 1 }, undefined],
    ['x', undefined],
    [[], undefined],
  ] as const) {
    const { body } = await evaluate(withApproval(access(4002), forged))
    assert.deepEqual([body.decision, body.context.next_action], [false, next])
  }
  assert.equal((await evaluate(withApproval(evaluation, approval))).body.decision, true)
})

test('what policies deny meanwhile stays denied, with nothing to request', async () => {
  const evaluation = access(4100)
  const { id } = await requested(evaluation)
  assertDone(await vote(id, 'reject'))
  assert.equal((await task(id)).body.task.status, 'denied')
  assert.equal('result' in (await task(id)).body, false)
  const { body } = await evaluate(withApproval(evaluation, { id }))
  assert.deepEqual([body.decision, body.context.next_action, 'access_request' in body.context], [false, 'none', false])
})

test('members that the policy leaves out of an approval may differ', async (t) => {
  const lax = await startGate(t, { policies: { 'acme/main.yaml': UNBOUND } })
  const key = await lax.key({ roles: ['agent'] })
  const first = access(2000, { time: 'noon' })
  const denied = await lax.call(key, 'POST', '/access/v1/evaluation', first)
  const later = { ...access(2000, { time: 'evening' }), denial: denialOf(denied) }
  assert.equal((await lax.call(key, 'POST', '/access/v1/requests', later)).status, 202)
})

test('a stop ends what was approved, and denies', async (t) => {
  const stopped = await startGate(t)
  const bot = await stopped.key({ roles: ['agent'] })
  const ann = await stopped.key({ roles: ['approver', 'operator'], identity: 'ann' })
  const evaluation = access(2000)
  const denied = await stopped.call(bot, 'POST', '/access/v1/evaluation', evaluation)
  const made = await stopped.call(bot, 'POST', '/access/v1/requests', { ...evaluation, denial: denialOf(denied) })
  const { id } = made.body.task
  assertDone(await stopped.call(ann, 'POST', `/approvals/${id}/approve`, { approverId: 'ann' }))
  assertDone(await stopped.call(ann, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'ann' }))
  const { body } = await stopped.call(bot, 'GET', `/access/v1/requests/${id}`)
  assert.deepEqual([body.task.status, 'result' in body], ['cancelled', false])
  const again = await stopped.call(bot, 'POST', '/access/v1/evaluation', withApproval(evaluation, { id }))
  assert.deepEqual([again.body.decision, again.body.context.next_action], [false, 'none'])
})

test('after the deadline a task is expired, and its denial is gone', async () => {
  const evaluation = access(5000)
  const { denied, id } = await requested(evaluation)
  clock.nowMs = Date.parse(denied.body.context.access_request.expires_at) + 1
  assert.equal((await task(id)).body.task.status, 'expired')
  const answer = await request(evaluation, denialOf(denied))
  assertRefusedBy('access-request', answer, 'expired_denial')
  assert.equal(answer.status, 410)
})

test('there is no cancelling by the client', async () => {
  const { id } = await requested(access(6000))
  for (const path of [`/access/v1/requests/${id}`, '/access/v1/requests'])
    assertRefusedBy('access-request', await gate.call(agent, 'DELETE', path), 'method_not_allowed')
})
