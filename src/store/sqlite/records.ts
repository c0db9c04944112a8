import type { Database } from 'better-sqlite3'
import { STATE_EVENTS } from '../../audit/events.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { type RecordKind, type RecordRow, type Records, type RecordWrite, recordOf } from '../records.ts'
import type { Placed } from '../submission.ts'
import type { ChainPlaces } from './places.ts'

export const RECORD_TABLES = {
  tenant: 'tenant',
  key: 'api_key',
  signingKey: 'signing_key',
  policy: 'policy',
  switch: 'kill_switch',
  approval: 'approval',
} as const satisfies Record<RecordKind, string>

/** Statements over one table of records. Only commit.ts writes, inside its transaction. */
function tableQueries<K extends RecordKind>(db: Database, kind: K) {
  const table = RECORD_TABLES[kind]
  const get = db.prepare<[string], RecordRow>(`SELECT id, body FROM ${table} WHERE id = ?`)
  const all = db.prepare<[], RecordRow>(`SELECT id, body FROM ${table} ORDER BY id`)
  const after = db.prepare<[string], RecordRow>(`SELECT id, body FROM ${table} WHERE id > ? ORDER BY id LIMIT 1`)
  const count = db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck()
  const since = db.prepare<[number, string], RecordRow>(
    `SELECT id, body FROM ${table} WHERE changed > ? UNION
     SELECT id, body FROM ${table} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
  )
  const remove = db.prepare<[string]>(`DELETE FROM ${table} WHERE id = ?`)
  const upsert = db.prepare<[string, string, number]>(
    `INSERT INTO ${table} (id, body, changed) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, changed = excluded.changed`,
  )
  return {
    get(id: string): Records[K] | undefined {
      const row = get.get(id)
      return row && recordOf(kind, row)
    },
    /** Canonical text by id. */
    bodies: () => new Map(all.all().map((row) => [row.id, row.body])),
    /** The row with the next id. */
    after: (id: string) => after.get(id),
    count: () => count.get() ?? 0,
    /** Reads the table itself: a damaged index hides nothing. */
    all: () => all.all().map((row) => recordOf(kind, row)),
    /** Rows written since that version, and those of these ids. */
    rowsSince: (version: number, ids: readonly string[]) => since.all(version, JSON.stringify(ids)),
    remove: (id: string) => remove.run(id),
    put: (record: Records[K], version: number) => upsert.run(record.id, canonicalJson(record), version),
  }
}

export function recordQueries(db: Database, places: ChainPlaces) {
  const tables = {
    tenant: tableQueries(db, 'tenant'),
    key: tableQueries(db, 'key'),
    signingKey: tableQueries(db, 'signingKey'),
    policy: tableQueries(db, 'policy'),
    switch: tableQueries(db, 'switch'),
    approval: tableQueries(db, 'approval'),
  }
  const entries = db.prepare<[string, string, string], { chain: number; seq: number }>(
    `SELECT chain, seq FROM audit_entry
      WHERE data IS NOT NULL AND json_extract(data, '$.record') IS NOT NULL
        AND json_extract(data, '$.id') = ? AND json_extract(data, '$.record') = ?
        AND type IN (SELECT value FROM json_each(?))
      ORDER BY at`,
  )
  const types = JSON.stringify(STATE_EVENTS)
  return {
    ...tables,
    /** Finds the entries that changed a record. Excludes entries of callers, whatever their data looks like. */
    entriesOf: (kind: RecordKind, id: string, of?: string): Pick<Placed, 'chain' | 'seq'>[] =>
      entries
        .all(id, kind, types)
        .map(({ chain, seq }) => ({ chain: places.name(chain) ?? '', seq }))
        .filter(({ chain }) => of === undefined || chain === of),
    put({ kind, record }: RecordWrite, version: number): void {
      // The union of tables takes the intersection of records; kind and record correspond by type.
      const table = tables[kind] as { put(record: Records[RecordKind], version: number): unknown }
      table.put(record, version)
    },
  }
}
