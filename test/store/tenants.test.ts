import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { SERVICE } from '../../src/audit/draft.ts'
import { idMaker } from '../../src/base/id.ts'
import { sealKeyText } from '../../src/files/seal-key.ts'
import { sealKeysAt } from '../../src/files/signing-key.ts'
import { envOf } from '../../src/service/config.ts'
import type { SettingName } from '../../src/service/settings.ts'
import { openServerSide } from '../../src/store/postgres/side.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import { creation } from '../../src/store/records.ts'
import { run } from '../cli/program.ts'
import { assertRecorded } from '../e2e/processes.ts'
import { ACME_POLICY, type Cleanup, type GateOptions, startGate, temporaryFolder } from '../helpers.ts'
import { withClient } from '../postgres.ts'
import { fullTest } from '../tier.ts'
import { dayOf, governed, type Separated, separated, settingsFor, TENANTS_SQL } from './roles.ts'

/** A name that occurs nowhere else. */
const OTHER = 'zebra'
const POLICIES = { 'acme/main.yaml': ACME_POLICY, [`${OTHER}/main.yaml`]: ACME_POLICY.replace('acme', OTHER) }
/** Longer than the interval of renewals. */
const RENEWED_MS = 2100
const STOP = { level: 'L4', reason: 'drill', triggeredBy: 'root' }

interface Scene extends Separated {
  /** Settings of the sidecar that serves this tenant, or all. */
  settings(tenant?: string): Promise<NonNullable<GateOptions['settings']>>
  /** The log key. */
  signingKey: string
  start(tenant?: string): ReturnType<typeof startGate>
}

/** A database with two tenants, each of which had a day at a sidecar of its own. */
async function scene(t: Cleanup): Promise<Scene> {
  const database = await separated(t)
  const first = settingsFor(database.as('gate_sidecar'))
  const sealKey = join(temporaryFolder(), 'seal-key.json')
  const known = new Map<string, Promise<string>>()
  const addressOf = (tenant: string): Promise<string> => {
    const address = known.get(tenant) ?? database.of('gate_sidecar', tenant)
    known.set(tenant, address)
    return address
  }
  const settings = async (tenant?: string) =>
    tenant === undefined ? first : { ...settingsFor(await addressOf(tenant)), signingKey: undefined, sealKey }
  const start = async (tenant?: string) =>
    startGate(t, { settings: { ...(await settings(tenant)), data: temporaryFolder() }, policies: POLICIES })
  const all = await start()
  await all.key({ roles: ['admin'] })
  for (const tenant of ['acme', OTHER]) await all.key({ tenant, roles: ['auditor'] })
  await all.server.close()
  writeFileSync(sealKey, sealKeyText(sealKeysAt(first.signingKey)(undefined) ?? assert.fail()), { mode: 0o600 })
  for (const tenant of ['acme', OTHER]) await dayOf(await start(tenant), tenant)
  return { ...database, settings, signingKey: first.signingKey, start }
}

fullTest(
  'sidecars of one tenant each, and then one of all, write trails that verify for all and for each',
  async (t) => {
    const { as, of, start, signingKey } = await scene(t)
    const all = await start()
    for (const tenant of ['acme', OTHER]) {
      const agent = await all.key({ tenant, roles: ['agent'] })
      const answer = await all.call(agent, 'POST', '/gate/check', { tenantId: tenant, action: 'email.send' })
      assert.equal(answer.body.data.decision, 'allow')
    }
    await all.server.close()
    const sealKeys = sealKeysAt(signingKey)
    for (const url of [as('gate_auditor'), await of('gate_auditor', 'acme')]) {
      const store = await openServerStore({ address: { url }, clock: Date.now, sealKeys })
      t.after(() => store.close())
      assert.ok((await assertRecorded(store, [])) > 10)
    }
    const { store, storePassword } = settingsFor(await of('gate_auditor', OTHER))
    const env = { [envOf('store')]: store, [envOf('storePassword')]: storePassword, [envOf('data')]: temporaryFolder() }
    const verified = await run(['audit', 'verify', '--json'], { env })
    assert.equal(verified.code, 0, verified.stderr)
  },
)

/** Tables in which nothing is separated. */
const SHARED_TABLES = ['fence', 'instance', 'migration', 'trial']

