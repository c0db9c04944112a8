import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import type pg from 'pg'
import { actorOf } from '../../src/actions/deps.ts'
import { checkpointer } from '../../src/actions/evidence/checkpoints.ts'
import { openKeyring } from '../../src/actions/evidence/signing-keys.ts'
import { idMaker } from '../../src/base/id.ts'
import { type Clock, DAY_MS } from '../../src/base/time.ts'
import { sealKeysAt, signingKeyFile } from '../../src/files/signing-key.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { run } from '../cli/program.ts'
import { openFile, temporaryFolder } from '../helpers.ts'
import { postgresServer, withClient } from '../postgres.ts'
import { fullTest, some } from '../tier.ts'
import { commit, note, only } from './drafts.ts'
import {
  copyToFile,
  copyToServer,
  dumpOfFile,
  dumpOfServer,
  Ended,
  emptyServer,
  movableFolder,
  type Server,
} from './moving.ts'
import { copyOf, tamper } from './used-folder.ts'

/** A folder of the tests, of which each has a copy. */
let movable = ''
before(async () => {
  const [dir] = await Promise.all([movableFolder({ after } as TestContext), postgresServer()])
  movable = dir
})

/** After all times in the trail. */
const LATER: Clock = () => Date.now() + 2 * DAY_MS
const key = (dir: string): string => join(dir, 'signing-key.pem')
const toServer = (dir: string, { url, password }: Server) =>
  run(['store', 'copy', '--from', dir, '--to', url, '--to-password', password])
const toFile = ({ url, password }: Server, dir: string, keyFile: string) =>
  run(['store', 'copy', '--from', url, '--from-password', password, '--to', dir, '--signing-key', keyFile])

const ok = async (ended: ReturnType<typeof run>): Promise<string> => {
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, stderr)
  return stdout
}

/** Adds a log key, as a command does, and an entry of a lane and checkpoints, as a sidecar does. */
async function goOn({ url, password, whole }: Server, dir: string): Promise<void> {
  await ok(run(['signing-keys', 'rotate', '--store', url, '--store-password', password, '--data', dir]))
  const sealKeys = sealKeysAt(key(dir))
  const store = await openServerStore({ address: { url: whole }, clock: LATER, sealKeys, lanes: true })
  const agent = [...store.state().keys.values()].find(({ identity }) => identity === 'bot-2') ?? assert.fail()
  await commit(store, only(note({ went: 'on' }, { actor: actorOf(agent) })))
  const deps = { store, clock: LATER, newId: idMaker(LATER, randomBytes) }
  const keyring = await openKeyring(deps, signingKeyFile(key(dir)))
  await checkpointer({ ...deps, keyring, onFault: () => undefined }).signAll()
  await store.close()
}

test('a trail that moves to a server and back is the same, to the byte, in each chain and record', async (t) => {
  const dir = copyOf(movable)
  const server = await emptyServer(t)
  const before = await dumpOfFile(dir)
  assert.match(
    await ok(toServer(dir, server)),
    /^[\d,]+ entries of 6 chains were moved to postgres:.*verified on both sides/,
  )
  assert.deepEqual(await dumpOfServer(server.whole), before)
  await goOn(server, dir)
  const moved = await dumpOfServer(server.whole)
  const back = join(temporaryFolder(), 'back')
  await ok(toFile(server, back, key(dir)))
  assert.deepEqual(await dumpOfFile(back), moved)
  cpSync(key(dir), key(back))
  const verified = await ok(run(['audit', 'verify', '--data', back]))
  assert.match(verified, /acme\/live~1 +unanchored +5 entries/)
})

fullTest(
  'nothing opens a source that was moved, nor appends to it; to copy it again to its target does nothing',
  async (t) => {
    const dir = copyOf(movable)
    const server = await emptyServer(t)
    await ok(toServer(dir, server))
    const command = { address: { url: server.whole }, clock: LATER, sealKeys: sealKeysAt(key(dir)) }
    const [open, made] = [await openServerStore(command), await dumpOfServer(server.whole)]
    t.after(() => open.close())
    assert.match(await ok(toServer(dir, server)), /verified on both sides/)
    assert.deepEqual(await dumpOfServer(server.whole), made)
    const again = join(temporaryFolder(), 'again')
    for (const args of [
      ['tenants', 'list', '--data', dir],
      ['backup', join(temporaryFolder(), 'copy.db'), '--data', dir],
      ['store', 'copy', '--from', dir, '--to', again],
    ]) {
      const { code, stderr } = await run(args)
      assert.equal(code, 3)
      assert.match(stderr, /The trail in .* was moved to postgres:.* at 20/)
    }
    assert.equal(existsSync(again), false)
    await ok(toFile(server, again, key(dir)))
    await assert.rejects(openServerStore(command), /The trail in this database was moved to .*again at 20/)
    await assert.rejects(open.commit(only(note({}, { chain: 'new/live' }))), /cannot be written/)
    await assert.rejects(open.commit(only(note())), /cannot be written/)
    await assert.rejects(async () => open.refresh(), /cannot be read/)
  },
)

