import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite, { type Database } from 'better-sqlite3'
import { canonicalJson } from '../../src/base/canonical.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { aKey } from './drafts.ts'
import { copyOf, type Finding, findingIn, tamper, usedFolder } from './used-folder.ts'

interface Row {
  name: string
  change: (db: Database) => void
  finding?: Finding
  /** Words that tell what is wrong, and where. */
  named: RegExp
}

const sql = (text: string) => (db: Database) => void db.exec(text)

/** A record's row as a forger would write it: canonical, with some members changed. */
function forged(table: string, where: string, changes: object) {
  return (db: Database): void => {
    const row = db.prepare<[], { id: string; body: string }>(`SELECT id, body FROM ${table} WHERE ${where}`).get()
    assert.ok(row, 'there is such a row')
    const body = canonicalJson({ ...JSON.parse(row.body), ...changes })
    db.prepare(`UPDATE ${table} SET body = ? WHERE id = ?`).run(body, row.id)
  }
}

const newest = (chain: string) => `chain = '${chain}' AND seq = (SELECT max(seq) FROM entry WHERE chain = '${chain}')`
const oneOf = (type: string) =>
  `chain = 'acme/live' AND seq = (SELECT min(seq) FROM entry WHERE chain = 'acme/live' AND type = '${type}')`

const schemas: Row[] = [
  { name: 'an index dropped', change: sql('DROP INDEX entry_by_type'), named: /schema/ },
  {
    name: 'a trigger added',
    change: sql('CREATE TRIGGER t AFTER INSERT ON audit_entry BEGIN SELECT 1; END'),
    named: /schema/,
  },
  { name: 'a table added', change: sql('CREATE TABLE other (a)'), named: /schema/ },
  { name: 'a view added', change: sql('CREATE VIEW other AS SELECT 1'), named: /schema/ },
  {
    name: 'a trigger added under a name like those of SQLite',
    change: sql('CREATE TRIGGER sqlitex AFTER INSERT ON kill_switch BEGIN DELETE FROM kill_switch; END'),
    named: /schema/,
  },
  {
    name: "a trigger added under one of SQLite's own names",
    change(db) {
      db.unsafeMode(true)
      db.pragma('writable_schema = ON')
      db.exec(`INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('trigger', 'sqlite_x', 'kill_switch', 0,
        'CREATE TRIGGER sqlite_x AFTER INSERT ON kill_switch BEGIN DELETE FROM kill_switch; END')`)
    },
    named: /schema/,
  },
  { name: 'a column added', change: sql('ALTER TABLE tenant ADD COLUMN note TEXT'), named: /schema/ },
  { name: 'a table missing', change: sql('DROP TABLE idempotency'), named: /schema/ },
  { name: 'a newer version', change: sql('PRAGMA user_version = 99'), named: /newer version/ },
  { name: 'a version before the first', change: sql('PRAGMA user_version = 0'), named: /gate-sidecar\.db/ },
]

