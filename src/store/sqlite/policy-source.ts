import type { Database } from 'better-sqlite3'
import { beyondLimits, type RetainedSet } from '../retention.ts'
import type { StoredPolicies } from '../submission.ts'

/** Statements over policy_text. Only commit.ts writes, inside its transaction. */
export function policySourceQueries(db: Database) {
  const get = db
    .prepare<[string, string], string>('SELECT source FROM policy_text WHERE tenant = ? AND digest = ?')
    .pluck()
  const put = db.prepare(
    `INSERT INTO policy_text (tenant, digest, loaded, bytes, source)
     VALUES (:tenantId, :digest, (SELECT coalesce(max(loaded), 0) + 1 FROM policy_text WHERE tenant = :tenantId), :bytes, :source)
     ON CONFLICT (tenant, digest) DO UPDATE SET loaded = excluded.loaded, bytes = excluded.bytes, source = excluded.source`,
  )
  const retained = db.prepare<[string], RetainedSet>(
    'SELECT digest, bytes FROM policy_text WHERE tenant = ? ORDER BY loaded DESC',
  )
  const remove = db.prepare('DELETE FROM policy_text WHERE tenant = ? AND digest = ?')
  return {
    get: (tenantId: string, digest: string) => get.get(tenantId, digest),
    /** Stores the set, and deletes the oldest ones beyond the limits. */
    put(stored: StoredPolicies): void {
      const { tenantId, source } = stored
      put.run({ ...stored, bytes: Buffer.byteLength(source) })
      for (const { digest } of beyondLimits(retained.all(tenantId))) remove.run(tenantId, digest)
    },
  }
}
