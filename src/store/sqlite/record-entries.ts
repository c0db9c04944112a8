import type { Database } from 'better-sqlite3'
import { STATE_EVENTS } from '../../audit/events.ts'
import type { RecordKind } from '../records.ts'

interface Row {
  chain: string
  seq: number
}

/** Finds the entries that changed a record. Excludes entries of callers, whatever their data looks like. */
export function recordEntryQueries(db: Database) {
  const of = db.prepare<[string, string, string], Row>(
    `SELECT section.chain, section.seq FROM section JOIN entry USING (chain, seq)
      WHERE section.name = 'data' AND json_extract(section.json, '$.record') IS NOT NULL
        AND json_extract(section.json, '$.id') = ? AND json_extract(section.json, '$.record') = ?
        AND entry.type IN (SELECT value FROM json_each(?))
      ORDER BY section.chain, section.seq`,
  )
  const types = JSON.stringify(STATE_EVENTS)
  return { of: (kind: RecordKind, id: string) => of.all(id, kind, types) }
}
