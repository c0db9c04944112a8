import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries } from '../http/support.ts'

type Key = Awaited<ReturnType<Gate['key']>>

const gate = await startGate({ after })
const operator = await gate.key({ roles: ['operator'] })
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver'] })
const admin = await gate.key({ roles: ['admin'] })
const sandbox = await gate.key({ environment: 'test' })
const stranger = await gate.key({ tenant: 'other' })

const preview = (body: object, key: Key = operator): Promise<Answer> =>
  gate.call(key, 'POST', '/killswitch/preview', body)
const previewed = async (body: object, key?: Key): Promise<Answer['body']> => {
  const answer = await preview(body, key)
  assertDone(answer)
  return answer.body.data
}
const trigger = (body: object, key: Key = operator): Promise<Answer> =>
  gate.call(key, 'POST', '/killswitch/trigger', { reason: 'drill', triggeredBy: 'ann', ...body })
const recover = async (key: Key = operator): Promise<void> =>
  assertDone(await gate.call(key, 'POST', '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' }))
const check = async (action: string, amount: number, key: Key = agent): Promise<Answer['body']> =>
  (await gate.call(key, 'POST', '/gate/check', { tenantId: key.tenant, action, context: { amount } })).body.data

await check('payment.refund', 5)
await check('email.send', 5)

const LEVELS: [body: object, key: Key][] = [
  [{ level: 'L1', scope: 'payment.transfer' }, operator],
  [{ level: 'L1', scope: 'payment.*' }, operator],
  [{ level: 'L1', scope: 'paymnt.*' }, operator],
  [{ level: 'L1' }, operator],
  [{ level: 'L2', scope: 'finance' }, operator],
  [{ level: 'L2' }, operator],
  [{ level: 'L3' }, operator],
  [{ level: 'L3', scope: 'acme' }, operator],
  [{ level: 'L4' }, admin],
]

for (const [body, key] of LEVELS) {
  test(`${JSON.stringify(body)}: the preview says what the trigger then covers, and stops nothing`, async () => {
    const before = await entries(gate)
    const { level, scope, covers, warning, allowed, refusal } = await previewed(body, key)
    assert.equal(await entries(gate), before)
    assert.equal((await gate.call(operator, 'GET', '/killswitch/status')).body.data.active, false)
    assert.deepEqual([allowed, refusal], [true, null])
    const stopped = await trigger(body, key)
    assertDone(stopped)
    await recover(key)
    const { data } = stopped.body
    assert.deepEqual(
      { level, scope, covers, warning },
      { level: data.level, scope: data.scope, covers: data.covers, warning: data.warning },
    )
  })
}

const INVALID = [
  { level: 'L2', scope: 'finanse' },
  { level: 'L2', scope: 'toString' },
  { level: 'L3', scope: 'other' },
  { level: 'L1', scope: 'a**b' },
]

test('a scope that the trigger refuses is refused in the same words', async () => {
  for (const body of INVALID) {
    const [asked, tried] = [await preview(body), await trigger(body)]
    assertRefused(asked, 'invalid_request')
    assert.deepEqual([asked.body.message, asked.body.details], [tried.body.message, tried.body.details])
  }
  assertRefused(await preview({ level: 'L4', scope: 'acme' }), 'invalid_request')
})

test('who may not trigger a level is told so, in the words of the trigger', async () => {
  const { allowed, refusal, covers } = await previewed({ level: 'L4' })
  const refused = await trigger({ level: 'L4' })
  assertRefused(refused, 'forbidden')
  assert.deepEqual([allowed, refusal], [false, refused.body.message])
  assert.ok(covers.includes('payment.transfer'))
})

test('approvals are counted that it would hold up, and that it would cancel', async () => {
  const counts = async (body: object, key?: Key): Promise<unknown> => {
    const { approvals, cancels, moreApprovals } = await previewed(body, key)
    return [approvals, cancels, moreApprovals]
  }
  const finance = { level: 'L2', scope: 'finance' }
  assert.deepEqual(await counts(finance), [0, 0, false])
  await check('payment.transfer', 2001)
  await check('payment.refund', 2002)
  const { approvalId } = await check('payment.refund', 2003)
  assertDone(await gate.call(approver, 'POST', `/approvals/${approvalId}/approve`, { approverId: 'ann' }))
  assert.deepEqual(await counts(finance), [2, 1, false])
  assert.deepEqual(await counts({ level: 'L1', scope: 'payment.transfer' }), [1, 0, false])
  assert.deepEqual(await counts({ level: 'L2', scope: 'communication' }), [0, 0, false])
  // Approvals of the caller's tenant and environment only are counted, whatever the level.
  for (const key of [sandbox, stranger, { ...admin, tenant: 'other' }])
    assert.deepEqual(await counts({ level: 'L4' }, key), [0, 0, false])
  assert.deepEqual(await counts({ level: 'L4' }, admin), [2, 1, false])
  // Approvals that a stop has cancelled already are not cancelled again.
  assertDone(await trigger(finance))
  await recover()
  assert.deepEqual(await counts(finance), [2, 0, false])
})

test('actions of other tenants and of the live side are not shown', async () => {
  await check('secret.action', 1)
  assert.ok((await previewed({ level: 'L3' })).covers.includes('secret.action'))
  assert.equal((await previewed({ level: 'L3' }, sandbox)).covers.includes('secret.action'), false)
  assert.deepEqual((await previewed({ level: 'L4' }, stranger)).covers, [])
})

test('of many open approvals, a thousand are looked at', async (t) => {
  const policy = `
apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: held, actions: [a.held], effect: require_approval, reason: A person.}
`
  const busy = await startGate(t, { policies: { 'acme/main.yaml': policy } })
  // Each agent may have 200 pending.
  const askers = await Promise.all(Array.from({ length: 6 }, () => busy.key({ roles: ['agent'] })))
  const owner = await busy.key()
  let asked = 0
  const ask = async (until: number): Promise<void> => {
    const worker = async (): Promise<void> => {
      while (asked < until) {
        asked += 1
        const body = { tenantId: 'acme', action: 'a.held', context: { n: asked } }
        assertDone(await busy.call(askers[asked % 6] ?? owner, 'POST', '/gate/check', body))
      }
    }
    await Promise.all(Array.from({ length: 32 }, worker))
  }
  const counted = async (): Promise<unknown> => {
    const { approvals, moreApprovals } = (await busy.call(owner, 'POST', '/killswitch/preview', { level: 'L3' })).body
      .data
    return [approvals, moreApprovals]
  }
  await ask(1000)
  assert.deepEqual(await counted(), [1000, false])
  await ask(1001)
  assert.deepEqual(await counted(), [1000, true])
})
