import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import Sqlite, { type Database } from 'better-sqlite3'
import { DATA_FILE, openDatabase, openToRead } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import type { StartCheck } from '../../src/store/verify/startup.ts'
import { run } from '../cli/program.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { HANGS_MS } from '../until.ts'
import { aDecision, commit, enrolment, LIVE, note, START_MS } from './drafts.ts'
import { withTables } from './old-tables.ts'
import { asKilled, IN_TWO_TABLES, MIGRATIONS, olderFile } from './older-file.ts'

const LEVELS = MIGRATIONS.map((_, i) => i + 1)
const NEWEST = LEVELS.length

test('a file of the first version keeps the policies that were in force, under the digest on record', () => {
  const dir = temporaryFolder()
  const old = new Sqlite(join(dir, DATA_FILE))
  old.exec(MIGRATIONS[0] ?? '')
  old.pragma('user_version = 1')
  old.prepare("INSERT INTO policy (id, body, changed) VALUES ('acme', ?, 1)").run('{"digest":"sha256:aa"}')
  const put = old.prepare('INSERT INTO policy_source (tenant, source) VALUES (?, ?)')
  put.run('acme', 'täxt')
  put.run('nobody', 'of which no record says what it is')
  old.close()
  const db = openDatabase(dir, { create: false })
  assert.deepEqual(db.prepare('SELECT * FROM policy_text').all(), [
    { tenant: 'acme', digest: 'sha256:aa', loaded: 1, bytes: 5, source: 'täxt' },
  ])
  db.close()
})

/** A folder with a tenant, two keys and a stop, none of which a service has signed. */
const source = temporaryFolder()
before(async () => {
  const data = join(source, 'data')
  for (const role of ['agent', 'owner']) {
    const made = await run(['keys', 'create', '--tenant', 'acme', '--role', role, '--data', data])
    assert.equal(made.code, 0, made.stderr)
  }
  const stopped = await run([
    ...['killswitch', 'trigger', '--tenant', 'acme', '--level', 'L3', '--reason', 'drill', '--by', 'ann'],
    ...['--data', data],
  ])
  assert.equal(stopped.code, 0, stopped.stderr)
})

function fileOf(level: number): string {
  const dir = join(temporaryFolder(), 'data')
  olderFile(join(source, 'data'), level, dir)
  copyFileSync(join(source, 'data/signing-key.pem'), join(dir, 'signing-key.pem'))
  return dir
}

/** The first version in which commits were sealed. */
const SEALED = 1 + MIGRATIONS.findIndex((sql) => sql.includes('CREATE TABLE seal'))

const levelIn = (dir: string): unknown => {
  const db = new Sqlite(join(dir, DATA_FILE), { readonly: true })
  const level = db.pragma('user_version', { simple: true })
  db.close()
  return level
}

const open = (dir: string, check: StartCheck = 'all') => openStore({ dir, create: false, clock: Date.now, check })

for (const level of LEVELS) {
  test(`a file of level ${level} is taken up as it was: keys, stops, and a trail that verifies`, async (t) => {
    const dir = fileOf(level)
    assert.equal(levelIn(dir), level)
    const store = open(dir)
    const { keys, switches, tenants } = store.state()
    assert.deepEqual([tenants.size, keys.size, switches.length], [1, 2, 1])
    await store.close()
    assert.equal(levelIn(dir), NEWEST)
    if (level < SEALED) {
      // It could as well be a newer file without its seals, so a person has to say that it is right.
      await assert.rejects(startGate(t, { dir: join(dir, '..') }), /the chain has no seal/)
      const restored = await run(['audit', 'restore', '--data', dir, '--reason', 'older'])
      assert.equal(restored.code, 0, restored.stderr)
    }
    const gate = await startGate(t, { dir: join(dir, '..') })
    await gate.server.close()
    const verified = await run(['audit', 'verify', '--data', dir, '--json'])
    assert.equal(verified.code, 0, verified.stdout)
  })
}

/** What is altered in a file, so that the service refuses it. */
const ALTERED: [what: string, sql: string, message: RegExp][] = [
  ['an index is gone', 'DROP INDEX entry_type', /schema of the data file/],
  ['a trigger is gone', 'DROP TRIGGER entry_no_update', /schema of the data file/],
  ['a table is there that is none of ours', 'CREATE TABLE more (a)', /schema of the data file/],
  ['a column is there that is none of ours', 'ALTER TABLE api_key ADD COLUMN more TEXT', /schema of the data file/],
  ['a key has another role', "UPDATE api_key SET body = replace(body, 'agent', 'owner')", /The stored key .* differs/],
  ['a stop is gone', 'DELETE FROM kill_switch', /The stored switch .* is missing/],
  ['what entries say is gone', 'DELETE FROM section', /entry \d+: section \w+ is missing/],
  ['it is of a newer version', 'PRAGMA user_version = 99', /newer version/],
]