test('nothing opens an unfinished copy, with which the next run goes on', async (t) => {
  const dir = copyOf(movable)
  const server = await emptyServer(t)
  const expected = await dumpOfFile(dir)
  await assert.rejects(copyToServer(dir, server.whole, /acme\/live~1, copying/), Ended)
  const { url, password, whole } = server
  const { code, stderr } = await run(['tenants', 'list', '--store', url, '--store-password', password])
  assert.match(stderr, /The store in this database is an unfinished copy of .*, begun at 20.*store copy` again/)
  assert.equal(code, 3)
  await copyToServer(dir, whole)
  assert.deepEqual(await dumpOfServer(whole), expected)
  const back = join(temporaryFolder(), 'back')
  await assert.rejects(copyToFile(whole, back, dir, /acme\/live~1, copying/), Ended)
  assert.throws(() => openFile(back), /The store in .*gate-sidecar\.db is an unfinished copy of postgres:/)
})

interface Refusal {
  what: string
  /** Prepares both sides; returns the command. */
  args(t: TestContext, dir: string, server: Server): Promise<string[]> | string[]
  code?: number
  stderr: RegExp
}

const between = (dir: string, { url, password }: Server): string[] => [
  '--from',
  dir,
  '--to',
  url,
  '--to-password',
  password,
]
const REFUSED: Refusal[] = [
  {
    what: 'the target has another trail',
    async args(_t, dir, server) {
      await withClient(server.whole, (client) => client.query("INSERT INTO gate.key_use VALUES ('key_a', '')"))
      return between(dir, server)
    },
    stderr: /has another trail, and a copy never adds to one/,
  },
  {
    what: 'the target file has another trail',
    async args(_t, dir) {
      const other = temporaryFolder()
      await openFile(other).close()
      return ['--from', dir, '--to', other]
    },
    stderr: /has another trail, and a copy never adds to one/,
  },
  {
    what: 'another process has the data file open',
    args(t, dir, server) {
      const store = openFile(dir)
      t.after(() => store.close())
      return between(dir, server)
    },
    stderr: /gate-sidecar\.db is in use by another process; stop it first/,
  },
  {
    what: 'a sidecar holds a lane of the target',
    async args(_t, dir, server) {
      await leased(server)
      return between(dir, server)
    },
    stderr: /in use by sidecars \(1\)\. Stop them first/,
  },
  {
    what: 'a sidecar holds a lane of the source',
    async args(_t, dir, server) {
      await leased(server)
      return ['--from', server.url, '--from-password', server.password, '--to', join(dir, 'to')]
    },
    stderr: /in use by sidecars \(1\)\. Stop them first/,
  },
  {
    what: 'a command is about to append to the source',
    async args(t, dir, server) {
      const busy = await clientOf(t, server)
      await busy.query('BEGIN; SELECT FROM gate.instance FOR SHARE')
      return ['--from', server.url, '--from-password', server.password, '--to', join(dir, 'to')]
    },
    stderr: /is in use; stop its sidecars and commands first/,
  },
  {
    what: 'the source has no trail',
    args: (_t, dir, server) => ['--from', server.url, '--from-password', server.password, '--to', join(dir, 'to')],
    stderr: /There is no trail in postgres:/,
  },
  {
    what: 'an entry of the source was altered',
    args(_t, dir, server) {
      const altering = `UPDATE section SET json = replace(json, '"n"', '"m"') WHERE chain = 'acme/live' AND seq = 50`
      tamper(dir, (db) => db.exec(altering))
      return between(dir, server)
    },
    stderr: /does not verify: audit chain acme\/live, entry 50: section data does not match its commitment/,
  },
  {
    what: 'a record of the source was altered',
    args(_t, dir, server) {
      tamper(dir, (db) => db.exec("UPDATE api_key SET body = replace(body, 'agent', 'owner')"))
      return between(dir, server)
    },
    stderr: /The stored key key_.* differs from what the audit chain records/,
  },
  {
    what: 'the log key is not at hand',
    args(_t, dir, server) {
      rmSync(key(dir))
      return between(dir, server)
    },
    stderr: /The log key of the trail is not at hand, .* Name its file with --signing-key/,
  },
  {
    what: 'stops wait for the data file',
    args(_t, dir, server) {
      writeFileSync(join(dir, 'stops.reserve'), Buffer.alloc(512 * 1024, 1))
      return between(dir, server)
    },
    stderr: /stops\.reserve has 32 stops that the trail lacks/,
  },
  {
    what: 'a password in the URL',
    args: (_t, dir) => ['--from', dir, '--to', 'postgres://me:secret@127.0.0.1:1/gate'],
    code: 2,
    stderr: /--to: "postgres:\/\/me:…@127.* is not accepted: .* in the file of --to-password/,
  },
  {
    what: 'a password for a folder',
    args: (_t, dir) => ['--from', dir, '--to', 'there', '--to-password', key(dir)],
    code: 2,
    stderr: /--to-password is for a PostgreSQL database/,
  },
  {
    what: 'one store on both sides',
    args: (_t, dir) => ['--from', dir, '--to', join(dir, '.')],
    code: 2,
    stderr: /--from and --to name the same store/,
  },
]

async function clientOf(t: TestContext, { whole }: Server): Promise<pg.Client> {
  const { default: driver } = await import('pg')
  const client = new driver.Client({ connectionString: whole })
  await client.connect()
  t.after(() => client.end())
  return client
}

function leased({ whole }: Server): Promise<unknown> {
  const lease = "INSERT INTO gate.sidecar VALUES (1, 1, 'a', '', now() + interval '1 minute')"
  return withClient(whole, (client) => client.query(lease))
}

for (const { what, args, code = 3, stderr } of some(REFUSED))
  test(`no copy: ${what}`, async (t) => {
    const [dir, server] = [copyOf(movable), await emptyServer(t)]
    const ended = await run(['store', 'copy', ...(await args(t, dir, server))])
    assert.match(ended.stderr, stderr)
    assert.equal(ended.code, code)
    // Neither side is marked.
    assert.equal(existsSync(join(dir, 'to')), false)
    const db = new Sqlite(join(dir, DATA_FILE), { readonly: true })
    assert.deepEqual(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'fence'").all(), [])
    db.close()
    assert.deepEqual(
      await withClient(server.whole, (client) => client.query('SELECT FROM gate.fence')).then(({ rows }) => rows),
      [],
    )
  })
