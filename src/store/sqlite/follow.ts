import { canonicalJson } from '../../base/canonical.ts'
import type { JsonObject } from '../../base/json.ts'
import type { RecordKind, Records } from '../records.ts'
import type { Connection } from './connection.ts'
import { foldEntry, nothingFolded } from './fold.ts'
import { AlteredFile } from './open.ts'
import { type RecordRow, recordOf } from './records.ts'
import { reading } from './sound-entry.ts'

export const MISSING = 'is missing, though the audit chain records it'

/**
 * Reads a row that changed while the file was open, and requires it to equal what its entries make of it.
 *
 * @param known the record as it was taken in before; only the entries since then are read
 * @throws AlteredFile naming the record or the entry
 */
export function followed<K extends RecordKind>(
  connection: Connection,
  origin: string,
  kind: K,
  row: RecordRow,
  known: Records[K] | undefined,
): Records[K] {
  const record = recordOf(kind, row)
  if (known !== undefined && canonicalJson(known) === row.body) return known
  const from = known?.revision ?? 0
  // A row of an earlier revision would take a revocation back.
  if (!Number.isSafeInteger(record.revision) || record.revision <= from) throw differing(kind, row.id, DIFFERENT)
  const places = reading(`The list of entries of ${kind} ${row.id}`, () => connection.records.entriesOf(kind, row.id))
  const since = places.slice(from - record.revision)
  const folded = nothingFolded()
  if (known !== undefined) folded[kind].set(row.id, known as JsonObject)
  if (since.length === record.revision - from) for (const place of since) foldEntry(connection, origin, folded, place)
  assertSame(kind, row.id, folded[kind].get(row.id), row.body)
  return record
}

/** @throws AlteredFile naming the record, when the stored text is not what the entries make of it */
export function assertSame(
  kind: RecordKind,
  id: string,
  folded: JsonObject | undefined,
  stored: string | undefined,
): void {
  if (folded === undefined) throw differing(kind, id, 'is in no audit entry')
  if (stored === undefined) throw differing(kind, id, MISSING)
  if (canonicalJson(folded) !== stored) throw differing(kind, id, DIFFERENT)
}

const DIFFERENT = 'differs from what the audit chain records'

export function differing(kind: RecordKind, id: string, how: string): AlteredFile {
  return new AlteredFile(
    `The stored ${kind} ${id} ${how}. The file was altered outside gate-sidecar; restore a backup.`,
  )
}
