import { unavailable } from '../errors.ts'
import type { DigestCount, Fleet, Sidecar } from '../fleet.ts'
import { type Database, statement } from './database.ts'

/** Time for which a dead sidecar is listed. */
const LISTED_MS = 3_600_000
/** Form of a digest: another process may write anything into the row. */
const DIGEST = "'^sha256:[0-9a-f]{64}$'"

const SIDECARS = statement(
  `SELECT lane, name, version, (extract(epoch FROM started_at) * 1000)::float8 AS "startedMs",
      (extract(epoch FROM heard_at) * 1000)::float8 AS "heardMs", expires_at > clock_timestamp() AS "isLive",
      holder = $1 AS "isSelf", substring(policies ->> $2 FROM ${DIGEST}) AS "policyDigest"
     FROM gate.sidecar WHERE tenant IN ('', $2) AND expires_at > clock_timestamp() - interval '${LISTED_MS} milliseconds'
    ORDER BY lane`,
)
// A tenant without policies at some sidecar that serves it is divided too.
const DIVIDED = statement(
  `WITH live AS (SELECT tenant AS serves, policies FROM gate.sidecar WHERE expires_at > clock_timestamp()),
     found AS (
       SELECT tenant, digest, count(*) AS sidecars FROM live, jsonb_each_text(policies) AS one (tenant, digest)
         WHERE digest ~ ${DIGEST} AND serves IN ('', tenant) GROUP BY tenant, digest
     ),
     divided AS (
       SELECT tenant FROM found GROUP BY tenant
         HAVING count(*) > 1 OR sum(sidecars) < (SELECT count(*) FROM live WHERE serves IN ('', found.tenant))
     )
   SELECT digest, sum(sidecars)::int AS sidecars FROM found JOIN divided USING (tenant) GROUP BY digest ORDER BY digest LIMIT $1`,
)

/** The sidecars of a database, as they describe themselves. @param holder name of this one */
export function fleetOn(
  database: Database,
  { holder, ...own }: Pick<Fleet, 'live' | 'signers' | 'tell'> & { holder: string },
): Fleet {
  const read = async <R extends object>(rows: Promise<R[]>): Promise<R[]> => {
    try {
      return await rows
    } catch (error) {
      throw unavailable('be read', error)
    }
  }
  return {
    ...own,
    sidecars: (tenantId) => read(database.any.rows<Sidecar>(SIDECARS, [holder, tenantId])),
    divided: (limit) => read(database.any.rows<DigestCount>(DIVIDED, [limit])),
  }
}
