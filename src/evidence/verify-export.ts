import { commitment, type Head, type StoredEntry } from '../audit/chain.ts'
import { coverOf, GrowingTree, type Hash, leafHash } from '../audit/tree.ts'
import { entryFault, genesisOr, headOf } from '../audit/verify.ts'
import { decodeBase64, equalBytes, utf8 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import { parseDigest } from '../base/digest.ts'
import { readJson } from '../base/json.ts'
import { attest, type Means } from './attestation.ts'
import { type CheckName, failed, type Outcome, outcomeOf, type Verification, verdictOf } from './checks.ts'
import { EVIDENCE_DEPTH } from './envelope.ts'
import { type EntryLine, EntryLineShape, EXPORT_VERSION, type Manifest, ManifestShape } from './export.ts'
import type { SignedCheckpoint } from './trust.ts'

/** An exported range as it lies in its folder. */
export interface ExportSource {
  /** The text of the manifest. */
  manifest: Uint8Array
  /** Length and digest of a file; undefined when there is none. */
  fileOf(name: string): Promise<{ bytes: number; sha256: string } | undefined>
  /** Its entries, line by line. */
  lines(): AsyncIterable<Uint8Array>
}

/** Checks an exported range without any server (docs/evidence.md, The export of a range). */
export async function verifyExport(source: ExportSource, means: Means): Promise<Verification> {
  const claimed = readJson(source.manifest, { maxDepth: EVIDENCE_DEPTH })
  const fault = ManifestShape.fault(claimed, '')
  if (fault !== undefined) return verdictOf({ form: failed(`This is not the manifest of an export: ${fault}.`) })
  const manifest = claimed as unknown as Manifest // as the shape says
  const { signatures, ...unsigned } = manifest
  if (manifest.version !== EXPORT_VERSION)
    return verdictOf({ form: failed(`Exports of version ${manifest.version} are not known here.`) })
  const walked = await walkLines(manifest, source)
  const { outcomes, checkpoint, isAnchored } = attest(
    { ...manifest, kind: 'export', unsigned, signature: signatures.service, ts: walked.ts },
    means,
  )
  const form = manifest.first <= manifest.end && manifest.end <= (checkpoint?.size ?? manifest.end)
  const checks: Partial<Record<CheckName, Outcome>> = {
    form: outcomeOf(form ? undefined : 'The range lies outside the tree.'),
    files: outcomeOf(await filesFault(manifest, source)),
    ...outcomes,
    segment: outcomeOf(walked.segment),
    openings: outcomeOf(walked.openings),
    inclusion: outcomeOf(rangeFault(manifest, walked.leaves, checkpoint)),
  }
  const redacted = walked.redacted > 0 ? [`${walked.redacted} sections`] : []
  return verdictOf(checks, { assurance: isAnchored ? 'bracketed' : 'self-asserted', redacted })
}

async function filesFault({ files }: Manifest, source: ExportSource): Promise<string | undefined> {
  for (const [name, { bytes, sha256 }] of Object.entries(files)) {
    const found = await source.fileOf(name)
    if (found === undefined) return `${name} is missing.`
    if (found.bytes !== bytes || found.sha256 !== sha256) return `${name} is not the file that was exported.`
  }
  return undefined
}

interface Walked {
  segment: string | undefined
  openings: string | undefined
  /** The tree over what comes before the range and the range itself; undefined when they do not fit together. */
  leaves: GrowingTree | undefined
  ts: string | undefined
  redacted: number
}

async function walkLines({ chain, origin, first, end, range }: Manifest, source: ExportSource): Promise<Walked> {
  const tree = treeOf(first, range.left)
  const walked: Walked = { segment: undefined, openings: undefined, leaves: tree, ts: undefined, redacted: 0 }
  let previous: Head | undefined
  let next = first
  for await (const text of source.lines()) {
    const line = readLine(text)
    if (line === undefined) return { ...walked, segment: `Line ${next - first + 1} is no entry in canonical form.` }
    const entry: StoredEntry = {
      header: line.header,
      hash: line.hash,
      headerText: canonicalJson(line.header),
      sections: [],
    }
    previous ??= genesisOr(origin, chain, first, line.header)
    const fault = next < end ? entryFault(chain, previous, entry, { sections: false }) : undefined
    if (fault !== undefined || next >= end)
      return {
        ...walked,
        segment: fault ? `Entry ${fault.seq}: ${fault.what}.` : 'There are more entries than the range has.',
      }
    walked.openings ??= openingsFault(line)
    walked.redacted += Object.keys(line.header.commits).length - Object.keys(line.sections).length
    walked.ts = line.header.ts
    tree?.append(leafHash(parseDigest(line.hash)))
    previous = headOf(entry)
    next += 1
  }
  if (next !== end) return { ...walked, segment: `Entry ${next} is missing.` }
  return walked
}

function readLine(text: Uint8Array): EntryLine | undefined {
  const value = readJson(text, { maxDepth: EVIDENCE_DEPTH })
  if (EntryLineShape.fault(value, '') !== undefined || !equalBytes(utf8(canonicalJson(value)), text)) return undefined
  return value as unknown as EntryLine // as the shape says
}

function openingsFault({ header, sections }: EntryLine): string | undefined {
  for (const [name, { salt, value }] of Object.entries(sections)) {
    const bytes = decodeBase64(salt)
    const isGood =
      bytes !== undefined && commitment({ name, salt: bytes, json: canonicalJson(value) }) === header.commits[name]
    if (!isGood) return `Entry ${header.seq}: section ${name} is not what was committed to.`
  }
  return undefined
}

/** Undefined when so many leaves are not made of so many subtrees. */
function treeOf(size: number, peaks: readonly string[]): GrowingTree | undefined {
  const hashes = peaks.flatMap((hash): Hash[] => {
    const bytes = decodeBase64(hash)
    return bytes === undefined ? [] : [bytes]
  })
  return coverOf(0, size).length === hashes.length ? new GrowingTree(size, hashes) : undefined
}

function rangeFault(
  { end, range }: Manifest,
  tree: GrowingTree | undefined,
  checkpoint: SignedCheckpoint | undefined,
): string | undefined {
  if (checkpoint === undefined) return 'There is no signed root that the range could lead to.'
  const places = coverOf(end, checkpoint.size)
  if (tree === undefined || tree.size !== end || places.length !== range.right.length)
    return 'The range does not fit into the tree of the checkpoint.'
  for (const [i, { level }] of places.entries()) tree.append(decodeBase64(range.right[i]) ?? new Uint8Array(), level)
  return equalBytes(tree.root(), checkpoint.root) ? undefined : 'The entries do not lead to the root that was signed.'
}