const states: Row[] = [
  {
    name: 'an owner key that nobody made',
    change: (db) => {
      const key = aKey({ id: 'key_forged', roles: ['owner'] })
      db.prepare('INSERT INTO api_key (id, body, changed) VALUES (?, ?, 1)').run(key.id, canonicalJson(key))
    },
    named: /key key_forged is in no audit entry/,
  },
  {
    name: 'a revoked key made active',
    change: forged('api_key', 'body NOT LIKE \'%"revokedAt":null%\'', { revokedAt: null }),
    named: /key key_\w{26} differs/,
  },
  {
    name: 'a role added',
    change: forged('api_key', 'body LIKE \'%"agent"%\'', { roles: ['owner'] }),
    named: /key key_\w{26} differs/,
  },
  {
    name: 'a key deleted',
    change: sql('DELETE FROM api_key WHERE body LIKE \'%"ann"%\''),
    named: /key key_\w{26} is missing/,
  },
  {
    name: 'a stop ended',
    change: forged('kill_switch', 'body LIKE \'%"L1"%\'', { recoveredAt: 'x' }),
    named: /switch ksw_\w{26} differs/,
  },
  { name: 'a stop deleted', change: sql('DELETE FROM kill_switch'), named: /switch ksw_\w{26} is missing/ },
  {
    name: 'an approval granted',
    change: forged('approval', "status = 'pending'", { status: 'approved' }),
    named: /approval apr_\w{26} differs/,
  },
  {
    name: 'a used approval renewed',
    change: forged('approval', "status = 'consumed'", { status: 'approved' }),
    named: /approval apr_\w{26} differs/,
  },
  {
    name: 'an approval deleted',
    change: sql("DELETE FROM approval WHERE status = 'approved'"),
    named: /approval apr_\w{26} is missing/,
  },
  {
    name: 'all approvals deleted',
    change: sql('DELETE FROM approval'),
    named: /approval apr_\w{26} is missing/,
  },
  {
    name: 'an approval that nobody asked for',
    change: sql("INSERT INTO approval (id, body, changed) SELECT 'apr_forged', body, 0 FROM approval LIMIT 1"),
    named: /approval apr_forged is not a record of that id/,
  },
  {
    name: 'an approval that nobody asked for, where reading does not begin',
    change: sql("INSERT INTO approval (id, body, changed) SELECT '', body, 0 FROM approval LIMIT 1"),
    named: /table of approval records/,
  },
  {
    name: 'an approval in a row beyond the numbers of JavaScript',
    change: sql(
      "INSERT INTO approval (rowid, id, body, changed) SELECT 9007199254740993, 'apr_forged', body, 0 FROM approval LIMIT 1",
    ),
    named: /approval apr_forged is not a record of that id/,
  },
  { name: 'a plan changed', change: forged('tenant', "id = 'acme'", { plan: 'free' }), named: /tenant acme differs/ },
  {
    name: 'a policy digest changed',
    change: forged('policy', "id = 'acme'", { digest: 'sha256:' }),
    named: /policy acme differs/,
  },
  {
    name: 'another signing key',
    change: forged('signing_key', '1', { publicKey: 'AAAA' }),
    // The record of the archived entries is checked against it first.
    named: /other\/live: the record of the archived entries is not signed by the log key/,
  },
  {
    name: 'a record and its entry edited alike',
    change: (db) => {
      forged('tenant', "id = 'acme'", { plan: 'free' })(db)
      db.exec(
        "UPDATE section SET json = replace(json, 'enterprise', 'free') WHERE name = 'data' AND json LIKE '%\"acme\"%'",
      )
    },
    named: /Audit chain _system, entry \d+: section data/,
  },
  {
    name: 'the instance renamed',
    change: sql("UPDATE instance SET origin = 'gate-other'"),
    named: /Audit chain _system, entry 0/,
  },
]

const NO_UTF8 = "CAST(x'ff22fe' AS TEXT)"
const bodies: Row[] = ["''", "'{a:1,}'", "'NaN'", "'null'", "'[]'", "'{}'", NO_UTF8].flatMap((body) =>
  ['tenant', 'api_key', 'signing_key', 'policy'].map((table) => ({
    name: `a ${table} whose body is ${body}`,
    change: sql(`UPDATE ${table} SET body = ${body} WHERE rowid = (SELECT max(rowid) FROM ${table})`),
    named: /stored (tenant|key|signingKey|policy) \S+ (is not a record|differs)/,
  })),
)

