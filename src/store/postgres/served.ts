import { tenantOf } from '../../audit/chain.ts'
import { GateError } from '../../base/errors.ts'
import { UnusableFile } from '../errors.ts'
import type { Submission } from '../submission.ts'
import { first, type Runner, statement } from './database.ts'

const LOGIN = statement('SELECT session_user::text AS name, gate.own_tenant() AS tenant')

/** The only tenant that the login serves; undefined for all. @throws UnusableFile for a login that serves none */
export async function servedTenant(run: Runner): Promise<string | undefined> {
  const { name = '', tenant = null } = (await first(run.rows<{ name: string; tenant: string | null }>(LOGIN))) ?? {}
  if (tenant !== null) return tenant === '' ? undefined : tenant
  throw new UnusableFile(
    `The login ${name} serves no tenant. Its administrator adds it to gate.login; see deploy/tenants.sql.`,
  )
}

/** True for a chain that a login of one tenant, or of all, sees. */
export function isServed(tenant: string | undefined, chain: string): boolean {
  return tenant === undefined || ['', tenant].includes(tenantOf(chain))
}

/** Refusal of what a login of one tenant may not write, which the server refuses too. */
export function unserved(tenant: string | undefined, { entries }: Submission): GateError | undefined {
  if (tenant === undefined || entries.every(({ chain }) => tenantOf(chain) === tenant)) return undefined
  return new GateError(
    'forbidden',
    `The login of the store serves the tenant ${tenant} alone. Change what concerns others where all are served.`,
  )
}
