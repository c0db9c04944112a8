import type { Entry } from '../audit/chain.ts'
import { encodeBase64 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import { MAX_ROTATIONS } from './bundle.ts'
import { Base64Of32, Checkpoint, Digest, HeaderShape, Origin, Path, Signatures, Time } from './fields.ts'
import { anyValue, count, list, literal, object, record, type TypeOf, text } from './shape.ts'
import { Certificate, Rotation } from './trust.ts'

export const EXPORT_VERSION = '1.0'
export const MANIFEST_FILE = 'manifest.json'
export const ENTRIES_FILE = 'entries.jsonl'
export const CSV_FILE = 'entries.csv'

const FileShape = object({ bytes: count, sha256: Digest })

/** What an exported range says of itself; everything but `signatures` is covered by the service's signature. */
export const ManifestShape = object(
  {
    v: literal(1),
    version: text({ maxLength: 16 }),
    origin: Origin,
    chain: text({ maxLength: 256 }),
    /** The entries first <= seq < end. */
    first: count,
    end: count,
    exportedAt: Time,
    files: object({ [ENTRIES_FILE]: FileShape, [CSV_FILE]: FileShape }),
    checkpoint: Checkpoint,
    range: object({ left: Path, right: Path }),
    certificate: Certificate,
    rotations: list(Rotation, { max: MAX_ROTATIONS }),
    signatures: Signatures,
  },
  { title: 'ExportManifest' },
)
export type Manifest = TypeOf<typeof ManifestShape>
export type UnsignedManifest = Omit<Manifest, 'signatures'>

/** A line of the entries. */
export const EntryLineShape = object({
  hash: Digest,
  header: HeaderShape,
  sections: record(object({ salt: Base64Of32, value: anyValue }), { max: 8 }),
})
export type EntryLine = TypeOf<typeof EntryLineShape>

/** The line of an entry, without its line feed. Erased sections are left out. */
export function entryLine({ header, hash, sections }: Entry): string {
  const opened = sections.map(({ name, salt, json }) => [name, { salt: encodeBase64(salt), value: JSON.parse(json) }])
  return canonicalJson({ hash, header, sections: Object.fromEntries(opened) })
}
