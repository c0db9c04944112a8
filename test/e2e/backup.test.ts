import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { BIN, run, runBuilt } from '../cli/program.ts'
import { temporaryFolder } from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { assertRecorded, command, type Folder, folderIn, later, load, post, serve } from './processes.ts'

const DATA_FILE = 'gate-sidecar.db'

/** Puts the copy where the data file was, as the documents say. */
function restore({ data }: Folder, copy: string): void {
  for (const name of [`${DATA_FILE}-wal`, `${DATA_FILE}-shm`]) rmSync(join(data, name), { force: true })
  copyFileSync(copy, join(data, DATA_FILE))
}

const readiness = async (url: string): Promise<string> => (await fetch(`${url}/readyz`)).text()

test('a backup of a busy service is whole, and what is restored from it goes on; an anchor tells that it is older', async (t) => {
  const root = temporaryFolder()
  const folder = folderIn(root)
  const [anchors, copy] = [join(root, 'anchors.jsonl'), join(root, 'copy.db')]
  const agent = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const owner = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'owner')
  const service = await serve(t, folder, '--anchor-file', anchors)
  const stop = { level: 'L2', scope: 'communication', reason: 'drill', triggeredBy: 'ann' }
  assert.equal((await post(service.url, owner, '/killswitch/trigger', stop))?.status, 200)
  const running = load(service.url, agent, 8)
  await until('decisions are made, and anchored', () => running.acknowledged.length >= 200 && existsSync(anchors))
  const before = [...running.acknowledged]
  const made = await command(folder, 'backup', copy)
  const during = running.acknowledged.length - before.length
  assert.ok(during > 0, 'the service went on deciding')
  await running.stop()
  assert.deepEqual(running.refused, [])
  assert.deepEqual(
    made.chains.map(({ chain }: { chain: string }) => chain),
    ['_system', 'acme/live'],
  )
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  assert.equal(statSync(copy).size, made.bytes)
  assert.deepEqual(readdirSync(root).sort(), ['anchors.jsonl', 'copy.db', 'data', 'policies'])
  await post(service.url, owner, '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' })
  await service.end('SIGTERM')

  restore(folder, copy)
  await assertRecorded(folder.data, before)
  const verified = await command(folder, 'audit', 'verify', '--chain', 'acme/live')
  assert.equal(verified.valid, true)
  const alone = await serve(t, folder)
  assert.match(await readiness(alone.url), /"ready":true/)
  const refused = await post(alone.url, agent, '/gate/check', { action: 'email.send' })
  assert.deepEqual(
    [refused?.body.data.decision, refused?.body.data.decidedBy],
    ['deny', 'kill_switch'],
    'the stop is back',
  )
  await alone.end('SIGTERM')

  restore(folder, copy)
  const held = await serve(t, folder, '--anchor-file', anchors)
  assert.match(await readiness(held.url), /ROLLBACK: /)
  const taken = await run([
    ...['audit', 'restore', '--data', folder.data, '--anchor-file', anchors, '--reason', 'backup put back'],
  ])
  assert.equal(taken.code, 0, taken.stderr)
  assert.match(taken.stdout, /ROLLBACK: audit chain /)
  await until('it writes again', async () => (await fetch(`${held.url}/readyz`)).ok)
})

test('a stop that the data file could not take is not in the copy, which the backup says, and outlives the restoring', async (t) => {
  const root = temporaryFolder()
  const folder = folderIn(root)
  const [file, copy] = [join(folder.data, DATA_FILE), join(root, 'copy.db')]
  const owner = await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'owner')
  const service = await serve(t, folder)
  renameSync(file, `${file}.away`)
  const stop = { level: 'L3', reason: 'odd mail', triggeredBy: 'ann' }
  const stopped = await post(service.url, owner, '/killswitch/trigger', stop)
  assert.match(stopped?.body.data.warning, /kept in the reserve/)
  await service.end('SIGKILL')
  renameSync(`${file}.away`, file)
  const { stdout } = await run(['backup', copy, '--data', folder.data])
  assert.match(stdout, /^WARNING: the copy lacks 1 stop in force: copy .*stops\.reserve too\.$/m)
  renameSync(join(folder.data, 'signing-key.pem'), join(root, 'key.pem'))
  const withoutKey = await run(['backup', join(root, 'other.db'), '--data', folder.data])
  renameSync(join(root, 'key.pem'), join(folder.data, 'signing-key.pem'))
  assert.match(withoutKey.stdout, /Stops in .*stops\.reserve can be read only with their signing key/)

  restore(folder, copy)
  const again = await serve(t, folder)
  const refused = await post(again.url, owner, '/gate/check', { action: 'email.send' })
  assert.equal(refused?.body.data.decidedBy, 'kill_switch')
})

