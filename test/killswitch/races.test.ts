import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGate } from '../helpers.ts'

const STOP = { level: 'L3', reason: 'drill', triggeredBy: 'ann' }
const OVER = { recoveredBy: 'ann', comment: 'over' }
const ROUNDS = 15

test('a trigger and a recovery at once: what is last in the chain is what holds', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  const post = (path: string, body: object) => gate.call(owner, 'POST', path, body)
  for (let round = 0; round < ROUNDS; round += 1) {
    await post('/killswitch/trigger', STOP)
    const sent = [
      post('/killswitch/trigger', STOP),
      post('/killswitch/recover', OVER),
      post('/killswitch/trigger', STOP),
    ]
    for (const { status } of await Promise.all(sent)) assert.equal(status, 200)
    // The set that came into force is noted between them, within a second.
    const { data } = (await gate.call(owner, 'GET', '/audit/chain?limit=2')).body
    const last = data.find(({ eventType }: { eventType: string }) => eventType !== 'policy.loaded')
    const { active } = (await gate.call(owner, 'GET', '/killswitch/status')).body.data
    assert.equal(active, last.eventType === 'killswitch.triggered', `round ${round}: ${last.eventType}`)
    if (active) await post('/killswitch/recover', OVER)
  }
})

test('an allow and a trigger at once: no allow stands after the trigger in the chain', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  const agents = await Promise.all([1, 2, 3].map(() => gate.key({ roles: ['agent'] })))
  for (let round = 0; round < ROUNDS; round += 1) {
    const checks = agents.map((agent) =>
      gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' }),
    )
    await Promise.all([...checks, gate.call(owner, 'POST', '/killswitch/trigger', STOP)])
    const { data } = (await gate.call(owner, 'GET', '/audit/chain?limit=4')).body
    const types = data.map(({ eventType, data: { decision } }: never) => decision ?? eventType)
    const after = types.slice(0, types.indexOf('killswitch.triggered'))
    assert.deepEqual(
      after.filter((type: string) => type === 'allow'),
      [],
    )
    await gate.call(owner, 'POST', '/killswitch/recover', OVER)
  }
})