/** Rows that a statement of the login changed; the code of the error with which the server refuses. Nothing is kept. */
async function tried(client: pg.Client, sql: string): Promise<number | string | undefined> {
  await client.query('BEGIN')
  const result = await client.query(sql).then(
    ({ rowCount }) => rowCount ?? 0,
    (error: pg.DatabaseError) => error.code,
  )
  await client.query('ROLLBACK')
  return result
}

/** Codes of a refusal by a role or a policy, by a CHECK, and by a trigger. */
const [REFUSED, CHECKED, TRIGGERED] = ['42501', '23514', 'P0001']
const ENTRY = (of: string, type: string): string =>
  `INSERT INTO gate.audit_entry (at, ts, type, id, hash, prev, commits, salts)
   SELECT (number::bigint << 33) + 100000, 0, '${type}', substring(sha256('id') FOR 16), sha256('x'), sha256('x'), '', ''
     FROM ${of} AS c (number)`
const LANE = (lane: number, tenant: string, more: string): string =>
  `INSERT INTO gate.sidecar (lane, token, holder, tenant, signs, expires_at) VALUES (${lane}, 1, 'x', '${tenant}', ${more})`
const KEY = (tenant: string, body: string): string =>
  `INSERT INTO gate.api_key (id, body, changed, tenant) VALUES ('x', '${body}', 1, '${tenant}')`
const SWITCH = (tenant: string, body: string): string =>
  `INSERT INTO gate.kill_switch (id, body, changed, tenant) VALUES ('x', '${body}', 1, '${tenant}')`

/** Statements by which a sidecar of acme could reach beyond it, with what comes of each: rows changed, or a refusal. */
const ATTACKS: readonly (readonly [sql: string, result: number | string])[] = [
  // The version of the records, by which all sidecars see what is new.
  ['UPDATE gate.instance SET state_version = state_version - 1', TRIGGERED],
  ['UPDATE gate.instance SET state_version = 9223372036854775807', TRIGGERED],
  ['UPDATE gate.instance SET state_version = state_version + 1', 1],
  // Chains and entries. Chains have small numbers, which it may guess.
  [`UPDATE gate.chain SET length = 0 WHERE name LIKE '${OTHER}/%'`, 0],
  ["UPDATE gate.chain SET length = length + 5 WHERE name = '_system'", 0],
  ["UPDATE gate.chain SET length = length WHERE name = 'acme/live'", 1],
  ...[`${OTHER}/live~9`, '_system~5', 'zzz', 'acme2/live'].map(
    (name) => [`INSERT INTO gate.chain (name) VALUES ('${name}')`, REFUSED] as const,
  ),
  ...['acme/../zebra', 'acme/live~0', 'acme/live/x', '/live'].map(
    (name) => [`INSERT INTO gate.chain (name) VALUES ('${name}')`, name === '/live' ? REFUSED : CHECKED] as const,
  ),
  [ENTRY('generate_series(1, 9)', 'note'), REFUSED],
  ...['killswitch.recovered', 'tenant.changed', 'auth.refused', 'audit.checkpoint', 'key.created'].map(
    (type) => [ENTRY("(SELECT number FROM gate.chain WHERE name = '_system')", type), REFUSED] as const,
  ),
  // Records, whose bodies count.
  ['UPDATE gate.tenant SET body = body', 0],
  ["INSERT INTO gate.tenant (id, body, changed) VALUES ('new', '{}', 1)", REFUSED],
  [KEY('', '{"tenantId":null,"roles":["admin"]}'), REFUSED],
  [KEY('acme', '{"tenantId":null,"roles":["admin"]}'), REFUSED],
  [KEY('acme', '{"tenantId":"acme","roles":["admin"]}'), REFUSED],
  [KEY('acme', `{"tenantId":"${OTHER}","roles":["owner"]}`), REFUSED],
  [KEY(OTHER, `{"tenantId":"${OTHER}","roles":["owner"]}`), REFUSED],
  [KEY('acme', '{"tenantId":"acme","roles":["owner"]}'), 1],
  [SWITCH('', '{"target":"*"}'), REFUSED],
  [SWITCH('acme', '{"target":"*"}'), REFUSED],
  [SWITCH('acme', `{"target":"${OTHER}/live"}`), REFUSED],
  ["UPDATE gate.kill_switch SET body = replace(body, 'acme/live', 'zebra/live')", REFUSED],
  [`INSERT INTO gate.signing_key (id, body, changed) VALUES ('x', '{"purpose": "bundle"}', 1)`, REFUSED],
  ['UPDATE gate.signing_key SET body = body', 0],
  [`INSERT INTO gate.policy_text (tenant, digest, loaded, bytes, source) VALUES ('${OTHER}', 'x', 1, 1, 'x')`, REFUSED],
  // What is signed.
  ["INSERT INTO gate.checkpoint (chain, size, note) VALUES ('acme/live', 99, '')", REFUSED],
  ["INSERT INTO gate.checkpoint (number, chain, size, note) VALUES (9, 'acme/live', 99, '')", REFUSED],
  ["INSERT INTO gate.tree_node (chain, level, place, hash) VALUES ('acme/live', 9, 9, sha256('x'))", REFUSED],
  ["INSERT INTO gate.anchored (sink, number, at) VALUES ('file', 99, '')", REFUSED],
  // Counters, uses and lanes.
  [`INSERT INTO gate.counter (name, floor) VALUES ('["${OTHER}/live",null,null]', 1)`, REFUSED],
  [`INSERT INTO gate.counter (name, floor) VALUES ('["acme2/live",null,null]', 1)`, REFUSED],
  [`INSERT INTO gate.counter (name, floor) VALUES ('["acme/live",null,null]', 1)`, 1],
  ["INSERT INTO gate.key_use (key_id, at) SELECT id, '' FROM gate.api_key WHERE tenant = ''", REFUSED],
  ...[`POST /killswitch/trigger ${OTHER}/live`, 'POST /killswitch/trigger _system'].map(
    (route) =>
      [
        `INSERT INTO gate.idempotency (key_id, route, value, body_digest, entry_id, at) VALUES ('k', '${route}', 'v', '', '', 1)`,
        REFUSED,
      ] as const,
  ),
  ['UPDATE gate.sidecar SET token = token + 1', 1],
  [LANE(77, OTHER, 'false, now()'), REFUSED],
  [LANE(77, '', 'false, now()'), REFUSED],
  [LANE(77, 'acme', 'true, now()'), REFUSED],
  [LANE(77, 'acme', "false, 'infinity'"), REFUSED],
  ['UPDATE gate.login SET tenant = $$$$', REFUSED],
  ["INSERT INTO gate.login (name, tenant) VALUES ('x', '')", REFUSED],
  ['ALTER TABLE gate.chain DISABLE ROW LEVEL SECURITY', REFUSED],
  ['SET row_security = off; SELECT FROM gate.chain', REFUSED],
]

