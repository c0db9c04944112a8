import { type EndRow, endsOf } from '../copy/rows.ts'
import type { ChainEnds } from '../copy/side.ts'
import { AlteredFile } from '../errors.ts'
import { first, type Runner, statement } from './database.ts'

const END = (order: string): string =>
  `(SELECT at, hash FROM gate.audit_entry WHERE at >= c.number::bigint << 33 AND at < (c.number::bigint + 1) << 33
     ORDER BY at ${order} LIMIT 1)`
const FROM = `FROM gate.chain AS c
  LEFT JOIN LATERAL ${END('ASC')} AS oldest ON true
  LEFT JOIN LATERAL ${END('DESC')} AS newest ON true`
const ENDS = statement(
  `SELECT c.name, oldest.at AS oldest, newest.at AS newest, encode(newest.hash, 'hex') AS hash, c.pruned,
          c.sealed_size AS size, c.seal_key AS key, c.seal AS mac ${FROM}
    WHERE newest.at IS NOT NULL OR c.pruned > 0 OR c.seal IS NOT NULL ORDER BY c.name`,
)
const OTHER_END = statement(
  `SELECT c.name ${FROM}
    WHERE c.hash IS DISTINCT FROM newest.hash OR c.length <> coalesce((newest.at & 8589934591) + 1, 0) LIMIT 1`,
)

export async function endsIn(run: Runner): Promise<ChainEnds[]> {
  return (await run.rows<EndRow>(ENDS)).map(endsOf)
}

/** Requires the row of each chain to end with its newest entry: appends go by the row. @throws AlteredFile */
export async function assertEnds(run: Runner): Promise<void> {
  const { name } = (await first(run.rows<{ name: string }>(OTHER_END))) ?? {}
  if (name !== undefined)
    throw new AlteredFile(`Audit chain ${name}: its row does not end with the newest entry. The database was altered.`)
}