/** A folder with data of some megabytes. */
async function withData(): Promise<Folder & { root: string }> {
  const root = temporaryFolder()
  const folder = folderIn(root)
  await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
  const db = new Sqlite(join(folder.data, DATA_FILE))
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
    INSERT INTO policy_text SELECT 'acme', 'sha256:' || i, i, 200000, hex(zeroblob(100000)) FROM n`)
  db.close()
  return { ...folder, root }
}

const partsIn = (dir: string): string[] => readdirSync(dir).filter((name) => name.endsWith('.partial'))

test('a backup that is killed at any time leaves nothing of its name, and the next one is made', async () => {
  const { root, data } = await withData()
  const copy = join(root, 'copies/copy.db')
  mkdirSync(dirname(copy))
  const begun = () => until('it begins', () => partsIn(dirname(copy)).length > 0)
  const named = () => until('it has its name', () => existsSync(copy))
  const afterBegin = [0, 30, 60, 120, 250].map((delayMs) => () => begun().then(() => later(delayMs)))
  for (const moment of [...afterBegin, named]) {
    const child = spawn(process.execPath, [BIN, 'backup', copy, '--data', data], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    await Promise.race([ended, moment()])
    child.kill('SIGKILL')
    await ended
    if (existsSync(copy)) {
      // One that is opened to write takes its log away when it closes.
      const whole = new Sqlite(copy)
      assert.equal(whole.pragma('integrity_check', { simple: true }), 'ok')
      whole.close()
      rmSync(copy)
    }
    for (const part of partsIn(dirname(copy))) {
      assert.ok(part.startsWith(`.${basename(copy)}.`))
      rmSync(join(dirname(copy), part), { recursive: true })
    }
    assert.deepEqual(readdirSync(dirname(copy)), [])
  }
  assert.equal((await runBuilt(['backup', copy, '--data', data])).code, 0)
})

const PRLIMIT = 'prlimit'
const HAS_PRLIMIT = spawnSync(PRLIMIT, ['--version']).status === 0

test('on a full disk no backup is made, that is told, and nothing is left', { skip: !HAS_PRLIMIT }, async () => {
  const { root, data } = await withData()
  const copies = join(root, 'copies')
  mkdirSync(copies)
  for (const bytes of [50_000, 100_000, 3_000_000]) {
    const args = [`--fsize=${bytes}`, process.execPath, BIN, 'backup', join(copies, 'copy.db'), '--data', data]
    const { status, stderr } = spawnSync(PRLIMIT, args, { encoding: 'utf8' })
    assert.equal(status, 3, stderr)
    assert.match(stderr, /^gate-sidecar: No backup was made: /)
    assert.deepEqual(readdirSync(copies), [], String(bytes))
  }
})

interface Row {
  what: string
  /** Prepares the folder; returns the path of the copy. */
  to(folder: Folder & { root: string }): string
  message: RegExp
}

const REFUSED: Row[] = [
  {
    what: 'a file is there already',
    to({ root }) {
      writeFileSync(join(root, 'copy.db'), 'older')
      return join(root, 'copy.db')
    },
    message: /copy\.db already exists, and a backup never replaces a file; name another file/,
  },
  { what: 'a folder is there', to: ({ root }) => root, message: /already exists/ },
  { what: 'the folder above is not there', to: ({ root }) => join(root, 'none/copy.db'), message: /does not exist/ },
  {
    what: 'the data file is not there',
    to({ root, data }) {
      rmSync(join(data, DATA_FILE))
      return join(root, 'copy.db')
    },
    message: /There is no readable data file/,
  },
  {
    what: 'an entry of the trail was altered',
    to({ root, data }) {
      tamper(data, (db) => db.exec("UPDATE section SET json = replace(json, 'agent', 'owner') WHERE name = 'data'"))
      return join(root, 'copy.db')
    },
    message: /section data does not match/,
  },
  {
    what: 'a key was altered',
    to({ root, data }) {
      const db = new Sqlite(join(data, DATA_FILE))
      db.exec("UPDATE api_key SET body = replace(body, 'agent', 'owner')")
      db.close()
      return join(root, 'copy.db')
    },
    message: /The stored key .* differs/,
  },
]
for (const { what, to, message } of REFUSED) {
  test(`no backup is made, and nothing is changed: ${what}`, async () => {
    const root = temporaryFolder()
    const folder = folderIn(root)
    await command(folder, 'keys', 'create', '--tenant', 'acme', '--role', 'agent')
    const path = to({ ...folder, root })
    const files = () =>
      readdirSync(root).map((name) => [
        name,
        statSync(join(root, name)).isFile() && readFileSync(join(root, name), 'utf8'),
      ])
    const before = files()
    const { code, stderr } = await run(['backup', path, '--data', folder.data])
    assert.equal(code, 3)
    assert.match(stderr, message)
    assert.deepEqual(files(), before)
  })
}