test('a login of one tenant', async (t) => {
  const database = await scene(t)
  await t.test('reads no row that names another, but in `_system` and the list of sidecars', async () => {
    const { url, of } = database
    const address = await of('gate_auditor', 'acme')
    const { rows: tables } = await withClient(url, (client) =>
      client.query<{ name: string; separated: boolean }>(
        `SELECT relname AS name, relrowsecurity AS separated FROM pg_class
        WHERE relnamespace = 'gate'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`,
      ),
    )
    const shared = tables.filter(({ separated: isSeparated }) => !isSeparated).map(({ name }) => name)
    assert.deepEqual(shared, SHARED_TABLES)
    for (const { name } of tables) {
      // Lanes are numbered in one list, and names of chains stand in `_system`.
      if (name === 'sidecar') continue
      const system = name === 'audit_entry' ? "AND chain <> (SELECT number FROM gate.chain WHERE name = '_system')" : ''
      const count = (sees: string, named: string) =>
        withClient(sees, async (client) => {
          const sql = `SELECT count(*)::int AS count FROM gate.${name} AS r WHERE strpos(r::text, $1) > 0 ${system}`
          return (await client.query<{ count: number }>(sql, [named])).rows[0]?.count
        })
      assert.equal(await count(address, OTHER), 0, name)
      // Its own rows are all there; of the logins, it sees itself.
      assert.equal(await count(address, 'acme'), name === 'login' ? 1 : await count(url, 'acme'), name)
    }
  })

  await t.test('changes no row of another, whatever role it takes', async () => {
    const { of } = database
    await withClient(await of('gate_sidecar', 'acme'), async (client) => {
      for (const role of ['NONE', 'gate_sidecar']) {
        await client.query(`SET ROLE ${role}`)
        for (const [sql, result] of ATTACKS) assert.equal(await tried(client, sql), result, `${role}: ${sql}`)
        const { rows } = await client.query('SELECT id FROM gate.tenant')
        assert.deepEqual(rows, [{ id: 'acme' }], role)
      }
    })
  })

  await t.test('learns no text from the statistics of the server, which EXPLAIN tells', async () => {
    const { url } = database
    const { rows } = await withClient(url, async (client) => {
      await client.query('ANALYZE gate.audit_entry, gate.approval')
      return client.query(
        `SELECT attname AS name FROM pg_stats
        WHERE schemaname = 'gate' AND tablename IN ('audit_entry', 'approval') AND attname IN ('agent', 'action', 'ts', 'body')`,
      )
    })
    assert.deepEqual(rows, [{ name: 'ts' }])
  })
})

