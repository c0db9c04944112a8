import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import Sqlite from 'better-sqlite3'
import { redact } from '../../src/actions/audit/redact.ts'
import { actorOf } from '../../src/actions/deps.ts'
import { laneOf } from '../../src/audit/chain.ts'
import { encodeHex } from '../../src/base/bytes.ts'
import { idMaker } from '../../src/base/id.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { COPIED_TABLES, type CopiedTable, pageSql } from '../../src/store/copy/copied-tables.ts'
import { copyTrail } from '../../src/store/copy/copy.ts'
import type { Side } from '../../src/store/copy/side.ts'
import { runnerOn } from '../../src/store/postgres/database.ts'
import { openServerSide } from '../../src/store/postgres/side.ts'
import { tablesOn } from '../../src/store/postgres/tables.ts'
import { connect } from '../../src/store/sqlite/connection.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { openFileSide } from '../../src/store/sqlite/side.ts'
import type { Tables } from '../../src/store/tables.ts'
import { run } from '../cli/program.ts'
import { type Gate, startGate, temporaryFolder } from '../helpers.ts'
import { postgresDatabase, withClient } from '../postgres.ts'
import { until } from '../until.ts'
import { commit, LIVE, note, only } from './drafts.ts'
import { openTrail } from './open-trail.ts'
import { usedFolder } from './used-folder.ts'

const LANES = [laneOf(LIVE, 1), laneOf(LIVE, 2)]
/** After the deadline of an approval. */
const LATER_MS = 26 * 3_600_000

/**
 * A data folder whose trail has everything that a trail can have: lanes too, erased and pruned content, a second log key.
 */
export async function movableFolder(t: TestContext): Promise<string> {
  const data = await usedFolder(t)
  const dir = dirname(data)
  const agent = await closedApprovals(t, dir)
  const { code, stderr } = await run(['signing-keys', 'rotate', '--data', data])
  assert.equal(code, 0, stderr)
  await openApprovals(t, dir, agent)
  const trail = await openTrail(data, () => Date.now() + LATER_MS)
  const actor = actorOf(trail.store.state().keys.get(agent.id) ?? assert.fail())
  const large = { text: 'ü'.repeat(400_000), zero: '\0' }
  for (const chain of [...LANES, LIVE, ...LANES]) await commit(trail.store, only(note(large, { chain, actor })))
  await trail.checkpoints.signAll()
  await commit(trail.store, only(note({}, { chain: laneOf(LIVE, 1), actor })))
  await trail.close()
  return data
}

type Key = Awaited<ReturnType<Gate['key']>>

const ask = async (gate: Gate, key: Key, amount: number): Promise<string> => {
  const asked = { tenantId: 'acme', action: 'payment.transfer', context: { amount, session: 'a\0b' } }
  return (await gate.call(key, 'POST', '/gate/check', asked)).body.data.approvalId
}

async function end(gate: Gate, key: Key, id: string, how: 'approve' | 'reject' | 'cancel'): Promise<void> {
  const vote = how === 'cancel' ? {} : { approverId: 'eve', ...(how === 'reject' && { reason: 'no' }) }
  const { status, body } = await gate.call(key, 'POST', `/approvals/${id}/${how}`, { tenantId: 'acme', ...vote })
  assert.equal(status, 200, JSON.stringify(body))
}

