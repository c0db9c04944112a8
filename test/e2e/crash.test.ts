import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../helpers.ts'
import { FULL, fullTest } from '../tier.ts'
import { until } from '../until.ts'
import { assertRecorded, command, folderIn, later, load, post, replayed, seals, serve } from './processes.ts'

const CONNECTIONS = 16
/** After how many answers the process is killed, while others are under way. */
const KILLED_AFTER = FULL ? [1, 150, 40, 400] : [40]

test('kill -9 under load loses nothing that was acknowledged', async (t) => {
  const folder = folderIn(temporaryFolder())
  const key = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const acknowledged: string[] = []
  for (const answers of KILLED_AFTER) {
    const service = await serve(t, folder)
    const running = load(service.url, key, CONNECTIONS)
    await until('decisions are made', async () => running.acknowledged.length >= answers)
    await later(Math.random() * 50)
    await service.end('SIGKILL')
    await running.stop()
    assert.deepEqual(running.refused, [])
    acknowledged.push(...running.acknowledged)
  }
  await assertRecorded(folder.data, acknowledged)
})

test('a stop, a vote and a revoked key survive kill -9 right after their answer', async (t) => {
  const folder = folderIn(temporaryFolder())
  const make = (...args: string[]) => command(folder, 'keys', 'create', '--tenant', 'acme', ...args)
  const owner = await make('--role', 'owner')
  const agent = await make('--role', 'agent', '--identity', 'bot')
  const lost = await make('--role', 'agent')
  const first = await serve(t, folder)
  const held = { action: 'payment.transfer', context: { amount: 2000 } }
  const asked = await post(first.url, agent, '/gate/check', held)
  const approvalId = asked?.body.data.approvalId
  const voted = await post(first.url, owner, `/approvals/${approvalId}/approve`, { approverId: 'ann' })
  assert.equal(voted?.body.data.status, 'approved')
  await first.end('SIGKILL')

  const second = await serve(t, folder)
  const used = await post(second.url, agent, '/gate/check', held)
  assert.deepEqual([used?.body.data.decision, used?.body.data.approvalId], ['allow', approvalId])
  // The stop goes ahead of what the others wait for.
  const others = load(second.url, agent, CONNECTIONS)
  await until('decisions are made', async () => others.acknowledged.length >= CONNECTIONS)
  const stop = { level: 'L3', reason: 'odd transfers', triggeredBy: 'ann' }
  const [stopped, revoked] = await Promise.all([
    post(second.url, owner, '/killswitch/trigger', stop),
    fetch(`${second.url}/keys/${lost.id}`, {
      method: 'DELETE',
      headers: { 'x-api-key': owner.key, 'x-tenant-id': owner.tenantId },
    }),
  ])
  assert.deepEqual([stopped?.body.data.persisted, revoked.status], [true, 200])
  await second.end('SIGKILL')
  await others.stop()

  const third = await serve(t, folder)
  const refused = await post(third.url, agent, '/gate/check', { action: 'email.send' })
  assert.deepEqual([refused?.body.data.decision, refused?.body.data.decidedBy], ['deny', 'kill_switch'])
  const unknown = await post(third.url, lost, '/gate/check', { action: 'email.send' })
  assert.equal(unknown?.status, 401)
  await assertRecorded(
    folder.data,
    [asked, used, refused].map((reply) => reply?.body.data.decisionId).concat(others.acknowledged),
  )
})

fullTest('a seal that was answered survives kill -9, and none is recorded twice or in part', async (t) => {
  const folder = folderIn(temporaryFolder())
  const owner = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'owner')
  let recorded: readonly string[] = []
  for (const afterMs of [0, 2, 5, undefined]) {
    const service = await serve(t, folder)
    await post(service.url, owner, '/gate/check', { action: 'email.send' })
    const path = await replayed(service.url, owner)
    // Asked for three times, it is recorded once.
    const sealing = [1, 2, 3].map(() => post(service.url, owner, `${path}/seal`, {}))
    await (afterMs === undefined ? Promise.race(sealing) : later(afterMs))
    await service.end('SIGKILL')
    const answered = new Set((await Promise.all(sealing)).flatMap((reply) => reply?.body.data.seal.entryId ?? []))
    const before = recorded
    recorded = await seals(folder)
    const added = recorded.slice(before.length)
    assert.deepEqual(recorded, [...before, ...added])
    assert.ok(added.length <= 1)
    assert.deepEqual([...answered], answered.size === 0 ? [] : added)
    if (afterMs === undefined) assert.equal(answered.size, 1)
  }
})
