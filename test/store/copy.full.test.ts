import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { actorOf } from '../../src/actions/deps.ts'
import { DAY_MS } from '../../src/base/time.ts'
import type { Side } from '../../src/store/copy/side.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { BIN, run } from '../cli/program.ts'
import { openFile, temporaryFolder } from '../helpers.ts'
import { postgresServer, withClient } from '../postgres.ts'
import { commit, LIVE, note, only } from './drafts.ts'
import {
  copy,
  copyToFile,
  copyToServer,
  dumpOfFile,
  dumpOfServer,
  Ended,
  emptyServer,
  fileSide,
  movableFolder,
  type Server,
  serverSide,
} from './moving.ts'
import { MIGRATIONS, olderFile } from './older-file.ts'
import { copyOf, tamper } from './used-folder.ts'

/** A folder of the tests, of which each has a copy. */
let movable = ''
before(async () => {
  const [dir] = await Promise.all([movableFolder({ after } as TestContext), postgresServer()])
  movable = dir
})

/** Ends of a run: while it copies, in the middle of chains and between them, while it verifies, and before the last step. */
const ENDS = [
  /_system, copying/,
  /acme\/live~1, copying/,
  /other\/live, copying/,
  /_system, verifying the target/,
  /retired/,
]

test('a copy to a server that ended anywhere goes on, and nothing opens it before its end', async (t) => {
  const dir = copyOf(movable)
  const { whole: url, url: shown, password } = await emptyServer(t)
  const expected = await dumpOfFile(dir)
  for (const endAt of ENDS) {
    await assert.rejects(copyToServer(dir, url, endAt), Ended, String(endAt))
    if (!(await isBegun(url))) continue
    const { code, stderr } = await run(['tenants', 'list', '--store', shown, '--store-password', password])
    assert.match(stderr, /The store in this database is an unfinished copy of .*, begun at 20.*store copy` again/)
    assert.equal(code, 3)
  }
  await copyToServer(dir, url)
  assert.deepEqual(await dumpOfServer(url), expected)
})

const isBegun = (url: string): Promise<boolean> =>
  withClient(url, async (client) => (await client.query('SELECT FROM gate.fence')).rows.length > 0)

test('a copy to a file that ended anywhere goes on, and nothing opens it before its end', async (t) => {
  const dir = copyOf(movable)
  const { whole: url } = await emptyServer(t)
  await copyToServer(dir, url)
  const expected = await dumpOfServer(url)
  const back = join(temporaryFolder(), 'back')
  for (const endAt of ENDS) {
    await assert.rejects(copyToFile(url, back, dir, endAt), Ended, String(endAt))
    if (!existsSync(join(back, DATA_FILE))) continue
    assert.throws(
      () => openFile(back),
      /The store in .*gate-sidecar\.db is an unfinished copy of postgres:.*, begun at 20/,
    )
  }
  await copyToFile(url, back, dir)
  assert.deepEqual(await dumpOfFile(back), expected)
})

test('a source that was used after an unfinished copy is copied as it is then', async (t) => {
  const dir = copyOf(movable)
  const { whole: url } = await emptyServer(t)
  await assert.rejects(copyToServer(dir, url, /acme\/test, copying/), Ended)
  const store = openFile(dir, () => Date.now() + 2 * DAY_MS)
  const agent = [...store.state().keys.values()].find(({ identity }) => identity === 'bot-2') ?? assert.fail()
  await commit(store, only(note({ went: 'on' }, { actor: actorOf(agent) })))
  await store.close()
  const expected = await dumpOfFile(dir)
  await copyToServer(dir, url)
  assert.deepEqual(await dumpOfServer(url), expected)
})

const CHANGED = [
  {
    what: 'content was erased from the source meanwhile',
    change: async (dir: string) => {
      const { code } = await run([
        'audit',
        'redact',
        '--tenant',
        'acme',
        '--before',
        '2999-01-01',
        '--reason',
        'r',
        '--data',
        dir,
      ])
      assert.equal(code, 0)
    },
    message: /In postgres.*, entry \d+ of acme\/live is not as in .*Remove the copy, and begin again/,
  },
  {
    what: 'the source is another branch of the trail',
    change: (dir: string) => tamper(dir, (db) => db.exec(`DELETE FROM entry WHERE chain = '${LIVE}~1' AND seq = 3`)),
    message: /has entries of acme\/live~1 that are not in/,
  },
  {
    what: 'entries of the target were altered',
    target: `UPDATE gate.audit_entry SET data = replace(data, 'ü', 'u')`,
    message: /In postgres.*, entry \d+ of acme\/live is not as in .*Remove the copy, and begin again/,
  },
  {
    what: 'the target has an entry more',
    target: `UPDATE gate.chain SET name = 'else/live' WHERE name = 'acme/live'`,
    message: /has entries of else\/live that are not in .*Remove the copy, and begin again/,
  },
  {
    what: 'the target became that of another trail',
    target: `UPDATE gate.instance SET origin = 'gate-other'`,
    message: /has another trail, and a copy never adds to one/,
  },
  {
    what: 'the target is in use all the same',
    target: `INSERT INTO gate.sidecar VALUES (1, 1, 'a', '', now() + interval '1 minute')`,
    message: /in use by sidecars/,
  },
]

for (const { what, change, target, message } of CHANGED)
  test(`a copy does not go on, nor is the source marked, when ${what}`, async (t) => {
    const dir = copyOf(movable)
    const { whole: url } = await emptyServer(t)
    await assert.rejects(copyToServer(dir, url, /other\/live, copying/), Ended)
    await change?.(dir)
    if (target !== undefined) await withClient(url, (client) => client.query(target))
    await assert.rejects(copyToServer(dir, url), message)
    const { code, stderr } = await run(['tenants', 'list', '--data', dir])
    assert.equal(/was moved/.test(stderr), false, stderr)
    assert.equal(code, /another branch/.test(what) ? 3 : 0)
  })

test('rows that came into an unfinished target do not stay', async (t) => {
  const dir = copyOf(movable)
  const { whole: url } = await emptyServer(t)
  const expected = await dumpOfFile(dir)
  await assert.rejects(copyToServer(dir, url, /_system, verifying the target/), Ended)
  const altering =
    "UPDATE gate.policy_text SET source = ''; INSERT INTO gate.key_use VALUES ('key_x', ''); DELETE FROM gate.checkpoint"
  await withClient(url, (client) => client.query(altering))
  await copyToServer(dir, url)
  assert.deepEqual(await dumpOfServer(url), expected)
})

test('an entry that reaches the source behind the back of the copy ends it before the source is marked', async (t) => {
  const dir = copyOf(movable)
  const { whole: url } = await emptyServer(t)
  await copyToServer(dir, url)
  const back = join(temporaryFolder(), 'back')
  const source = serverSide(url, 'source').then(
    (side): Side => ({
      ...side,
      // Somebody who waits for no lock.
      endsNow: async () =>
        (await side.ends()).map((end) => (end.name === LIVE ? { ...end, length: end.length + 1 } : end)),
    }),
  )
  await assert.rejects(
    copy({ keyDir: dir, source, to: back, open: () => fileSide(back, dir) }),
    /acme\/live is not as in/,
  )
  assert.equal(await isBegun(url), false)
})

const MEANWHILE = [
  {
    sql: "INSERT INTO gate.sidecar VALUES (1, 1, 'a', '', now() + interval '1 minute')",
    message: /in use by sidecars/,
  },
  { sql: "INSERT INTO gate.key_use VALUES ('key_a', '')", message: /The database is not empty any more/ },
]

for (const { sql, message } of MEANWHILE)
  test(`a target that somebody uses once it was found empty is left as it is: ${message.source}`, async (t) => {
    const dir = copyOf(movable)
    const { whole: url } = await emptyServer(t)
    const open = async (): Promise<Side> => {
      const side = await serverSide(url, 'target')
      const begin: Side['begin'] = async (...args) => {
        await withClient(url, (client) => client.query(sql))
        await side.begin(...args)
      }
      return { ...side, begin }
    }
    await assert.rejects(copy({ keyDir: dir, source: fileSide(dir), to: url, open }), message)
    assert.equal(await isBegun(url), false)
  })

const CHANGING: { what: string; as(side: Side, url: string): Partial<Side>; message: RegExp }[] = [
  {
    what: 'a row is lost',
    as: (side) => ({ put: (table, rows) => side.put(table, table === 'idempotency' ? rows.slice(1) : rows) }),
    message: /row key_\w+ .* of the table idempotency is not as in/,
  },
  {
    what: 'an entry is altered',
    as: (side, url) => ({
      async putEnds(...args) {
        await side.putEnds(...args)
        const altering = "UPDATE gate.audit_entry SET request = replace(request, '5001', '5') WHERE request IS NOT NULL"
        await withClient(url, (client) => client.query(altering))
      },
    }),
    message: /^AlteredFile: postgres.* does not verify: audit chain acme\/live, entry \d+/,
  },
]

for (const { what, as, message } of CHANGING)
  test(`a target in which ${what} on the way ends the copy before the source is marked`, async (t) => {
    const dir = copyOf(movable)
    const { whole: url } = await emptyServer(t)
    const open = async (): Promise<Side> => {
      const side = await serverSide(url, 'target')
      return { ...side, ...as(side, url) }
    }
    await assert.rejects(copy({ keyDir: dir, source: fileSide(dir), to: url, open }), message)
    assert.equal((await run(['tenants', 'list', '--data', dir])).code, 0)
  })

const key = (dir: string): string => join(dir, 'signing-key.pem')
const between = (dir: string, { url, password }: Server) => [
  'store',
  'copy',
  '--from',
  dir,
  '--to',
  url,
  '--to-password',
  password,
]
const back = ({ url, password }: Server, dir: string, keyDir: string) => [
  ...['store', 'copy', '--from', url, '--from-password', password, '--to', dir, '--signing-key', key(keyDir)],
]

/** Runs the command of the built program again and again, and kills it later each time. @returns how often it was killed */
async function killedUntilDone(args: readonly string[]): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    const child: ChildProcess = spawn(process.execPath, [BIN, ...args], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    await Promise.race([sleep(200 + kills * 100), ended])
    child.kill('SIGKILL')
    const [code, signal] = await ended
    if (code === 0) return kills
    assert.equal(signal, 'SIGKILL', `${args.join(' ')} ended with ${code}`)
  }
}

test('a copy that is killed at any moment, again and again, ends with the whole trail', async (t) => {
  const dir = copyOf(movable)
  const server = await emptyServer(t)
  const expected = await dumpOfFile(dir)
  assert.ok((await killedUntilDone(between(dir, server))) > 1)
  assert.deepEqual(await dumpOfServer(server.whole), expected)
  const to = join(temporaryFolder(), 'back')
  assert.ok((await killedUntilDone(back(server, to, dir))) > 1)
  assert.deepEqual(await dumpOfFile(to), expected)
})

const PRLIMIT = 'prlimit'
const HAS_PRLIMIT = spawnSync(PRLIMIT, ['--version']).status === 0

test('a trail moves from one database to another as well', async (t) => {
  const dir = copyOf(movable)
  const [one, other] = [await emptyServer(t), await emptyServer(t)]
  const expected = await dumpOfFile(dir)
  await copyToServer(dir, one.whole)
  const open = () => serverSide(other.whole, 'target')
  await copy({ keyDir: dir, source: serverSide(one.whole, 'source'), to: other.whole, open })
  assert.deepEqual(await dumpOfServer(other.whole), expected)
})

test('a copy to a full disk says so, and goes on when there is room', { skip: !HAS_PRLIMIT }, async (t) => {
  const dir = copyOf(movable)
  const server = await emptyServer(t)
  const expected = await dumpOfFile(dir)
  await copyToServer(dir, server.whole)
  const to = join(temporaryFolder(), 'back')
  for (const bytes of [100_000, 400_000, 2_000_000]) {
    const args = [`--fsize=${bytes}`, process.execPath, BIN, ...back(server, to, dir)]
    const { status, stderr } = spawnSync(PRLIMIT, args, { encoding: 'utf8' })
    assert.equal(status, 3, stderr)
    assert.match(stderr, /^gate-sidecar: The data file cannot be used: .*(?:full|disk I\/O error)/)
  }
  assert.equal((await run(back(server, to, dir))).code, 0)
  assert.deepEqual(await dumpOfFile(to), expected)
})

test('a data file of an earlier version is moved as this one converts it', async (t) => {
  const older = join(temporaryFolder(), 'older')
  olderFile(movable, MIGRATIONS.length - 1, older)
  cpSync(key(movable), key(older))
  const server = await emptyServer(t)
  assert.equal((await run(between(older, server))).stderr, '')
  assert.deepEqual(await dumpOfServer(server.whole), await dumpOfFile(movable))
})
