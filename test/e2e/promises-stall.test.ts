import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { startGate } from '../helpers.ts'
import { later } from './processes.ts'

const ROUNDS = 6
const REQUESTS = 4

test('a slow second writer makes requests wait and succeed, and never the event loop', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key({ roles: ['agent'] })
  const writer = openDatabase(join(gate.dir, 'data'), { create: false })
  t.after(() => writer.close())
  const check = () => gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  for (let round = 0; round < ROUNDS; round += 1) {
    writer.exec('BEGIN IMMEDIATE')
    let answered = 0
    const asked = Array.from({ length: REQUESTS }, () => check().finally(() => (answered += 1)))
    // The second writer is in this process: were the lock waited for in its event loop, nothing would ever let go of it.
    for (let turn = 0; turn < 20; turn += 1) await later(10)
    assert.equal(answered, 0)
    writer.exec('ROLLBACK')
    const answers = await Promise.all(asked)
    assert.deepEqual(
      answers.map(({ status, body }) => `${status} ${body.data?.decision}`),
      answers.map(() => '200 allow'),
    )
  }
})
