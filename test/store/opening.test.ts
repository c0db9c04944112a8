import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { DATA_FILE, openDatabase } from '../../src/store/sqlite/open.ts'
import { temporaryFolder } from '../helpers.ts'

const HELD_MS = 500

/** Another process that writes a new file, which is not in WAL mode yet, and holds its lock for a while. */
const HOLDER = `
const Sqlite = require('better-sqlite3')
const db = new Sqlite(process.argv[1])
db.exec('BEGIN IMMEDIATE')
process.stdout.write('held')
setTimeout(() => { process.stdout.write(String(Date.now())); db.exec('COMMIT'); db.close() }, ${HELD_MS})
`

test('a new file whose lock another process holds is opened when that one is done', async () => {
  const dir = temporaryFolder()
  const holder = spawn(process.execPath, ['-e', HOLDER, join(dir, DATA_FILE)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(holder, 'close')
  await once(holder.stdout, 'data')
  const db = openDatabase(dir, { create: true })
  const openedMs = Date.now()
  assert.ok(openedMs >= Number(await text(holder.stdout)), 'it waited')
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal')
  db.close()
  await ended
})

const PROCESSES = 4
const ROUNDS = 20
const ROUND_MS = 60

/** Opens a new folder at each of the given times, exactly or within some milliseconds, and says which instance it found there. */
const OPENER = `
import { openStore } from '${new URL('../../src/store/sqlite/store.ts', import.meta.url)}'
import { setTimeout as sleep } from 'node:timers/promises'
const [dir, begin] = process.argv.slice(-2)
const found = []
for (let round = 0; round < ${ROUNDS}; round++) {
  const at = Number(begin) + round * ${ROUND_MS}
  await sleep(at + (round % 2 === 0 ? -5 : Math.random() * 20) - Date.now())
  while (Date.now() < at);
  const store = openStore({ dir: dir + '/' + round + '/data', create: true, clock: Date.now })
  found.push(store.origin)
  await store.close()
}
console.log(JSON.stringify(found))
`

test('processes that open a new folder at once wait for one another, and find one instance', async () => {
  const dir = temporaryFolder()
  const begin = Date.now() + 2000
  const run = promisify(execFile)
  const open = () =>
    run(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', OPENER, dir, String(begin)])
  const outputs = await Promise.all(Array.from({ length: PROCESSES }, open))
  const [first, ...others] = outputs.map(({ stdout }) => JSON.parse(stdout))
  assert.equal(new Set(first).size, ROUNDS)
  for (const other of others) assert.deepEqual(other, first)
})