for (const level of [1, 4, IN_TWO_TABLES]) {
  for (const [what, sql, message] of ALTERED) {
    test(`a file of level ${level} that is refused is not changed: ${what}`, async () => {
      const [whole, dir] = [fileOf(level), join(temporaryFolder(), 'data')]
      const db = new Sqlite(join(whole, DATA_FILE))
      db.exec(sql)
      db.close()
      // The log of a killed process still has something that the file has not.
      asKilled(whole, dir, 'UPDATE instance SET state_version = state_version + 1')
      const files = [DATA_FILE, `${DATA_FILE}-wal`].map((name) => join(dir, name))
      const before = files.map((path) => readFileSync(path))
      for (const check of ['all', 'allButApprovals', 'nothing'] as const) assert.throws(() => open(dir, check), message)
      await assert.rejects(startGate({ after: () => undefined }, { dir: join(dir, '..') }), message)
      assert.ok((await run(['audit', 'verify', '--data', dir])).code !== 0)
      for (const [i, path] of files.entries()) assert.ok(before[i]?.equals(readFileSync(path)), path)
    })
  }
}

/** What is hashed of a trail: the header and hash of each entry, and its sections. */
function hashedIn(db: Database): unknown[][] {
  return [
    'SELECT chain, seq, header, hash FROM entry ORDER BY chain, seq',
    'SELECT chain, seq, name, salt, json FROM section ORDER BY chain, seq, name',
  ].map((query) => db.prepare(query).raw().all())
}

/** The trail of a file of any version. */
function trailIn(dir: string): unknown[][] {
  const db = new Sqlite(join(dir, DATA_FILE), { readonly: true })
  const isOld = (db.pragma('user_version', { simple: true }) as number) <= IN_TWO_TABLES
  const hashed = hashedIn(isOld ? db : withTables(db))
  db.close()
  return hashed
}

/** A file of the version with two tables, with more entries than are moved at once. */
async function largeFile(): Promise<string> {
  const [from, dir] = [temporaryFolder(), join(temporaryFolder(), 'data')]
  let nowMs = START_MS
  const store = openStore({ dir: from, create: true, clock: () => nowMs++ })
  await commit(store, enrolment())
  await commit(store, enrolment('acme/test'))
  const texts = ['plain', 'quo"ted \\ "agent":null', 'ünï ☃ \u{1f4a9}', '']
  for (let n = 0; n < 52; n += 1) {
    const entries = Array.from({ length: 200 }, (_, i) => {
      const text = texts[i % 4] ?? ''
      if (i % 3 > 0)
        return { ...note({ text }, { chain: i % 2 ? LIVE : 'acme/test' }), ...(i % 5 === 0 && { detail: text }) }
      const made = aDecision(i % 2 ? 'allow' : 'deny', { action: `a.${text}` })
      const grounds = { ...made.grounds, reason: text, session: i % 4 ? text : null, historyEnd: i % 7 ? i : null }
      return { ...made, grounds, risk: { score: i, factors: [] } }
    })
    await commit(store, { guards: [], writes: [], entries })
  }
  const erase = {
    kind: 'erase',
    chain: LIVE,
    targets: [{ first: 100, last: 4000, section: 'request' }],
    approvals: [],
  } as const
  await commit(store, { guards: [], writes: [erase], entries: [] })
  await store.close()
  olderFile(from, IN_TWO_TABLES, dir)
  return dir
}

test('a large file is converted in parts, goes on where it ended, and is the same to the byte', async () => {
  const dir = await largeFile()
  const before = trailIn(dir)
  const left: number[] = []
  const stopping = (entries: number): void => {
    left.push(entries)
    throw new Error('the process ends here')
  }
  assert.throws(() => openDatabase(dir, { create: false, onConvert: stopping }), /the process ends here/)
  assert.equal(levelIn(dir), IN_TWO_TABLES + 1)
  // Neither read nor served by halves.
  assert.throws(() => openToRead(dir), /start this one on it first/)
  const entries = before[0]?.length ?? 0
  assert.ok(left[0] !== undefined && left[0] > 0 && left[0] <= entries - 10_000, `${left} of ${entries}`)
  openDatabase(dir, { create: false }).close()
  assert.equal(levelIn(dir), NEWEST)
  assert.deepEqual(trailIn(dir), before)
})

