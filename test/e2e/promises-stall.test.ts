import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type TestContext, test } from 'node:test'
import { type Gate, startGate } from '../helpers.ts'
import { later } from './processes.ts'

/** Holds the write lock for 200 to 400 ms again and again, with short pauses. */
const HOLDER = `
  const db = require('better-sqlite3')(process.argv[1], { timeout: 5000 })
  const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  for (let n = 0; ; n += 1) {
    db.exec('BEGIN IMMEDIATE')
    if (n === 0) console.log('holding')
    wait(200 + (n * 67) % 200)
    db.exec('ROLLBACK')
    wait(15)
  }`
const LIMIT_MS = 50
const RESOLUTION_MS = 5
const CHECKS = 24

/** The longest time that the event loop stood still while requests waited for the lock, and how long the slowest waited. */
async function measured(t: TestContext, gate: Gate): Promise<{ stallMs: number; slowestMs: number }> {
  const key = await gate.key({ roles: ['agent'] })
  const holder = spawn(process.execPath, ['-e', HOLDER, join(gate.dir, 'data', 'gate-sidecar.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => holder.kill('SIGKILL'))
  await once(holder.stdout, 'data')
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const waited: number[] = []
  for (let n = 0; n < CHECKS; n += 4) {
    const start = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' }),
      ),
    )
    waited.push(performance.now() - start)
    assert.deepEqual(
      new Set(answers.map(({ status, body }) => `${status} ${body.data?.decision}`)),
      new Set(['200 allow']),
    )
    await later(20)
  }
  delay.disable()
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  return { stallMs: delay.max / 1e6 - RESOLUTION_MS, slowestMs: Math.max(...waited) }
}

test('a slow second writer makes requests wait and succeed, and never the event loop', async (t) => {
  const gate = await startGate(t)
  await gate.key()
  // Another program may take both cores for a moment; who waits for the lock in the loop stalls in every round.
  const stalls: number[] = []
  for (let round = 0; round < 6; round += 1) {
    const { stallMs, slowestMs } = await measured(t, gate)
    assert.ok(slowestMs > 150, 'requests met the held lock')
    stalls.push(Math.round(stallMs))
    if (stallMs < LIMIT_MS) return
  }
  assert.fail(`the event loop stood still for ${stalls.join(', ')} ms`)
})
