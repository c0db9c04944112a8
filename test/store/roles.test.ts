import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type pg from 'pg'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { envOf } from '../../src/service/config.ts'
import type { SettingName } from '../../src/service/settings.ts'
import { migrateServer, openServerStore } from '../../src/store/postgres/store.ts'
import { run } from '../cli/program.ts'
import { assertRecorded } from '../e2e/processes.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { postgresDatabase, withClient } from '../postgres.ts'
import { commit, LIVE, note, only } from './drafts.ts'
import { dayOf, type Governed, governed, type RoleName, settingsFor } from './roles.ts'

/** A trail that a sidecar wrote. */
async function scene(t: TestContext): Promise<Governed & { settings: ReturnType<typeof settingsFor> }> {
  const database = await governed(t)
  const settings = settingsFor(database.as('gate_sidecar'))
  await dayOf(await startGate(t, { settings }))
  return { ...database, settings }
}

test('a sidecar decides, holds, stops, manages keys and signs checkpoints in its role', async (t) => {
  const { as, settings } = await scene(t)
  const sealKeys = sealKeysAt(settings.signingKey)
  const read = await openServerStore({ address: { url: as('gate_auditor') }, clock: Date.now, sealKeys })
  const { checkpoints } = await withClient(as('gate_auditor'), async (client) => {
    const { rows } = await client.query('SELECT count(*)::int AS checkpoints FROM gate.checkpoint')
    return rows[0]
  })
  assert.ok(checkpoints > 0)
  // As an auditor verifies them.
  assert.ok((await assertRecorded(read, [])) > 10)
})

test('an auditor lists and verifies with the commands, without the log key, and writes nothing', async (t) => {
  const database = await scene(t)
  const { store, storePassword } = settingsFor(database.as('gate_auditor'))
  const settings = { store, storePassword, data: temporaryFolder() }
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [envOf(name as SettingName), value]))
  const command = (...args: string[]) => run(args, { env })
  const verified = await command('audit', 'verify')
  assert.equal(verified.code, 0, verified.stderr)
  const listed = await command('audit', 'list', '--tenant', 'acme')
  assert.match(listed.stdout, /killswitch\.recovered/, listed.stderr)
  const refused = await command('keys', 'create', '--tenant', 'acme', '--role', 'agent')
  assert.equal(refused.code, 3, refused.stderr)
  assert.match(refused.stderr, /cannot be written; nothing was decided\. It said: The log key \S+ is not available\.$/m)
})

/** Statements that the server refuses by what a role may do, not by a trigger. */
const REFUSED: readonly { sql: string; to: readonly RoleName[] }[] = [
  ...[
    'UPDATE gate.audit_entry SET hash = hash',
    'UPDATE gate.audit_entry SET ts = 0',
    'UPDATE gate.audit_entry SET commits = salts',
    'UPDATE gate.instance SET origin = origin',
    'UPDATE gate.checkpoint SET note = note',
    'UPDATE gate.shared_text SET text = text',
    'UPDATE gate.chain SET name = name',
    'INSERT INTO gate.chain (name, pruned) VALUES ($$x$$, 9)',
    'DELETE FROM gate.chain',
    'DELETE FROM gate.api_key',
    'DELETE FROM gate.kill_switch',
    'DELETE FROM gate.signing_key',
    'INSERT INTO gate.migration (level) VALUES (99)',
    'TRUNCATE gate.audit_entry',
    'TRUNCATE gate.checkpoint',
    'ALTER TABLE gate.audit_entry DISABLE TRIGGER ALL',
    'ALTER TABLE gate.audit_entry ADD COLUMN x integer',
    'DROP TRIGGER audit_entry_no_update ON gate.audit_entry',
    'DROP TABLE gate.audit_entry',
    'DROP SCHEMA gate CASCADE',
    'CREATE TABLE gate.mine (x integer)',
    'CREATE SCHEMA mine',
    'CREATE TEMPORARY TABLE mine (x integer)',
    'CREATE OR REPLACE FUNCTION gate.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN new; END$$',
    'SET session_replication_role = replica',
    'SET ROLE gate_owner',
    'GRANT gate_owner TO CURRENT_USER',
  ].map((sql) => ({ sql, to: ['gate_sidecar', 'gate_custodian', 'gate_auditor'] as const })),
  ...[
    'UPDATE gate.audit_entry SET data = NULL',
    'UPDATE gate.audit_entry SET salts = commits',
    'UPDATE gate.chain SET pruned = 99',
    'DELETE FROM gate.audit_entry',
    'DELETE FROM gate.shared_text',
    'DELETE FROM gate.checkpoint',
    'DELETE FROM gate.tree_node',
    'DELETE FROM gate.approval',
    'SET ROLE gate_custodian',
  ].map((sql) => ({ sql, to: ['gate_sidecar', 'gate_auditor'] as const })),
  ...[
    'INSERT INTO gate.checkpoint (chain, size, note) VALUES ($$x$$, 1, $$x$$)',
    'INSERT INTO gate.api_key (id, body, changed) VALUES ($$x$$, $$x$$, 1)',
    'UPDATE gate.approval SET status = $$approved$$',
    'UPDATE gate.instance SET state_version = 0',
    'UPDATE gate.kill_switch SET body = body',
    'UPDATE gate.chain SET length = 0',
    'SELECT FROM gate.chain FOR UPDATE',
    'DELETE FROM gate.idempotency',
    'SET ROLE gate_sidecar',
  ].map((sql) => ({ sql, to: ['gate_auditor'] as const })),
]
const DENIED = '42501'

