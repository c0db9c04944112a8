import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { run, type Serving, serve } from '../cli/program.ts'
import { ACME_POLICY, type Cleanup, temporaryFolder, writeFiles } from '../helpers.ts'
import { fullTest } from '../tier.ts'
import { until } from '../until.ts'
import { anchored, signed } from './support.ts'

/** The built service in a process of its own, which may be killed, and how to have checkpoints made. */
async function killable(t: Cleanup) {
  const dir = temporaryFolder()
  writeFiles(dir, { 'policies/acme/main.yaml': ACME_POLICY })
  const file = join(dir, 'anchors.jsonl')
  const data = ['--data', join(dir, 'data')]
  const made = await run(['keys', 'create', '--tenant', 'acme', '--role', 'owner', '--json', ...data])
  const { key } = JSON.parse(made.stdout)
  const start = (): Promise<Serving> =>
    serve(t, ['--port', '0', '--policies', join(dir, 'policies'), '--anchor-file', file, ...data])
  const stop = (url: string) =>
    fetch(`${url}/killswitch/trigger`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'x-tenant-id': 'acme', 'content-type': 'application/json' },
      body: JSON.stringify({ level: 'L1', scope: 'never.used', reason: 'drill', triggeredBy: 'ann' }),
    })
  return { dir, file, start, stop, database: join(dir, 'data', 'gate-sidecar.db') }
}

test('killed after the file took anchors and before that was recorded: they come twice, and none is skipped', async (t) => {
  const { dir, file, start, stop, database } = await killable(t)
  const service = await start()
  const db = new Sqlite(database)
  t.after(() => void db.close())
  const newest = db.prepare<[], number>('SELECT coalesce(max(number), 0) FROM checkpoint').pluck()
  const recorded = db.prepare<[], number>("SELECT coalesce(max(number), 0) FROM anchored WHERE sink = 'file'").pluck()
  // The lock, held from when a checkpoint is made until the file has it, keeps the service from recording its delivery.
  const number = await until('the lock is held in between', async () => {
    const before = newest.get() ?? 0
    await stop(service.url)
    const made = await until('there is a checkpoint', () => {
      const now = newest.get() ?? 0
      return now > before && now
    })
    db.exec('BEGIN IMMEDIATE')
    if ((recorded.get() ?? 0) < made) return made
    db.exec('ROLLBACK')
    return false
  })
  await until('the file has it', () => anchored(file).length >= number)
  await service.stop('SIGKILL')
  db.exec('ROLLBACK')
  assert.equal((recorded.get() ?? 0) < number, true)
  const again = await start()
  await until('it is recorded', () => recorded.get() === newest.get())
  await again.stop()
  const [lines, all] = [anchored(file), await signed(dir)]
  assert.deepEqual([...new Set(lines)], all)
  assert.equal(lines.length > all.length, true)
})

fullTest(
  'killed again and again at any time: no gap, and the next start finds the trail as it was anchored',
  async (t) => {
    const { dir, file, start, stop } = await killable(t)
    for (let n = 0; n < 5; n += 1) {
      const service = await start()
      for (let m = 0; m < 3; m += 1) {
        await stop(service.url)
        await sleep(200 + 170 * n)
      }
      await service.stop('SIGKILL')
    }
    const last = await start()
    assert.equal((await fetch(`${last.url}/readyz`)).status, 200)
    await last.stop()
    const [lines, all] = [anchored(file), await signed(dir)]
    assert.equal(all.length > 5, true)
    assert.deepEqual([...new Set(lines)], all)
    assert.equal(lines.length <= 2 * all.length, true)
  },
)
