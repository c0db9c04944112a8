import type { StoredEntry } from '../../audit/entry.ts'
import { coverRanges } from '../../audit/merkle.ts'
import { encodeBase64 } from '../../base/bytes.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import {
  CSV_FILE,
  ENTRIES_FILE,
  EXPORT_VERSION,
  entryLine,
  type Manifest,
  type UnsignedManifest,
} from '../../evidence/export.ts'
import { signStatement } from '../../evidence/signature.ts'
import type { EvidenceDeps } from '../evidence/evidence.ts'
import { rotationsNow } from '../evidence/trust.ts'
import { entryView } from './audit.ts'
import { assertErasedLawfully } from './redactions.ts'

export interface ExportFolder {
  create(name: string): {
    write(text: string): void
    /** Syncs the file to disk and closes it. */
    end(): { bytes: number; sha256: string }
  }
}

export interface RangeOptions {
  lanes?: ExportedLanes
  onProgress?: (written: number) => void
}

const BATCH = 200
const BATCH_BYTES = 1024 * 1024

/** Digests of manifests by the number of the lane. */
export type ExportedLanes = NonNullable<Manifest['lanes']>

/**
 * Exports the entries first <= seq < end of a chain, and signs the export. Lanes that were exported before, in folders
 * of its own, belong to it.
 *
 * @throws GateError `audit_unavailable` when a section is missing that no command erased, or the range cannot be signed
 */
export async function exportRange(
  deps: EvidenceDeps,
  chain: string,
  { first, end }: { first: number; end: number },
  folder: ExportFolder,
  { lanes = {}, onProgress = () => undefined }: RangeOptions = {},
): Promise<Manifest> {
  const { store } = deps
  const checkpoint = await deps.checkpoints.covering(chain, Math.max(0, end - 1))
  const entries = folder.create(ENTRIES_FILE)
  const csv = folder.create(CSV_FILE)
  csv.write(csvLine(CSV_COLUMNS))
  let lastTs = ''
  for (let seq = first; seq < end; ) {
    const batch = await store.entriesFrom(chain, seq, Math.min(BATCH, end - seq), BATCH_BYTES)
    if (batch.length === 0) throw new GateError('audit_unavailable', `Audit chain ${chain}, entry ${seq} is missing.`)
    for (const entry of batch) {
      await assertErasedLawfully(store, entry)
      entries.write(`${entryLine(entry)}\n`)
      csv.write(csvLine(csvCells(entry)))
      lastTs = entry.header.ts
    }
    seq += batch.length
    onProgress(seq - first)
  }
  const key = await deps.keyring.bundleKey()
  const unsigned: UnsignedManifest = {
    v: 1,
    version: EXPORT_VERSION,
    origin: store.origin,
    chain,
    first,
    end,
    exportedAt: [formatTimestamp(deps.clock()), lastTs].sort().at(-1) ?? '',
    files: { [ENTRIES_FILE]: entries.end(), [CSV_FILE]: csv.end() },
    ...(Object.keys(lanes).length > 0 && { lanes }),
    checkpoint: checkpoint.note,
    range: {
      left: await hashesOf(deps, chain, 0, first),
      right: await hashesOf(deps, chain, end, checkpoint.size),
    },
    certificate: key.certificate,
    rotations: await rotationsNow(store),
  }
  const signature = signStatement('export', unsigned, key.privateKey)
  return { ...unsigned, signatures: { service: { algorithm: 'ed25519', publicKey: key.publicKey, signature } } }
}

async function hashesOf({ store }: EvidenceDeps, chain: string, begin: number, end: number): Promise<string[]> {
  return (await store.treeHashes(chain, coverRanges(begin, end))).map(encodeBase64)
}

/** Columns of a decision's own; other entries have their data as JSON instead. */
const DECISION_COLUMNS = ['action', 'decision', 'rule', 'reason', 'riskScore']
const CSV_COLUMNS = ['seq', 'time', 'type', 'id', ...DECISION_COLUMNS, 'actor', 'data', 'hash']

function csvCells(entry: StoredEntry): string[] {
  const { id, timestamp, eventType, data, hash, seq, actor } = entryView(entry)
  const isDecision = eventType === 'gate.decision'
  const members: Readonly<Record<string, unknown>> = isDecision && data !== null ? data : {}
  const decided = DECISION_COLUMNS.map((name) => String(members[name] ?? ''))
  const rest = isDecision || data === null ? '' : JSON.stringify(data)
  return [String(seq), timestamp, eventType, id, ...decided, actor === null ? '' : String(actor.id), rest, hash]
}

/** A line of RFC 4180; a cell that a spreadsheet would take for a formula becomes text. */
function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${quoted.join(',')}\r\n`
}