test('the server refuses each role what is not its own, in every table', async (t) => {
  const { as } = await governed(t)
  for (const role of ['gate_sidecar', 'gate_custodian', 'gate_auditor'] as const)
    await withClient(as(role), async (client) => {
      for (const { sql, to } of REFUSED)
        if (to.includes(role)) assert.equal(await codeOf(client, sql), DENIED, `${role}: ${sql}`)
    })
})

/** Code of the error with which the server answers; undefined for none. Nothing is kept. */
async function codeOf(client: pg.Client, sql: string): Promise<string | undefined> {
  await client.query('BEGIN')
  const code = await client.query(sql).then(
    () => undefined,
    (error: pg.DatabaseError) => error.code,
  )
  await client.query('ROLLBACK')
  return code
}

test('an auditor reads every table and may write no column of any', async (t) => {
  const { as } = await governed(t)
  const { rows } = await withClient(as('gate_auditor'), (client) =>
    client.query(
      `SELECT relname, has_table_privilege(oid, 'SELECT') AS reads,
              has_table_privilege(oid, 'DELETE, TRUNCATE, TRIGGER, MAINTAIN')
                OR has_any_column_privilege(oid, 'INSERT, UPDATE, REFERENCES') AS writes
         FROM pg_class WHERE relnamespace = 'gate'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
    ),
  )
  assert.ok(rows.length > 15)
  assert.deepEqual(
    rows.filter(({ reads, writes }) => !reads || writes),
    [],
  )
})

test('a custodian erases sections, a sidecar does not; entries that were not pruned stay', async (t) => {
  const { as } = await governed(t)
  const targets = [{ section: 'data', first: 0, last: 0 }] as const
  const erasing = { guards: [], writes: [{ kind: 'erase' as const, chain: LIVE, targets, approvals: [] }], entries: [] }
  for (const role of ['gate_sidecar', 'gate_custodian'] as const) {
    const store = await openServerStore({ address: { url: as(role) }, clock: Date.now })
    t.after(() => store.close())
    await commit(store, only(note({ secret: 'x' })))
    const erased = commit(store, erasing)
    if (role === 'gate_custodian') await erased
    else await assert.rejects(erased, { code: 'audit_unavailable' })
  }
  await withClient(as('gate_custodian'), async (client) => {
    await assert.rejects(client.query('DELETE FROM gate.audit_entry'), /never deleted before they are archived/)
  })
})

test('the file runs twice, ends what was granted beside it, and lets the owner migrate', async (t) => {
  const { url, as, grant } = await governed(t)
  await withClient(url, (client) =>
    client.query('GRANT ALL ON ALL TABLES IN SCHEMA gate TO PUBLIC, gate_sidecar, gate_auditor'),
  )
  await grant()
  for (const role of ['gate_sidecar', 'gate_auditor'] as const)
    assert.equal(await withClient(as(role), (client) => codeOf(client, 'DELETE FROM gate.audit_entry')), DENIED)
  const { from, to } = await migrateServer({ url: as('gate_owner') })
  assert.equal(from, to)
  await assert.rejects(migrateServer({ url: as('gate_sidecar') }), /permission denied/)
})

test('a schema that the owner makes belongs to the owner alone', async (t) => {
  const { url, as, grant } = await governed(t)
  await withClient(url, (client) => client.query('DROP SCHEMA gate CASCADE'))
  await migrateServer({ url: as('gate_owner') })
  await grant()
  const { rows } = await withClient(url, (client) =>
    client.query(
      "SELECT DISTINCT relowner::regrole::text AS owner FROM pg_class WHERE relnamespace = 'gate'::regnamespace",
    ),
  )
  assert.deepEqual(rows, [{ owner: 'gate_owner' }])
})

test('a password that is missing is named at once', async (t) => {
  const url = new URL(await postgresDatabase(t))
  url.password = ''
  await assert.rejects(openServerStore({ address: { url: url.href }, clock: Date.now }), {
    name: 'UnusableFile',
    message: /the server asks for a password; name its file with --store-password\.$/,
  })
})

test('a command whose login may not write says what the database said', async (t) => {
  const { as } = await governed(t)
  const { store, storePassword } = settingsFor(as('gate_auditor'))
  const flags = ['--role', 'agent', '--store', store, '--store-password', storePassword]
  const { code, stderr } = await run(['keys', 'create', '--tenant', 'acme', ...flags])
  assert.equal(code, 3)
  assert.match(stderr, /cannot be written; nothing was decided\. It said: permission denied for \w+ \w+\.$/m)
})
