import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type pg from 'pg'
import { draftAt, prepareEntry } from '../../src/audit/draft.ts'
import { seal } from '../../src/audit/entry.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import type { Numbers } from '../../src/store/postgres/chains.ts'
import { database } from '../../src/store/postgres/database.ts'
import { sharedTexts } from '../../src/store/postgres/shared-text.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import { tablesOn } from '../../src/store/postgres/tables.ts'
import { begin } from '../../src/store/postgres/transaction.ts'
import { temporaryFolder } from '../helpers.ts'
import { postgresDatabase, withClient } from '../postgres.ts'
import {
  aDecision,
  agentOf,
  anApproval,
  aStop,
  commit,
  creating,
  enrolment,
  LIVE,
  note,
  only,
  START_MS,
} from './drafts.ts'

/* An administrator of the database writes what they like, but holds no log key. */

const CLOCK = (): number => START_MS
const AT = '2026-01-01T00:00:00.000Z'

interface Scene {
  url: string
  open(): ReturnType<typeof openServerStore>
}

/** A trail with an agent, a stop, an approval and some notes, sealed with the log key. */
async function scene(t: TestContext): Promise<Scene> {
  const url = await postgresDatabase(t)
  const sealKeys = sealKeysAt(join(temporaryFolder(), 'signing-key.pem'))
  const open = () => openServerStore({ address: { url }, clock: CLOCK, sealKeys })
  const store = await open()
  await commit(store, enrolment())
  await commit(store, creating('switch', aStop()))
  await commit(store, creating('approval', anApproval()))
  for (let n = 0; n < 3; n += 1) await commit(store, only(note({ n })))
  await store.close()
  return { url, open }
}

/** Runs statements as one who may do everything, the triggers too. */
function altered(url: string, ...statements: string[]): Promise<void> {
  return withClient(url, async (client: pg.Client) => {
    await client.query(`SET session_replication_role = replica; ${statements.join('; ')}`)
  })
}

/** Appends an allow that nobody decided: rightly chained, with the end of the chain moved, and no seal. */
async function forge(url: string): Promise<void> {
  const server = database({ url })
  const numbers: Numbers = new Map()
  const reads = tablesOn(server.any, numbers)
  const head = (await reads.entries.head(LIVE)) ?? assert.fail()
  const client = await server.connect()
  const transaction = begin(client)
  const tables = tablesOn(transaction.run, numbers, { transaction, texts: sharedTexts(), locked: new Map() })
  const prepared = prepareEntry(aDecision('allow'))
  const salts = Buffer.alloc(32 * 4)
  const entry = seal(head, draftAt(prepared, AT), AT, salts)
  await tables.entries.append(entry, prepared, salts)
  await transaction.commit()
  await client.end()
  await server.close()
  await altered(
    url,
    `UPDATE gate.chain SET length = length + 1, hash = decode('${entry.hash.slice(7)}', 'hex') WHERE name = '${LIVE}'`,
  )
}

const NEWEST = `(SELECT max(at) FROM gate.audit_entry WHERE chain = (SELECT number FROM gate.chain WHERE name = '${LIVE}'))`
const key = agentOf(LIVE)