/** Leaves a rejected approval and a cancelled one, and erases another. @returns the key of their requester */
async function closedApprovals(t: TestContext, dir: string): Promise<Key> {
  const gate = await startGate(t, { dir })
  const agent = await gate.key({ roles: ['agent'], identity: 'bot-2' })
  const approver = await gate.key({ roles: ['approver'], identity: 'eve' })
  await end(gate, approver, await ask(gate, agent, 5001), 'reject')
  await end(gate, agent, await ask(gate, agent, 5002), 'cancel')
  const { store } = gate.server
  const first = await lengthOf(store, LIVE)
  await end(gate, approver, await ask(gate, agent, 5003), 'reject')
  const span = { chain: LIVE, first, end: await lengthOf(store, LIVE), reason: 'asked for' }
  const deps = { store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  const { approvals } = await redact(deps, { kind: 'host', id: 'host:0' }, span, () => undefined)
  assert.equal(approvals, 1)
  await gate.server.close()
  return agent
}

/** A day later, when those that were open have expired. */
async function openApprovals(t: TestContext, dir: string, agent: Key): Promise<void> {
  const gate = await startGate(t, { dir, clock: () => Date.now() + LATER_MS })
  const { store } = gate.server
  const expired = { chain: LIVE, statuses: ['expired'], limit: 1, offset: 0 } as const
  await until('approvals have expired', async () => (await store.approvals(expired)).total > 0)
  const approver = await gate.key({ roles: ['approver'], identity: 'eve' })
  await ask(gate, agent, 6000)
  await end(gate, approver, await ask(gate, agent, 7000), 'approve')
  await gate.server.close()
}

export interface Server {
  /** Address of a database, as the command takes it. */
  url: string
  /** File of its password. */
  password: string
  /** The address with the password. */
  whole: string
}

/** A database without entries, which belongs to the test. */
export async function emptyServer(t: TestContext): Promise<Server> {
  const whole = await postgresDatabase(t)
  const url = new URL(whole)
  const password = join(temporaryFolder(), 'password')
  writeFileSync(password, url.password, { mode: 0o600 })
  url.password = ''
  return { url: url.href, password, whole }
}

const keysOf = (dir: string) => sealKeysAt(join(dir, 'signing-key.pem'), 'left')
export const fileSide = async (dir: string, keyDir = dir): Promise<Side> =>
  openFileSide({ dir, create: true, sealKeys: keysOf(keyDir) })
export const serverSide = (url: string, role: 'source' | 'target') => openServerSide({ address: { url }, role })

/** A run ended before its end. */
export class Ended extends Error {}

interface Sides {
  keyDir: string
  source: Promise<Side>
  to: string
  open(): Promise<Side>
}

/** Copies, up to the work that is named, if any. */
export async function copy({ keyDir, source, to, open }: Sides, endAt = /^nothing/): Promise<void> {
  const from = await source
  const watch = (what: string) => {
    if (endAt.test(what)) throw new Ended(what)
    return { at: () => undefined, end: () => undefined }
  }
  const retire = async (fence: Parameters<Side['retire']>[0]): Promise<void> => {
    await from.retire(fence)
    watch('retired')
  }
  const target = { name: to, exists: async () => to.startsWith('postgres:') || existsSync(join(to, DATA_FILE)), open }
  const known = { sealKeys: keysOf(keyDir), anchors: new Map(), nowMs: Date.now() }
  await copyTrail({ ...known, source: { ...from, retire }, target, watch }).finally(() => from.close())
}

export const copyToServer = (dir: string, url: string, endAt?: RegExp) =>
  copy({ keyDir: dir, source: fileSide(dir), to: url, open: () => serverSide(url, 'target') }, endAt)
export const copyToFile = (url: string, dir: string, keyDir: string, endAt?: RegExp) =>
  copy({ keyDir, source: serverSide(url, 'source'), to: dir, open: () => fileSide(dir, keyDir) }, endAt)

/** Everything in a store, whether it may be used or not, without the numbers that are its own. */
export type Dump = Record<string, unknown>

export async function dumpOfFile(dir: string): Promise<Dump> {
  const db = new Sqlite(join(dir, DATA_FILE), { readonly: true })
  try {
    const dialect = { schema: '', parameter: () => '?' }
    return await dump(connect(db), async (table) =>
      db
        .prepare(pageSql(dialect, table, true))
        .raw()
        .all(ALL),
    )
  } finally {
    db.close()
  }
}

export function dumpOfServer(url: string): Promise<Dump> {
  return withClient(url, async (client) => {
    const dialect = { schema: 'gate.', parameter: (n: number) => `$${n}` }
    const run = runnerOn(client)
    return dump(tablesOn(run, new Map()), (table) =>
      run.arrays({ name: table, text: pageSql(dialect, table, true) }, [ALL]),
    )
  })
}

const ALL = 1_000_000

async function dump(tables: Tables, rowsOf: (table: CopiedTable) => Promise<unknown[]>): Promise<Dump> {
  const found: Dump = { origin: await tables.instance.origin() }
  for (const chain of await tables.entries.chains()) {
    const entries = await tables.entries.from(chain, 0, ALL)
    found[chain] = entries.map(({ headerText, hash, sections }) => ({
      headerText,
      hash,
      sections: sections.map(plain),
    }))
    found[`${chain}: ends`] = [await tables.pruned.size(chain), plain((await tables.seals.get(chain)) ?? {})]
  }
  for (const table of COPIED_TABLES) found[table] = (await rowsOf(table)).map((row) => plain(row as unknown[]))
  return found
}

/** Bytes as digits: those of two drivers differ in their classes. */
function plain(value: object): unknown {
  const entries = Object.entries(value).map(([name, member]) => [
    name,
    member instanceof Uint8Array ? encodeHex(member) : member,
  ])
  return Array.isArray(value) ? entries.map(([, member]) => member) : Object.fromEntries(entries)
}
