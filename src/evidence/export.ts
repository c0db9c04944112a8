import type { Entry } from '../audit/entry.ts'
import { encodeBase64 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import {
  Base64Of32,
  Chain,
  Checkpoint,
  Digest,
  HeaderShape,
  Origin,
  Path,
  Signatures,
  sections,
  Time,
} from './fields.ts'
import { anyValue, count, literal, object, record, type TypeOf, text } from './shape.ts'
import { Certificate, Rotations } from './trust.ts'

export const EXPORT_VERSION = '1.0'
export const MANIFEST_FILE = 'manifest.json'
export const ENTRIES_FILE = 'entries.jsonl'
export const CSV_FILE = 'entries.csv'

/** Limit of a manifest, which names each lane. */
export const MAX_MANIFEST_BYTES = 16 * 1024 * 1024

const FileShape = object({ bytes: count, sha256: Digest })
/** Digests of the manifests of the lanes that were exported with their trail, by the number of the lane. */
const Lanes = record(Digest, { max: 100_000, name: /^[1-9][0-9]{0,6}$/ })

/** Folder of a lane's export, in that of its trail. */
export function laneFolder(number: number | string): string {
  return `lane-${number}`
}

/** The manifest of an exported range; the service's signature covers everything but `signatures`. */
export const ManifestShape = object(
  {
    v: literal(1),
    version: text({ maxLength: 16 }),
    origin: Origin,
    chain: Chain,
    /** The entries first <= seq < end. */
    first: count,
    end: count,
    exportedAt: Time,
    files: object({ [ENTRIES_FILE]: FileShape, [CSV_FILE]: FileShape }),
    checkpoint: Checkpoint,
    range: object({ left: Path, right: Path }),
    certificate: Certificate,
    rotations: Rotations,
    signatures: Signatures,
  },
  { title: 'ExportManifest', optional: { lanes: Lanes } },
)
export type Manifest = TypeOf<typeof ManifestShape>
export type UnsignedManifest = Omit<Manifest, 'signatures'>

/** Limit of a line: an entry may have 1 MiB, and each of its characters six in JSON. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

/** A line of the entries. */
export const EntryLineShape = object({
  hash: Digest,
  header: HeaderShape,
  sections: sections(object({ salt: Base64Of32, value: anyValue })),
})
export type EntryLine = TypeOf<typeof EntryLineShape>

/** The line of an entry, without its line feed and erased sections. */
export function entryLine({ header, hash, sections: shown }: Entry): string {
  const opened = shown.map(({ name, salt, json }) => [name, { salt: encodeBase64(salt), value: JSON.parse(json) }])
  return canonicalJson({ hash, header, sections: Object.fromEntries(opened) })
}
