import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { anchored } from '../anchors/support.ts'
import { assertOneHistory, checkpointsOf } from '../evidence/signed.ts'
import { openFile, temporaryFolder } from '../helpers.ts'
import { fullTest } from '../tier.ts'
import { until } from '../until.ts'
import {
  assertRecorded,
  command,
  type Folder,
  folderIn,
  type Key,
  later,
  load,
  post,
  replayed,
  type Service,
  seals,
  serve,
} from './processes.ts'

const PRLIMIT = 'prlimit'
const STRACE = 'strace'
const installed = (tool: string): boolean => spawnSync(tool, ['--version']).status === 0
const needs = (tool: string) => ({ skip: installed(tool) ? false : `${tool} is not installed` })

interface Setting {
  folder: Folder
  service: Service
  owner: Key
  check: () => Promise<{ status: number; code: unknown; decision: unknown; id: string }>
}

async function setting(t: TestContext): Promise<Setting> {
  const folder = folderIn(temporaryFolder())
  const owner = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'owner')
  const service = await serve(t, folder)
  const check = async () => {
    const reply = await post(service.url, owner, '/gate/check', { action: 'email.send' })
    const { error, data } = reply?.body ?? {}
    return { status: reply?.status ?? 0, code: error, decision: data?.decision, id: data?.decisionId }
  }
  return { folder, service, owner, check }
}