const SPOILT: [what: string, sql: string, message: RegExp][] = [
  [
    'a header',
    `UPDATE entry SET header = replace(header, '"v":1', '"v": 1') WHERE chain = 'acme/test' AND seq = 3000`,
    /acme\/test, entry 3000: it is not as/,
  ],
  [
    'an id',
    `UPDATE entry SET header = replace(header, '"aud_0', '"aud_9') WHERE chain = 'acme/test' AND seq = 3000`,
    /acme\/test, entry 3000: it is not as/,
  ],
  [
    'the letters of a digest',
    `UPDATE entry SET header = replace(header, digits, upper(digits))
       FROM (SELECT substr(header, instr(header, '"prev":"sha256:') + 15, 64) AS digits FROM entry WHERE chain = 'acme/test' AND seq = 3000)
      WHERE chain = 'acme/test' AND seq = 3000`,
    /acme\/test, entry 3000: it is not as/,
  ],
  [
    'a decision',
    `UPDATE section SET json = replace(json, '"action"', '"more":1,"action"') WHERE name = 'decision' AND seq = (SELECT min(seq) FROM section WHERE name = 'decision')`,
    /acme\/live, entry \d+: it is not as/,
  ],
  [
    'a section of its own',
    "INSERT INTO section SELECT chain, 99999, name, salt, json FROM section WHERE chain = 'acme/test' AND seq = 1",
    /a section of entry 99999, and no such entry/,
  ],
]
test('an entry that no version wrote ends the conversion, which names it, at each start', async () => {
  const whole = await largeFile()
  for (const [what, sql, message] of SPOILT) {
    const dir = join(temporaryFolder(), 'data')
    cpSync(whole, dir, { recursive: true })
    const db = new Sqlite(join(dir, DATA_FILE))
    db.exec('DROP TRIGGER entry_no_update')
    assert.equal(db.prepare(sql).run().changes > 0, true, what)
    db.exec((MIGRATIONS[0] ?? '').split('\n').find((line) => line.includes('entry_no_update')) ?? assert.fail())
    db.close()
    for (let start = 0; start < 2; start += 1) assert.throws(() => openDatabase(dir, { create: false }), message, what)
  }
})

test('a file that is not ours is not changed, whatever its journal', () => {
  const dir = temporaryFolder()
  const path = join(dir, DATA_FILE)
  new Sqlite(path).exec('CREATE TABLE notes (text)').close()
  const before = readFileSync(path)
  assert.throws(() => openDatabase(dir, { create: true }), /is not a data file of gate-sidecar/)
  assert.ok(before.equals(readFileSync(path)))
  assert.equal(existsSync(`${path}-wal`), false)
})

/** Opens the file, and says when it is about to migrate and when it has. */
const MIGRATOR = `
import { openStore } from '${new URL('../../src/store/sqlite/store.ts', import.meta.url)}'
process.stdout.write('begins\\n')
await openStore({ dir: process.argv.at(-1), create: false, clock: Date.now }).close()
process.stdout.write('done\\n')
`

test('a process that is killed while it migrates leaves the file at one level or the other, whole', async () => {
  const ends = new Set<unknown>()
  for (const delayMs of [0, 0, 20, 60, 200, 0, 600, 2000, HANGS_MS]) {
    if (ends.size > 1) break
    const dir = fileOf(1)
    const large = new Sqlite(join(dir, DATA_FILE))
    // Entries by nobody would be refused; texts of policies that no record names are only dropped, and take their time.
    large.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO policy_source SELECT 'tenant' || i, hex(zeroblob(100000)) FROM n`)
    large.close()
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', MIGRATOR, dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const wal = `${join(dir, DATA_FILE)}-wal`
    const ended = once(child, 'exit')
    while (child.exitCode === null && !existsSync(wal)) await new Promise(setImmediate)
    const late = new Promise((resolve) => setTimeout(resolve, delayMs))
    await Promise.race([ended, late])
    child.kill('SIGKILL')
    await ended
    const level = levelIn(dir)
    assert.ok(level === 1 || level === NEWEST, String(level))
    ends.add(level)
    const store = open(dir)
    assert.equal(store.state().keys.size, 2)
    await store.close()
    assert.equal(levelIn(dir), NEWEST)
  }
  assert.deepEqual([...ends].sort(), [1, NEWEST], 'both sides of the commit were seen')
})
