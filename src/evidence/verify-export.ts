import { isLane, laneOf, SYSTEM_CHAIN } from '../audit/chain.ts'
import type { Checkpoint } from '../audit/checkpoint.ts'
import { coverOf, GrowingTree, leafHash, type TreeHead } from '../audit/merkle.ts'
import { type Judged, judging } from '../audit/replay/judge.ts'
import type { Told } from '../audit/replay/place.ts'
import { replay } from '../audit/replay/replay.ts'
import { decodeBase64, equalBytes, utf8 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import { digestOf, parseDigest } from '../base/digest.ts'
import { isJsonObject, type JsonObject, readJson } from '../base/json.ts'
import { attest, type VerifyInputs } from './attestation.ts'
import {
  type CheckName,
  type CheckResult,
  checkResultOf,
  failed,
  OK,
  unknown,
  type Verification,
  verdictOf,
} from './checks.ts'
import { EVIDENCE_JSON, readEvidence } from './envelope.ts'
import {
  type EntryLine,
  EntryLineShape,
  EXPORT_VERSION,
  MAX_LINE_BYTES,
  type Manifest,
  ManifestShape,
} from './export.ts'
import { checkpointOf } from './note.ts'
import { opens, segmentCheck } from './segment.ts'
import { witnessed } from './witnessed.ts'

/** The folder of an exported range. */
export interface ExportSource {
  /** The text of the manifest. */
  manifest: Uint8Array
  /** Length and digest of a file; undefined without one. */
  fileOf(name: string): Promise<{ bytes: number; sha256: string } | undefined>
  /** Its entries, line by line. */
  lines(): AsyncIterable<Uint8Array>
  /** The export of a lane in it; undefined without one, or where its manifest is too large. */
  lane(number: string): ExportSource | undefined
}

export interface ExportVerification extends Verification {
  /** Chain of the range; null for a file that is not an export. */
  chain: string | null
  /**
   * Judgement of the recorded events by the rules, as far as the export shows; null for a file that is not an export.
   */
  rules: Judged | null
  /** The same of each lane that was exported with its trail. */
  lanes: readonly ExportVerification[]
}

/** Checks an exported range, and those of its lanes, without any server (docs/evidence.md, The export of a range). */
export async function verifyExport(source: ExportSource, inputs: VerifyInputs): Promise<ExportVerification> {
  const read = readEvidence(source.manifest)
  if ('why' in read) return malformed(read.why)
  const { claimed } = read
  const fault = ManifestShape.fault(claimed, '')
  if (fault !== undefined) return malformed(`This is not the manifest of an export: ${fault}.`)
  const manifest = claimed as unknown as Manifest // as the shape says
  if (manifest.lanes !== undefined && isLane(manifest.chain)) return malformed('A lane has no lanes.')
  const { signatures, ...unsigned } = manifest
  if (manifest.version !== EXPORT_VERSION)
    return malformed(`Exports of version ${manifest.version} are not known here.`)
  const checkpoint = checkpointOf(manifest.checkpoint)
  const { sizes } = witnessed(inputs.anchors ?? [], manifest.origin, manifest.chain)
  const walked = await walkLines(manifest, source, sizes)
  const inclusion = rangeFault(manifest, walked.leaves, checkpoint)
  const lanes = await verifyLanes(manifest, source, inputs)
  const { results, isAnchored } = attest(
    {
      ...manifest,
      kind: 'export',
      unsigned,
      signature: signatures.service,
      checkpoint,
      beside: [],
      ts: walked.ts,
      // Trees that do not lead to the root of the checkpoint prove nothing of the log.
      earlier: inclusion === undefined ? walked.trees : [],
    },
    inputs,
  )
  const checks: Partial<Record<CheckName, CheckResult>> = {
    form: checkResultOf(undefined),
    files: checkResultOf(await filesFault(manifest, source)),
    ...results,
    segment: checkResultOf(walked.segment),
    openings: checkResultOf(walked.openings),
    inclusion: checkResultOf(inclusion),
    ...(manifest.lanes && { lanes: lanesResult(lanes) }),
  }
  const redacted = walked.redacted > 0 ? [`${walked.redacted} sections`] : []
  const verdict = verdictOf(checks, { assurance: isAnchored ? 'bracketed' : 'self-asserted', redacted })
  return { ...verdict, chain: manifest.chain, rules: walked.rules, lanes: lanes.map(({ verified }) => verified) }
}

function malformed(why: string): ExportVerification {
  return { ...verdictOf({ form: failed(why) }), chain: null, rules: null, lanes: [] }
}

interface Lane {
  chain: string
  verified: ExportVerification
}

/** Verifies each lane that the manifest names. Anything but that lane's export counts as malformed. */
async function verifyLanes(manifest: Manifest, source: ExportSource, inputs: VerifyInputs): Promise<Lane[]> {
  const lanes: Lane[] = []
  for (const [number, digest] of Object.entries(manifest.lanes ?? {})) {
    const lane = source.lane(number)
    const chain = laneOf(manifest.chain, Number(number))
    const isExported = lane !== undefined && digestOf(lane.manifest) === digest
    const verified = isExported
      ? await verifyExport(lane, inputs)
      : malformed('Its manifest is not as it was exported.')
    const isOther = verified.chain !== null && verified.chain !== chain
    lanes.push({ chain, verified: isOther ? malformed('It is not the export of this lane.') : verified })
  }
  return lanes
}

function lanesResult(lanes: readonly Lane[]): CheckResult {
  const worst =
    lanes.find(({ verified }) => verified.verdict === 'invalid') ?? lanes.find(({ verified }) => !verified.valid)
  if (worst === undefined) return OK
  const { chain, verified } = worst
  const why = `${chain}: ${verified.reasons.join(' ')}`
  return verified.verdict === 'invalid' ? failed(why) : unknown(why)
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
  /** The tree over the leaves before and in the range; undefined when they do not fit together. */
  leaves: GrowingTree | undefined
  /** The roots of that tree at the requested sizes. */
  trees: TreeHead[]
  ts: string | undefined
  redacted: number
  rules: Judged
}

/** Verifies entries up to the first that does not continue the range. */
async function walkLines(
  { chain, origin, first, end, range }: Manifest,
  source: ExportSource,
  sizes: ReadonlySet<number>,
): Promise<Walked> {
  const leaves = treeOf(first, range.left)
  // Entries before the range, and those of other chains, are not at hand.
  const knows = { own: first === 0, others: chain === SYSTEM_CHAIN }
  const { step, finish } = judging(replay({ chain, knows, records: [], elsewhere: [] }))
  const rules: Judged = { unlawfulEntries: 0, first: null, unjudged: 0 }
  const walked: Walked = {
    segment: undefined,
    openings: undefined,
    leaves,
    trees: [],
    ts: undefined,
    redacted: 0,
    rules,
  }
  const keepTree = (): void => {
    if (leaves !== undefined && sizes.has(leaves.size)) walked.trees.push({ size: leaves.size, root: leaves.root() })
  }
  keepTree()
  const faultOfNext = segmentCheck(origin, chain, first)
  let next = first
  for await (const text of source.lines()) {
    if (next >= end) return { ...walked, segment: 'There are more entries than the range has.' }
    const line = readLine(text)
    const fault = line === undefined ? `Line ${next - first + 1} is not an entry in canonical form.` : faultOfNext(line)
    if (line === undefined || fault !== undefined) return { ...walked, segment: fault }
    walked.openings ??= openingsFault(line)
    if (walked.openings === undefined) step(toldBy(line))
    walked.redacted += Object.keys(line.header.commits).length - Object.keys(line.sections).length
    walked.ts = line.header.ts
    leaves?.append(leafHash(parseDigest(line.hash)))
    keepTree()
    next += 1
  }
  // The chain goes on after a range, so its last commit may be half.
  walked.rules = finish(false)
  if (next !== end) return { ...walked, segment: `Entry ${next} is missing.` }
  return walked
}

function toldBy({ header, sections }: EntryLine): Told {
  const section = (name: string): JsonObject | undefined => {
    const value = Object.hasOwn(sections, name) ? sections[name]?.value : undefined
    return isJsonObject(value) ? value : undefined
  }
  const has = (name: string): boolean => Object.hasOwn(sections, name)
  return { header, section, has, sections: Object.keys(header.commits) }
}

function readLine(text: Uint8Array): EntryLine | undefined {
  if (text.byteLength > MAX_LINE_BYTES) return undefined
  const value = readJson(text, EVIDENCE_JSON)
  if (EntryLineShape.fault(value, '') !== undefined || !equalBytes(utf8(canonicalJson(value)), text)) return undefined
  return value as unknown as EntryLine // as the shape says
}

function openingsFault({ header, sections }: EntryLine): string | undefined {
  for (const [name, { salt, value }] of Object.entries(sections)) {
    if (!opens(header, name, salt, value)) return `Entry ${header.seq}: section ${name} is not what was committed to.`
  }
  return undefined
}

/** The tree of these peaks; undefined when their number does not fit the size. */
function treeOf(size: number, peaks: readonly string[]): GrowingTree | undefined {
  const hashes = peaks.flatMap((hash) => decodeBase64(hash) ?? [])
  return coverOf(0, size).length === hashes.length ? new GrowingTree(size, hashes) : undefined
}

function rangeFault(
  { end, range }: Manifest,
  tree: GrowingTree | undefined,
  checkpoint: Checkpoint,
): string | undefined {
  if (end > checkpoint.size) return 'The range lies outside the tree of the checkpoint.'
  const places = coverOf(end, checkpoint.size)
  if (tree === undefined || tree.size !== end || places.length !== range.right.length)
    return 'The range does not fit into the tree of the checkpoint.'
  for (const [i, { level }] of places.entries()) tree.append(decodeBase64(range.right[i]) ?? new Uint8Array(), level)
  return equalBytes(tree.root(), checkpoint.root) ? undefined : 'The entries do not lead to the root that was signed.'
}
