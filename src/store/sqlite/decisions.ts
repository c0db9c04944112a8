import type { Database } from 'better-sqlite3'
import type { DecisionRow } from '../queries.ts'
import type { SeqRange } from './page.ts'

/** Reads decisions without their requests, which may be large and lie beside these rows. */
export function decisionsQuery(db: Database): (chain: string, range: SeqRange) => DecisionRow[] {
  const rows = db.prepare<[string, number, number], DecisionRow>(
    `SELECT entry.ts AS ts, json_extract(decision.json, '$.decision') AS decision,
            json_extract(grounds.json, '$.rule') AS rule, json_extract(grounds.json, '$.decidedBy') AS decidedBy
       FROM entry
       JOIN section AS decision ON decision.chain = entry.chain AND decision.seq = entry.seq AND decision.name = 'decision'
       JOIN section AS grounds ON grounds.chain = entry.chain AND grounds.seq = entry.seq AND grounds.name = 'grounds'
      WHERE entry.chain = ? AND entry.seq >= ? AND entry.seq < ? ORDER BY entry.seq`,
  )
  return (chain, { first, end }) => rows.all(chain, first, end)
}
