import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRecorded, load, post } from '../e2e/processes.ts'
import { fleet } from './fleet.ts'

const SIDECARS = 16
const STOPS = 100
/** The machine has to do with so many processes anyway. */
const PAUSE_MS = 75

test('sixteen sidecars under load, a hundred stops: no allow stands after the stop that covers it', async (t) => {
  const { serve, key, open } = await fleet(t)
  const [owner, agent] = [await key('owner'), await key('agent')]
  const sidecars = await Promise.all(Array.from({ length: SIDECARS }, () => serve()))
  const loads = sidecars.map(({ url }) => load(url, agent, 2, PAUSE_MS))
  const at = (i: number): string => sidecars[i % SIDECARS]?.url ?? ''
  for (let i = 0; i < STOPS; i += 1) {
    const stop = { level: 'L3', scope: 'acme', reason: `drill ${i}`, triggeredBy: 'ann' }
    assert.equal((await post(at(i), owner, '/killswitch/trigger', stop))?.status, 200)
    // From the answer on, whoever is asked.
    const payment = { action: 'payment.transfer', context: { amount: 1 } }
    const decided = await Promise.all([1, 5, 11].map((j) => post(at(i + j), agent, '/gate/check', payment)))
    assert.deepEqual(
      decided.map((answer) => answer?.body.data.decision),
      ['deny', 'deny', 'deny'],
    )
    const end = { level: 'L3', scope: 'acme', recoveredBy: 'ann', comment: 'over' }
    assert.equal((await post(at(i + 3), owner, '/killswitch/recover', end))?.status, 200)
  }
  await Promise.all(loads.map((running) => running.stop()))
  const acknowledged = loads.flatMap((running) => running.acknowledged)
  assert.ok(acknowledged.length > STOPS)
  await Promise.all(sidecars.map((sidecar) => sidecar.end('SIGTERM')))
  // The verification holds each allow to the stops before it, by the order of the chain.
  await assertRecorded(await open(), acknowledged)
})