const chains: Row[] = [
  ...["''", NO_UTF8, "printf('%.100000c', 'x')"].map((name) => ({
    name: `the newest entry in a chain ${name}`,
    change: sql(`UPDATE entry SET chain = ${name} WHERE ${newest('acme/live')}`),
    named: /^.{20,500}$/s,
  })),
  {
    name: 'the newest entry without its sections',
    change: sql(`DELETE FROM section WHERE ${newest('acme/live')}`),
    named: /acme\/live, entry \d+/,
  },
  {
    name: 'the newest change of a record cut off',
    change: sql(`DELETE FROM entry WHERE ${newest('acme/test')}`),
    named: /key key_\w{26} differs/,
  },
  {
    name: 'the first entry deleted',
    change: sql("DELETE FROM entry WHERE chain = 'acme/live' AND seq = 0"),
    named: /acme\/live: entry 0 is missing/,
  },
  {
    name: 'the entry before the newest deleted',
    change: sql(
      "DELETE FROM entry WHERE chain = 'acme/live' AND seq = (SELECT max(seq) - 1 FROM entry WHERE chain = 'acme/live')",
    ),
    named: /acme\/live/,
  },
  {
    name: 'an approval entry deleted',
    change: sql(`DELETE FROM entry WHERE ${oneOf('approval.approved')}`),
    named: /approval apr_\w{26} differs/,
  },
  {
    name: 'a chain renamed',
    change: sql("UPDATE entry SET chain = 'mine/live' WHERE chain = 'acme/live'"),
    named: /mine\/live, entry 0/,
  },
  {
    name: 'a whole chain deleted',
    change: sql("DELETE FROM entry WHERE chain = 'other/live'"),
    named: /(key|switch) \w+ is in no audit entry/,
  },
  {
    name: 'a decision deleted',
    change: sql(`DELETE FROM entry WHERE ${oneOf('gate.decision')}`),
    finding: 'by audit verify',
    named: /acme\/live, entry \d+/,
  },
  {
    name: 'a decision without its grounds',
    change: sql(`DELETE FROM section WHERE name = 'grounds' AND ${oneOf('gate.decision')}`),
    finding: 'by audit verify',
    named: /acme\/live, entry \d+: section grounds is missing/,
  },
  {
    name: 'a decision rewritten',
    change: sql(
      `UPDATE section SET json = replace(json, 'allow', 'deny') WHERE name = 'decision' AND ${oneOf('gate.decision')}`,
    ),
    finding: 'by audit verify',
    named: /acme\/live, entry \d+: section decision/,
  },
]

test('a file that was altered is refused or found, with what and where; the refusal writes nothing', async (t) => {
  const dir = await usedFolder(t)
  for (const { name, change, finding = 'at open', named } of [...schemas, ...states, ...bodies, ...chains]) {
    await t.test(name, async () => {
      const copy = copyOf(dir)
      tamper(copy, change)
      const before = readFileSync(join(copy, DATA_FILE))
      const found = await findingIn(copy)
      assert.equal(found.finding, finding)
      assert.match(found.message, named)
      assert.ok(before.equals(readFileSync(join(copy, DATA_FILE))), 'the file is as it was')
    })
  }
})

const foreign: { name: string; make: (path: string) => void }[] = [
  { name: 'no SQLite file', make: (path) => writeFileSync(path, 'A letter, and not a database.\n'.repeat(100)) },
  { name: 'a few bytes', make: (path) => writeFileSync(path, 'SQLite') },
  {
    name: 'a database of another program',
    make: (path) => {
      const db = new Sqlite(path)
      db.exec('CREATE TABLE customer (name TEXT)')
      db.close()
    },
  },
]

for (const { name, make } of foreign) {
  test(`a file of others is refused and left as it is: ${name}`, async () => {
    const dir = temporaryFolder()
    const path = join(dir, DATA_FILE)
    make(path)
    const before = readFileSync(path)
    for (const create of [false, true]) {
      assert.throws(() => openStore({ dir, create, clock: Date.now }), /gate-sidecar\.db/)
      assert.ok(before.equals(readFileSync(path)), 'the file is as it was')
    }
    assert.equal((await findingIn(dir)).finding, 'at open')
  })
}

test('a folder without a file is refused, unless one is to be made', async () => {
  const dir = temporaryFolder()
  assert.equal((await findingIn(dir)).finding, 'at open')
  assert.equal(existsSync(join(dir, DATA_FILE)), false)
  await openStore({ dir, create: true, clock: Date.now }).close()
  assert.equal((await findingIn(dir)).finding, 'nothing found')
  rmSync(join(dir, DATA_FILE))
  assert.equal((await findingIn(dir)).finding, 'at open')
})

test('who does not answer from approvals opens a file without reading them, and the service does not', async (t) => {
  const copy = copyOf(await usedFolder(t))
  tamper(copy, forged('approval', "status = 'consumed'", { status: 'approved' }))
  await openStore({ dir: copy, create: false, clock: Date.now, check: 'allButApprovals' }).close()
  assert.throws(() => openStore({ dir: copy, create: false, clock: Date.now }), /approval apr_\w{26} differs/)
})
