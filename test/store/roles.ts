import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { postgresDatabase, withClient } from '../postgres.ts'

const ROLES_SQL = readFileSync(new URL('../../deploy/roles.sql', import.meta.url), 'utf8')

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
const loginOf = (role: RoleName): string => `${role}_of_${process.pid}`
const password = randomBytes(12).toString('hex')

export async function governed(t: TestContext): Promise<Governed> {
  const url = await postgresDatabase(t)
  const grant = () => withClient(url, async (client) => void (await client.query(ROLES_SQL)))
  await grant()
  await withClient(url, async (client) => {
    for (const role of ROLES) {
      const { rows } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [loginOf(role)])
      if (rows.length > 0) continue
      await client.query(`CREATE ROLE ${loginOf(role)} LOGIN IN ROLE ${role} PASSWORD '${password}'`)
      if (role === 'gate_owner') await client.query(`ALTER ROLE ${loginOf(role)} SET role = 'gate_owner'`)
    }
  })
  const as = (role: RoleName): string => {
    const address = new URL(url)
    address.username = loginOf(role)
    address.password = password
    return address.href
  }
  return { url, as, grant }
}
