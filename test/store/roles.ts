import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { type Cleanup, type Gate, temporaryFolder } from '../helpers.ts'
import { emptied, MAX_STALENESS, postgresDatabase, withClient } from '../postgres.ts'

const sqlOf = (name: string): string => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8')
const ROLES_SQL = sqlOf('roles.sql')
export const TENANTS_SQL = sqlOf('tenants.sql')

const ROLES = ['gate_owner', 'gate_sidecar', 'gate_custodian', 'gate_auditor'] as const
export type RoleName = (typeof ROLES)[number]

/** A database whose administrator has run deploy/roles.sql. */
export interface Governed {
  /** Address for the administrator. */
  url: string
  /** Address for a login of a role. */
  as(role: RoleName): string
  /** Runs deploy/roles.sql once more. */
  grant(): Promise<void>
}

/** Logins are of this process, since roles belong to the server, which other processes may use. */
const loginOf = (role: RoleName, tenant = ''): string => `${role}${tenant && `_${tenant}`}_of_${process.pid}`
const password = randomBytes(12).toString('hex')

async function addLogin(client: pg.Client, role: RoleName, tenant?: string): Promise<void> {
  const login = loginOf(role, tenant)
  const { rows } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [login])
  if (rows.length === 0) await client.query(`CREATE ROLE ${login} LOGIN IN ROLE ${role} PASSWORD '${password}'`)
}

function addressFor(url: string, role: RoleName, tenant?: string): string {
  const address = new URL(url)
  address.username = loginOf(role, tenant)
  address.password = password
  return address.href
}

export async function governed(t: Cleanup): Promise<Governed> {
  const url = await postgresDatabase(t)
  const grant = () => withClient(url, async (client) => void (await client.query(ROLES_SQL)))
  await grant()
  await withClient(url, async (client) => {
    for (const role of ROLES) await addLogin(client, role)
    await client.query(`ALTER ROLE ${loginOf('gate_owner')} SET role = 'gate_owner'`)
  })
  return { url, as: (role) => addressFor(url, role), grant }
}

const JOINED = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'gate'::regnamespace AND relrowsecurity LOOP
    EXECUTE format('ALTER TABLE gate.%I DISABLE ROW LEVEL SECURITY', name);
  END LOOP; END $$`

/** The same, after deploy/tenants.sql: these logins serve all tenants. */
export interface Separated extends Governed {
  /** Address for a login of a role that serves one tenant. */
  of(role: RoleName, tenant: string): Promise<string>
  /** Deletes what tests have written. */
  empty(): Promise<void>
}

export async function separated(t: Cleanup): Promise<Separated> {
  const database = await governed(t)
  const { url } = database
  // Other tests use the database afterwards, with logins that are not named.
  t.after(() => withClient(url, async (client) => void (await client.query(JOINED))))
  const name = (client: pg.Client, role: RoleName, tenant?: string) =>
    client.query('INSERT INTO gate.login (name, tenant) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
      loginOf(role, tenant),
      tenant ?? '',
    ])
  const nameAll = async (client: pg.Client) => {
    for (const role of ROLES) await name(client, role)
  }
  await withClient(url, async (client) => {
    await nameAll(client)
    // As after a migration.
    for (const _ of [1, 2]) await client.query(TENANTS_SQL)
  })
  return {
    ...database,
    empty: () =>
      withClient(url, async (client) => {
        await emptied(client)
        await nameAll(client)
      }),
    of: (role, tenant) =>
      withClient(url, async (client) => {
        await addLogin(client, role, tenant)
        await name(client, role, tenant)
        return addressFor(url, role, tenant)
      }),
  }
}

/** Settings by which the service, or a command, opens the database at an address. */
export function settingsFor(
  address: string,
): Record<'store' | 'storePassword' | 'maxStaleness' | 'signingKey', string> {
  const dir = temporaryFolder()
  const url = new URL(address)
  const storePassword = join(dir, 'password')
  writeFileSync(storePassword, url.password, { mode: 0o600 })
  url.password = ''
  return { store: url.href, storePassword, maxStaleness: MAX_STALENESS, signingKey: join(dir, 'signing-key.pem') }
}

const MAIL = { action: 'email.send' }
const PAYMENT = { action: 'payment.transfer', context: { amount: 5000 } }

/** A day of a sidecar: what it decides, proves, holds and stops. */
export async function dayOf({ key, call, server }: Gate, tenant = 'acme'): Promise<void> {
  const owner = await key({ tenant, roles: ['owner'], identity: 'ann' })
  const agent = await key({ tenant, roles: ['agent'] })
  const data = async (of: typeof owner, path: string, body: object) => {
    const answer = await call(of, 'POST', path, { tenantId: tenant, ...body }, { 'idempotency-key': path })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.data
  }
  const { decision, decisionId } = await data(agent, '/gate/check', MAIL)
  assert.equal(decision, 'allow')
  await data(agent, '/gate/outcome', { decisionId, status: 'succeeded' })
  const { status: shown } = await call(owner, 'GET', `/evidence/bundle/${decisionId}`)
  assert.equal(shown, server.store.tenant === undefined ? 200 : 403)
  const { approvalId } = (await call(agent, 'POST', '/gate/check', { tenantId: tenant, ...PAYMENT })).body.data
  const { status } = await data(owner, `/approvals/${approvalId}/approve`, { approverId: 'ann', comment: 'seen' })
  assert.equal(status, 'approved')
  assert.equal((await call(agent, 'POST', '/gate/check', { tenantId: tenant, ...PAYMENT })).body.data.decision, 'allow')
  const stop = { level: 'L3', scope: tenant }
  await data(owner, '/killswitch/trigger', { ...stop, reason: 'drill', triggeredBy: 'ann' })
  assert.equal((await call(agent, 'POST', '/gate/check', { tenantId: tenant, ...MAIL })).body.data.decision, 'deny')
  await data(owner, '/killswitch/recover', { ...stop, recoveredBy: 'ann', comment: 'over' })
  const { id } = await key({ tenant, roles: ['auditor'] })
  assert.equal((await call(owner, 'DELETE', `/keys/${id}`)).status, 200)
  // Signs the newest entries, and writes the last uses of keys.
  assert.deepEqual(await server.close(), [])
}