const alterations: { name: string; alter: (url: string) => Promise<void>; refused: RegExp }[] = [
  {
    name: 'an entry appended without the log key',
    alter: forge,
    refused: /the newest, was not appended by the holder of the log key/,
  },
  {
    name: 'the newest entry deleted',
    alter: (url) => altered(url, `DELETE FROM gate.audit_entry WHERE at = ${NEWEST}`),
    refused: /was not appended by the holder of the log key/,
  },
  {
    name: 'a stop taken away',
    alter: (url) => altered(url, 'DELETE FROM gate.kill_switch'),
    refused: /switch ksw_\w+ is missing, though the audit chain records it/,
  },
  {
    name: 'a key that may do more',
    alter: (url) =>
      altered(url, `UPDATE gate.api_key SET body = replace(body, '"agent"', '"owner"') WHERE id = '${key.id}'`),
    refused: new RegExp(`key ${key.id} differs from what the audit chain records`),
  },
  {
    name: 'a key without entries',
    alter: (url) =>
      altered(
        url,
        "INSERT INTO gate.api_key SELECT 'key_x', replace(body, id, 'key_x'), changed, tenant FROM gate.api_key LIMIT 1",
      ),
    refused: /key key_x is in no audit entry/,
  },
  {
    name: 'an approval that was never given',
    alter: (url) =>
      altered(url, `UPDATE gate.approval SET body = replace(body, '"pending"', '"approved"'), status = 'approved'`),
    refused: /approval apr_\w+ differs from what the audit chain records/,
  },
  {
    name: 'an entry hidden from the record that it changed',
    alter: (url) => altered(url, "UPDATE gate.audit_entry SET record_id = NULL WHERE record = 'switch'"),
    refused: /index of its entries lacks one of the stop|it is listed as another/,
  },
  {
    name: 'the text of an entry',
    alter: (url) =>
      altered(url, "UPDATE gate.audit_entry SET data = replace(data, 'L3', 'L1') WHERE record = 'switch'"),
    refused: /entry \d+: /,
  },
]

for (const { name, alter, refused } of alterations) {
  test(`no sidecar starts on ${name}`, async (t) => {
    const { url, open } = await scene(t)
    await alter(url)
    await assert.rejects(open(), refused)
  })
}

test('an approval that is found under another status than it has is not used', async (t) => {
  const { url, open } = await scene(t)
  const store = await open()
  t.after(() => store.close())
  await altered(url, "UPDATE gate.approval SET status = 'approved'")
  await assert.rejects(store.approvals({ chain: LIVE, statuses: ['approved'], limit: 9, offset: 0 }), /cannot be read/)
})

test('an entry that is found by another reference than it has is not read', async (t) => {
  const { url, open } = await scene(t)
  const store = await open()
  t.after(() => store.close())
  assert.equal((await store.entryAt(LIVE, 5))?.header.type, 'custom.note')
  await altered(url, "UPDATE gate.audit_entry SET reported_by = 'other' WHERE seq = 5")
  await assert.rejects(store.entryAt(LIVE, 5), /entry 5: it is listed as another/)
})

test('a record that is altered while a sidecar runs is not obeyed', async (t) => {
  const { url, open } = await scene(t)
  const store = await open()
  t.after(() => store.close())
  await altered(
    url,
    `UPDATE gate.api_key SET body = replace(body, '"agent"', '"owner"'), changed = 1000`,
    'UPDATE gate.instance SET state_version = 1000',
  )
  await store.refresh()
  assert.deepEqual(store.state().keys.get(key.id)?.roles, key.roles)
  assert.match(store.altered()[0]?.message ?? '', /differs from what the audit chain records/)
})

test('a server that took over without the newest entries is written to by nobody who wrote them', async (t) => {
  const { url, open } = await scene(t)
  const [store, other] = [await open(), await open()]
  t.after(() => store.close())
  await other.close()
  const before = await withClient(
    url,
    async (client: pg.Client) => (await client.query('SELECT * FROM gate.chain')).rows,
  )
  await commit(store, only(note({ lost: true })))
  // A replica that lacks that commit takes over.
  const [row] = before.filter(({ name }) => name === LIVE)
  await altered(url, `DELETE FROM gate.audit_entry WHERE at = ${NEWEST}`)
  await withClient(url, (client: pg.Client) =>
    client.query('UPDATE gate.chain SET length = $1, hash = $2, sealed_size = $3, seal = $4 WHERE name = $5', [
      ...[row.length, row.hash, row.sealed_size, row.seal, LIVE],
    ]),
  )
  await assert.rejects(commit(store, only(note())), /entry 7 was written and is missing/)
  await store.compareChains()
  assert.match(store.alteredChains().get(LIVE) ?? '', /entry 7 was written and is missing/)
  // Others go on there, and the chain grows past what is lost.
  const restarted = await open()
  t.after(() => restarted.close())
  for (let n = 0; n < 3; n += 1) await commit(restarted, only(note({ n })))
  await assert.rejects(commit(store, only(note())), /entry 7 is not the one that was written/)
})