fullTest('a sidecar of one tenant refuses what concerns others by a code, and leaves them alone', async (t) => {
  const { start, settings } = await scene(t)
  const all = await start()
  const [root, other] = [await all.key({ roles: ['admin'] }), await all.key({ tenant: OTHER })]
  const { server, call, key } = await start('acme')
  const refusalOf = async (of: typeof root, method: string, path: string, body?: object) => {
    const { status, body: answered } = await call(of, method, path, body)
    return `${status} ${answered.error}: ${answered.message}`
  }
  const served =
    'The login of the store serves the tenant acme alone. Change what concerns others where all are served.'
  const own = Object.entries(await settings('acme')).filter(([, value]) => value !== undefined)
  const given = own.map(([name, value]) => [envOf(name as SettingName), value])
  const env = { ...Object.fromEntries(given), [envOf('data')]: temporaryFolder() }
  for (const command of ['tenants create new', 'keys create --role admin']) {
    const { code, stderr } = await run(command.split(' '), { env })
    assert.ok(stderr.includes(served), `${command}: ${code} ${stderr}`)
  }
  const stop = '403 forbidden: L4 stops every tenant; this sidecar serves acme alone.'
  assert.equal(await refusalOf(root, 'POST', '/killswitch/trigger', STOP), stop)
  assert.match(await refusalOf(other, 'POST', '/gate/check', { action: 'email.send' }), /^401 unauthenticated/)
  assert.match(await refusalOf({ ...root, tenant: OTHER }, 'GET', '/audit/chain'), /^40[34] /)
  // A stop of all acts here too, and is ended where it was made.
  assert.equal((await all.call(root, 'POST', '/killswitch/trigger', STOP)).status, 200)
  await server.store.refresh()
  const agent = await key({ roles: ['agent'] })
  const decided = await call(agent, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  assert.equal(decided.body.data.decision, 'deny')
  const end = { level: 'L4', recoveredBy: 'root', comment: 'over' }
  assert.equal(await refusalOf(root, 'POST', '/killswitch/recover', end), `403 forbidden: ${served}`)
  assert.equal((await server.reload()).tenants, 1)
})

fullTest('chains are signed by the first live sidecar that serves all tenants and has the log key', async (t) => {
  const { as, of } = await separated(t)
  const sealKeys = sealKeysAt(join(temporaryFolder(), 'signing-key.pem'))
  const open = async (url: string, signs: boolean) => {
    const store = await openServerStore({ address: { url }, clock: Date.now, sealKeys, lanes: true, signs })
    t.after(() => store.close())
    return store
  }
  const acme = await of('gate_sidecar', 'acme')
  await assert.rejects(open(acme, true), /serves the tenant acme alone, so this sidecar cannot sign. Give it sealKey/)
  const stores = {
    other: await open(await of('gate_sidecar', OTHER), false),
    acme: await open(acme, false),
    appender: await open(as('gate_sidecar'), false),
    first: await open(as('gate_sidecar'), true),
    second: await open(as('gate_sidecar'), true),
  }
  // Twice, as a lease may have ended while the others were opened.
  for (let i = 0; i < 2; i += 1) {
    await sleep(RENEWED_MS)
    for (const store of Object.values(stores)) await store.refresh()
  }
  const signers = (chain: string): string[] =>
    Object.entries(stores).flatMap(([name, store]) => (store.tends(chain) ? [name] : []))
  for (const chain of ['acme/live', 'acme/live~2', 'acme/live~3', `${OTHER}/live~1`, '_system', 'acme/live~4'])
    assert.deepEqual(signers(chain), ['first'], chain)
  assert.deepEqual(signers('acme/live~5'), ['second'])
  // A limit of the fleet is divided among those that serve the tenant.
  for (const { fleet } of Object.values(stores))
    assert.deepEqual([fleet?.live(), fleet?.live('acme'), fleet?.live('third'), fleet?.signers()], [5, 4, 3, 2])
  assert.equal((await stores.first.fleet?.sidecars('acme'))?.length, 4)
})

fullTest('entries of a tenant that name records of others change none, at no running sidecar', async (t) => {
  const { of, start } = await scene(t)
  const all = await start()
  const [root, victim] = [await all.key({ roles: ['admin'] }), await all.key({ tenant: OTHER, roles: ['owner'] })]
  const stop = (await all.call(root, 'POST', '/killswitch/trigger', STOP)).body.data.switches[0]
  const named = [
    ['key.revoked', 'key', victim.id],
    ['key.revoked', 'key', root.id],
    ['killswitch.recovered', 'switch', stop.id],
    ['policy.loaded', 'policy', OTHER],
  ] as const
  await withClient(await of('gate_sidecar', 'acme'), async (client) => {
    await client.query("INSERT INTO gate.chain (name) VALUES ('acme/live~77')")
    for (const [i, [type, record, id]] of named.entries())
      await client.query(
        `INSERT INTO gate.audit_entry (at, ts, type, id, hash, prev, commits, salts, record, record_id)
         SELECT (number::bigint << 33) + ${i}, 0, $1, substring(sha256($2) FOR 16), sha256('x'), sha256('x'), '', '', $3, $4
           FROM gate.chain WHERE name = 'acme/live~77'`,
        [type, `${record}${id}`, record, id],
      )
  })
  const end = { level: 'L4', recoveredBy: 'root', comment: 'over' }
  assert.equal((await all.call(root, 'POST', '/killswitch/recover', end)).status, 200)
  assert.equal((await all.call({ ...root, tenant: OTHER }, 'DELETE', `/keys/${victim.id}`)).status, 200)
  await all.server.store.refresh()
  assert.deepEqual(all.server.store.altered(), [])
  assert.equal((await all.call(victim, 'GET', '/keys')).status, 401)
})

fullTest('a key of a tenant with the hash of an admin key takes nothing from the admin', async (t) => {
  const { start } = await scene(t)
  const all = await start()
  const root = await all.key({ roles: ['admin'] })
  const { store } = (await start('acme')).server
  await store.refresh()
  const admin = store.state().keys.get(root.id) ?? assert.fail()
  const { write, data } = creation('key', {
    ...admin,
    id: 'key_01m0000000000000000000000a',
    tenantId: 'acme',
    roles: ['auditor'],
  })
  const entry = { kind: 'event' as const, id: 'evt_x', chain: 'acme/live', type: 'key.created', data, actor: SERVICE }
  await store.commit({
    guards: [],
    writes: [write],
    entries: [{ ...entry, id: idMaker(Date.now, randomBytes)('entry') }],
  })
  await all.server.store.refresh()
  assert.equal((await all.call(root, 'POST', '/killswitch/trigger', STOP)).status, 200)
  assert.equal((await (await start()).call(root, 'GET', '/killswitch/status')).body.data.active, true)
})

fullTest('a stop that somebody hid from the sidecars of its tenant is missed at the next start', async (t) => {
  const { url, start } = await scene(t)
  await withClient(url, (client) => client.query(`UPDATE gate.kill_switch SET tenant = '${OTHER}'`))
  await assert.rejects(start('acme'), /stored switch \w+ is missing, though the audit chain records it/)
})

test('a login that is not named reads nothing; one of one tenant copies nothing', async (t) => {
  const { url, as, of } = await separated(t)
  await withClient(url, (client) => client.query("DELETE FROM gate.login WHERE name LIKE 'gate_sidecar%'"))
  const unnamed = openServerStore({ address: { url: as('gate_sidecar') }, clock: Date.now })
  await assert.rejects(
    unnamed,
    /The login gate_sidecar_of_\d+ serves no tenant\. Its administrator adds it to gate\.login/,
  )
  const source = openServerSide({ address: { url: await of('gate_sidecar', 'acme') }, role: 'source' })
  await assert.rejects(source, /serves one tenant/)
})

test('the file separates nothing before a login is named', async (t) => {
  const { url } = await governed(t)
  await assert.rejects(
    withClient(url, (client) => client.query(TENANTS_SQL)),
    /gate\.login names no login/,
  )
})
