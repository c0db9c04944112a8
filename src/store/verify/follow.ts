import { canonicalJson } from '../../base/canonical.ts'
import type { JsonObject } from '../../base/json.ts'
import { AlteredFile } from '../errors.ts'
import { chainOfRecord, type RecordKind, type RecordRow, type Records, type RecordWrite, recordOf } from '../records.ts'
import type { Source } from '../source.ts'
import type { Steps } from '../steps.ts'
import type { SealKeys } from '../store.ts'
import type { Placed } from '../submission.ts'
import { foldEntry, nothingFolded } from './fold.ts'
import { assertSealed } from './seals.ts'
import { assertLinked, reading } from './sound-entry.ts'

type Place = Pick<Placed, 'chain' | 'seq'>

export const MISSING = 'is missing, though the audit chain records it'

/** Facts that rows are held to. */
export interface Instance {
  origin: string
  /** Undefined for a store without seals. */
  sealKeys: SealKeys | undefined
}

/** Basis of the comparison of rows in one snapshot of the store. */
export interface Snapshot {
  origin: string
  /** @throws AlteredFile when the sealed head of its chain does not follow from the entry */
  assertSealed(place: Place): Steps<void>
}

/** Each entry between a place and the sealed head is read once, however many places there are. */
export function snapshotOf(source: Source, { origin, sealKeys }: Instance): Snapshot {
  /** The first entry from which the sealed head is known to follow, by chain. */
  const sealedFrom = new Map<string, number>()
  const sealedSeq = function* (chain: string, keys: SealKeys): Steps<number> {
    const head = yield* reading(source, `Audit chain ${chain}`, () => source.entries.head(chain))
    if (head === undefined) throw new AlteredFile(`Audit chain ${chain} has no entries.`)
    yield* assertSealed(source, origin, chain, head, keys)
    return head.seq
  }
  return {
    origin,
    *assertSealed({ chain, seq }) {
      if (sealKeys === undefined) return
      const from = sealedFrom.get(chain) ?? (yield* sealedSeq(chain, sealKeys))
      yield* assertLinked(source, chain, seq, from)
      sealedFrom.set(chain, Math.min(seq, from))
    },
  }
}

/**
 * Reads a row that changed while the store was open, and requires it to equal what its entries make of it.
 *
 * @param known the record as it was taken in before; only the entries since then are read
 * @throws AlteredFile naming the record or the entry
 */
export function* followed<K extends RecordKind>(
  source: Source,
  snapshot: Snapshot,
  kind: K,
  row: RecordRow,
  known: Records[K] | undefined,
): Steps<Records[K]> {
  const record = recordOf(kind, row)
  if (known !== undefined && canonicalJson(known) === row.body) return known
  const from = known?.revision ?? 0
  // A row of an earlier revision would take a revocation back.
  if (!Number.isSafeInteger(record.revision) || record.revision <= from) throw differing(kind, row.id, DIFFERENT)
  const where = `The list of entries of ${kind} ${row.id}`
  const chain = chainOfRecord({ kind, record } as RecordWrite)
  const places = yield* reading(source, where, () => source.records.entriesOf(kind, row.id, chain))
  const since = places.slice(from - record.revision)
  const folded = nothingFolded()
  if (known !== undefined) folded[kind].set(row.id, known as JsonObject)
  if (since.length === record.revision - from)
    for (const place of since) {
      yield* foldEntry(source, snapshot.origin, folded, place)
      yield* snapshot.assertSealed(place)
    }
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
    `The stored ${kind} ${id} ${how}. The store was altered outside gate-sidecar; restore a backup.`,
  )
}