/** No regular file of the process can be written beyond so many bytes, as on a full disk; what is on disk stays readable. */
function fillDisk({ child }: Service, bytes = 0): void {
  execFileSync(PRLIMIT, ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`])
}
function freeDisk({ child }: Service): void {
  execFileSync(PRLIMIT, ['--pid', String(child.pid), '--fsize=unlimited:unlimited'])
}
async function ready(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status
}

test(
  'while the disk is full nothing is allowed, a stop acts, and it is kept once there is room',
  needs(PRLIMIT),
  async (t) => {
    const { folder, service, owner, check } = await setting(t)
    const before = await check()
    assert.equal(before.decision, 'allow')
    const others = load(service.url, owner, 8)
    fillDisk(service)
    for (let n = 0; n < 20; n += 1) {
      const { status, code, decision } = await check()
      assert.deepEqual({ status, code, decision }, { status: 503, code: 'audit_unavailable', decision: undefined })
    }
    assert.equal(await ready(service.url), 503)
    // More than SQLite's cache holds, so that the write fails before the COMMIT.
    const big = { eventType: 'custom.big', data: { text: 'x'.repeat(900_000) } }
    const large = await Promise.all(Array.from({ length: 6 }, () => post(service.url, owner, '/audit/log', big)))
    assert.deepEqual(new Set(large.map((reply) => reply?.body.error)), new Set(['audit_unavailable']))
    const stop = { level: 'L3', reason: 'odd mail', triggeredBy: 'ann' }
    const once = { 'idempotency-key': 'stop-1' }
    const stopped = await post(service.url, owner, '/killswitch/trigger', stop, undefined, once)
    const { active, persisted } = stopped?.body.data ?? {}
    assert.deepEqual({ status: stopped?.status, active, persisted }, { status: 200, active: true, persisted: false })
    assert.equal(await ready(service.url), 503)
    assert.equal((await check()).status, 503)
    freeDisk(service)
    const after = await check()
    assert.deepEqual([after.status, after.decision], [200, 'deny'])
    await until('it is ready', async () => (await ready(service.url)) === 200)
    await service.end('SIGKILL')
    await others.stop()
    assert.deepEqual(new Set(others.refused), new Set([503]))
    const again = await serve(t, folder)
    const refused = await post(again.url, owner, '/gate/check', { action: 'email.send' })
    assert.equal(refused?.body.data.decidedBy, 'kill_switch')
    await assertRecorded(folder.data, [before.id, after.id, ...others.acknowledged])
  },
)

fullTest('a disk that is full at times loses nothing that was acknowledged', needs(PRLIMIT), async (t) => {
  const { folder, service, owner } = await setting(t)
  const running = load(service.url, owner, 8)
  /** Waits for more answers, however slow the machine. */
  const grows = (answers: readonly unknown[]) => {
    const before = answers.length
    return until('there are more answers', () => answers.length > before + 10)
  }
  for (let n = 0; n < 5; n += 1) {
    await grows(running.acknowledged)
    fillDisk(service)
    await grows(running.refused)
    freeDisk(service)
  }
  await grows(running.acknowledged)
  await running.stop()
  await service.end('SIGKILL')
  assert.deepEqual(new Set(running.refused), new Set([503]))
  await assertRecorded(folder.data, running.acknowledged)
})

fullTest('on a full disk no replay is sealed, and once there is room it is', needs(PRLIMIT), async (t) => {
  const { folder, service, owner, check } = await setting(t)
  await check()
  const path = await replayed(service.url, owner)
  fillDisk(service)
  const sealing = () => post(service.url, owner, `${path}/seal`, {})
  assert.equal((await sealing())?.body.error, 'audit_unavailable')
  freeDisk(service)
  const sealed = await sealing()
  await service.end('SIGKILL')
  assert.deepEqual(await seals(folder), [sealed?.body.data.seal.entryId])
})

/** Returns whether the condition becomes true within the time limit. */
async function within(limitMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + limitMs
  while (performance.now() < endMs) {
    if (await holds()) return true
    await later(20)
  }
  return false
}

async function readiness(url: string): Promise<{ status: number; isAnchored: boolean }> {
  const { status } = await fetch(`${url}/readyz`)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const sinks = metrics.match(/^gate_sidecar_anchor_up\{.*$/gm) ?? []
  return { status, isAnchored: sinks.length > 0 && sinks.every((line) => line.endsWith(' 1')) }
}

const TEAR_BYTES = 100

fullTest(
  'a disk that is full while checkpoints are made and anchored costs none of them, and tears no trail',
  needs(PRLIMIT),
  async (t) => {
    const folder = folderIn(temporaryFolder())
    const file = join(temporaryFolder(), 'anchors.jsonl')
    const owner = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'owner')
    const service = await serve(t, folder, '--anchor-file', file)
    const db = new Sqlite(join(folder.data, 'gate-sidecar.db'), { readonly: true })
    t.after(() => db.close())
    const newest = db.prepare<[], number>('SELECT coalesce(max(number), 0) FROM checkpoint').pluck()
    /** Has a checkpoint made at once. */
    const stop = async () => {
      const drill = { level: 'L1', scope: 'never.used', reason: 'drill', triggeredBy: 'ann' }
      return (await post(service.url, owner, '/killswitch/trigger', drill))?.body.data?.persisted
    }
    const running = load(service.url, owner, 4)
    const failures: [nothing: number, torn: number] = [0, 0]
    // On a slow machine the file may have taken the checkpoint before the disk is full.
    for (let round = 0; round < 4 || (Math.min(...failures) === 0 && round < 20); round += 1) {
      const before = newest.get() ?? 0
      assert.equal(await stop(), true)
      await until('there is a checkpoint', async () => (newest.get() ?? 0) > before)
      // Before the file has taken it: nothing of it fits then, or the beginning of its line.
      fillDisk(service, round % 2 === 0 ? 0 : statSync(file).size + TEAR_BYTES)
      if (await within(10_000, async () => (await readiness(service.url)).isAnchored === false))
        failures[round % 2 === 0 ? 0 : 1] += 1
      const persisted = await stop()
      if (persisted === false) assert.equal((await readiness(service.url)).status, 503, 'a stop is not on disk')
      freeDisk(service)
      await until('it is anchored', async () => (await readiness(service.url)).isAnchored === true)
    }
    assert.ok(Math.min(...failures) > 0, `the metrics told ${failures} times that anchors were not taken`)
    await running.stop()
    assert.deepEqual(new Set(running.refused), new Set([503]))
    await service.end('SIGTERM')

    const { valid, chains } = await command(folder, 'audit', 'verify', '--anchors', file)
    const [live] = chains.filter(({ chain }: { chain: string }) => chain === 'acme/live')
    assert.deepEqual([valid, live.status], [true, 'ok'])
    const lines = anchored(file)
    const store = openFile(folder.data)
    assert.ok((await assertOneHistory(store)) > 4)
    const signed = (await checkpointsOf(store)).map(({ chain, size }) => `${chain} ${size}`)
    await store.close()
    assert.ok(lines.includes('malformed line'), 'no line was torn')
    assert.deepEqual(new Set(lines.filter((line) => line !== 'malformed line')), new Set(signed))
    await assertRecorded(folder.data, running.acknowledged)
    const again = await serve(t, folder, '--anchor-file', file)
    assert.deepEqual(await readiness(again.url), { status: 200, isAnchored: true })
  },
)

test('when the disk fails to take a commit, it is not answered as done', needs(STRACE), async (t) => {
  const { folder, service, owner, check } = await setting(t)
  assert.equal((await check()).decision, 'allow')
  const calls = 'fsync,fdatasync'
  const pid = String(service.child.pid)
  const options = ['-f', '-p', pid, '-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO`, '-o', '/dev/null']
  const tracer = spawn(STRACE, options, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => tracer.kill('SIGINT'))
  const [told] = await Promise.race([once(tracer.stderr, 'data'), once(tracer, 'exit').then(() => [''])])
  if (!/attached/.test(String(told))) return t.skip(`strace may not trace here: ${told}`)
  for (let n = 0; n < 5; n += 1) assert.equal((await check()).code, 'audit_unavailable')
  const running = load(service.url, owner, 4)
  await later(200)
  tracer.kill('SIGINT')
  await once(tracer, 'exit')
  await until('it decides', async () => (await check()).status === 200)
  await running.stop()
  await service.end('SIGKILL')
  await assertRecorded(folder.data, running.acknowledged)
})

test('while another process holds the file, requests are refused after five seconds, none is allowed', async (t) => {
  const { folder, check } = await setting(t)
  const holder = new Sqlite(join(folder.data, 'gate-sidecar.db'))
  t.after(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const start = performance.now()
  const answers = await Promise.all([check(), check(), check()])
  assert.deepEqual(
    answers.map(({ status, code }) => [status, code]),
    answers.map(() => [503, 'overloaded']),
  )
  // A request that waited for the lock itself would never end.
  assert.ok(performance.now() - start < 30_000)
  holder.exec('ROLLBACK')
  assert.equal((await check()).decision, 'allow')
})
