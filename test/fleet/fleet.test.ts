import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRecorded, post } from '../e2e/processes.ts'
import { until } from '../until.ts'
import { fleet } from './fleet.ts'

test('three sidecars are one gate: one queue, one set of keys, one stop, one trail', async (t) => {
  const { serve, key, open } = await fleet(t)
  const [owner, agent, lost] = [await key('owner'), await key('agent'), await key('agent')]
  const [a, b, c] = await Promise.all([serve(), serve(), serve()])
  const check = (at: typeof a, body: object, by = agent) => post(at.url, by, '/gate/check', body)
  const decisionAt = async (at: typeof a, body: object) => (await check(at, body))?.body.data.decision

  // A held request is one approval, whoever is asked again.
  const payment = { action: 'payment.transfer', context: { amount: 5000 } }
  const held = await Promise.all([a, b, c].map((at) => check(at, payment)))
  const ids = new Set(held.map((answer) => answer?.body.data.approvalId))
  assert.equal(ids.size, 1)
  assert.match(String([...ids][0]), /^apr_/)
  const [id] = ids
  const voted = await post(b.url, owner, `/approvals/${id}/approve`, { approverId: 'ann', comment: 'seen' })
  assert.equal(voted?.body.data.status, 'approved')
  // It is used once, though all ask at the same moment.
  const used = await Promise.all([a, b, c].map((at) => decisionAt(at, payment)))
  assert.deepEqual(used.toSorted(), ['allow', 'require_approval', 'require_approval'])

  // A key that is revoked anywhere is refused everywhere.
  const mail = { action: 'email.send' }
  assert.equal((await check(a, mail, lost))?.status, 200)
  const ended = await fetch(`${b.url}/keys/${lost.id}`, {
    method: 'DELETE',
    headers: { 'x-api-key': owner.key, 'x-tenant-id': 'acme' },
  })
  assert.equal(ended.status, 200)
  for (const at of [a, b, c]) assert.equal((await check(at, mail, lost))?.status, 401)

  // From the answer to the trigger on, nothing is allowed anywhere.
  for (const at of [a, b, c]) assert.equal(await decisionAt(at, mail), 'allow')
  const stop = { level: 'L3', scope: 'acme', reason: 'drill', triggeredBy: 'ann' }
  assert.equal((await post(c.url, owner, '/killswitch/trigger', stop))?.status, 200)
  for (const at of [a, b, c]) assert.equal(await decisionAt(at, mail), 'deny')
  const status = async (at: typeof a) => {
    const answer = await fetch(`${at.url}/killswitch/status`, {
      headers: { 'x-api-key': owner.key, 'x-tenant-id': 'acme' },
    })
    return ((await answer.json()) as { data: { active: boolean } }).data.active
  }
  for (const at of [a, b, c]) await until('the stop is known', () => status(at))

  await Promise.all([a, b, c].map((at) => at.end('SIGTERM')))
  assert.ok((await assertRecorded(await open(), [])) > 15)
})
