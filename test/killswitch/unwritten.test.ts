import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileTest, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries, entriesOf } from '../http/support.ts'
import { until } from '../until.ts'

const STOP = { level: 'L3', reason: 'odd', triggeredBy: 'ann' }

/** The service, and its data file taken away and put back: nothing can be read or written meanwhile. */
async function station(t: TestContext) {
  const gate = await startGate(t)
  const key = await gate.key()
  const file = join(gate.dir, 'data/gate-sidecar.db')
  return {
    gate,
    trigger: (headers?: Record<string, string>) => gate.call(key, 'POST', '/killswitch/trigger', STOP, headers),
    recover: () => gate.call(key, 'POST', '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' }),
    active: async () => (await gate.call(key, 'GET', '/killswitch/status')).body.data.active as boolean,
    away: () => renameSync(file, `${file}.away`),
    back: () => renameSync(`${file}.away`, file),
  }
}

fileTest(
  'a stop that is on disk, triggered again when nothing can be written, is refused, once for all, and in force',
  async (t) => {
    const { gate, trigger, active, away, back } = await station(t)
    assert.equal((await trigger()).body.data.persisted, true)
    const before = await entries(gate)
    away()
    assertRefused(await trigger(), 'audit_unavailable')
    assert.equal(await active(), true)
    back()
    // A stop that is not on disk would be written within a second.
    await sleep(1500)
    assert.equal(await entries(gate), before)
  },
)

fileTest('a stop that is not on disk yet is the same one when triggered again, and cannot be ended', async (t) => {
  const { trigger, recover, active, away, back } = await station(t)
  away()
  t.after(back)
  assert.equal((await trigger()).body.data.persisted, false)
  const again = (await trigger()).body.data
  assert.deepEqual([again.persisted, again.switches.length], [false, 1])
  const answer = await recover()
  assertRefused(answer, 'audit_unavailable')
  assert.match(answer.body.message, /not in the store yet/)
  assert.equal(await active(), true)
})

fileTest('a stop that is not on disk is written, once, when it can be', async (t) => {
  const { gate, trigger, recover, active, away, back } = await station(t)
  away()
  assert.equal((await trigger()).body.data.persisted, false)
  back()
  await until('it is on disk', async () => (await entriesOf(gate, 'killswitch.triggered')) === 1)
  assertDone(await recover())
  assert.equal(await active(), false)
  assert.equal(await entriesOf(gate, 'killswitch.triggered'), 1)
})

fileTest('a trigger with an Idempotency-Key stops although no earlier use can be read', async (t) => {
  const { trigger, active, away, back } = await station(t)
  away()
  t.after(back)
  assert.equal((await trigger({ 'idempotency-key': 'k1' })).body.data.persisted, false)
  assert.equal(await active(), true)
})
