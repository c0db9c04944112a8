import type { Database } from 'better-sqlite3'

/** Statements over policy_source. Only commit.ts writes, inside its transaction. */
export function policySourceQueries(db: Database) {
  const get = db.prepare<[string], { source: string }>('SELECT source FROM policy_source WHERE tenant = ?')
  const put = db.prepare<[string, string]>(
    'INSERT INTO policy_source (tenant, source) VALUES (?, ?) ON CONFLICT (tenant) DO UPDATE SET source = excluded.source',
  )
  return {
    get: (tenantId: string) => get.get(tenantId)?.source,
    put: (tenantId: string, source: string) => put.run(tenantId, source),
  }
}
