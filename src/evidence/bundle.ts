import type { Entry } from '../audit/entry.ts'
import type { Hash } from '../audit/merkle.ts'
import { encodeBase64 } from '../base/bytes.ts'
import type { JsonObject } from '../base/json.ts'
import {
  ActionName,
  Base64Of32,
  Checkpoint,
  Digest,
  HeaderShape,
  Id,
  Origin,
  Path,
  Signatures,
  Time,
} from './fields.ts'
import { anyObject, list, literal, object, type TypeOf, text, unique } from './shape.ts'
import { Certificate, type Rotation, Rotations } from './trust.ts'

export const BUNDLE_VERSION = '1.0'
/** Limit of items; a longer chain is refused unread, since no honest segment has more. */
const MAX_CHAIN_ITEMS = 1024
/** Limit of entries of one approval: the request and its votes. */
const MAX_APPROVAL_ENTRIES = 256

/** Limits of the keys behind an approval, and of the other chains in which some were made. */
const MAX_KEYS = 512
const MAX_BESIDE = 2

/**
 * Parts of a bundle that can be missing. The decision itself and its grounds are never erased; the keys of an approval
 * are missing when one of them was made by an entry that is archived.
 */
export const REDACTABLE = ['request', 'risk', 'approval', 'keys'] as const
export type Redactable = (typeof REDACTABLE)[number]

/** An entry with one section opened, and its own place in the tree. */
const ProvenEntry = object({ header: HeaderShape, data: anyObject, salt: Base64Of32, inclusion: Path })
export type ProvenEntry = TypeOf<typeof ProvenEntry>

export const Decision = text({ pattern: /^(?:allow|deny|require_approval)$/, maxLength: 16 })

/** A trust bundle (docs/evidence.md). Everything but `signatures` is covered by the service's signature. */
export const BundleShape = object(
  {
    bundleId: Id,
    version: text({ maxLength: 16 }),
    decision: object({
      id: Id,
      action: ActionName,
      decision: Decision,
      timestamp: Time,
    }),
    context: object({ originalRequest: anyObject, riskAssessment: anyObject }),
    auditChain: list(object({ hash: Digest, previousHash: Digest }), { min: 1, max: MAX_CHAIN_ITEMS }),
    exportedAt: Time,
    proof: object({
      v: literal(1),
      origin: Origin,
      entries: list(HeaderShape, { min: 1, max: MAX_CHAIN_ITEMS }),
      inclusion: Path,
      checkpoint: Checkpoint,
      grounds: anyObject,
      openings: object(
        { decision: Base64Of32, grounds: Base64Of32 },
        { optional: { request: Base64Of32, risk: Base64Of32 } },
      ),
      approval: list(ProvenEntry, { max: MAX_APPROVAL_ENTRIES }),
      keys: list(ProvenEntry, { max: MAX_KEYS }),
      beside: list(Checkpoint, { max: MAX_BESIDE }),
      certificate: Certificate,
      rotations: Rotations,
      redacted: unique(
        list(text({ pattern: /^(?:request|risk|approval|keys)$/, maxLength: 16 }), { max: REDACTABLE.length }),
      ),
    }),
    signatures: Signatures,
  },
  { title: 'TrustBundle' },
)

export type Bundle = TypeOf<typeof BundleShape>
export type UnsignedBundle = Omit<Bundle, 'signatures'>

/** An entry with its path in the tree. */
export interface Placed {
  entry: Entry
  inclusion: readonly Hash[]
}

export interface BundleInput {
  bundleId: string
  origin: string
  exportedAt: string
  /** The decision's entry, and the previous one. */
  decided: Placed
  previous: Entry | undefined
  /** The entries of the approval behind the decision, in order; undefined when they have been erased. */
  approval: readonly Placed[] | undefined
  /** The keys behind the approval; undefined when one of them was made by an entry that is gone. */
  keys: readonly Placed[] | undefined
  /** Checkpoints of the other chains in which some of them were made. */
  beside: readonly string[]
  checkpoint: string
  certificate: Certificate
  rotations: readonly Rotation[]
}

/** The decision with its proof. Missing parts are listed as erased; the caller must know that they lawfully are. */
export function buildBundle(input: BundleInput): UnsignedBundle {
  const { decided, previous, approval, certificate, rotations } = input
  const segment = previous === undefined ? [decided.entry] : [previous, decided.entry]
  const open = (name: string): Opened | undefined => openedSection(decided.entry, name)
  const [decision, grounds, request, risk] = [open('decision'), open('grounds'), open('request'), open('risk')]
  if (decision === undefined || grounds === undefined) throw new TypeError('a decision or its grounds are missing')
  // Without an approval, there are no keys that could be missing.
  const keys = approval === undefined ? [] : input.keys
  const present: Readonly<Record<Redactable, unknown>> = { request, risk, approval, keys }
  return {
    bundleId: input.bundleId,
    version: BUNDLE_VERSION,
    // The entry of a decision commits to this form.
    decision: decision.value as Bundle['decision'],
    context: { originalRequest: request?.value ?? {}, riskAssessment: risk?.value ?? {} },
    auditChain: segment.map(({ hash, header }) => ({ hash, previousHash: header.prev })),
    exportedAt: input.exportedAt,
    proof: {
      v: 1,
      origin: input.origin,
      entries: segment.map(({ header }) => header),
      inclusion: decided.inclusion.map(encodeBase64),
      checkpoint: input.checkpoint,
      grounds: grounds.value,
      openings: {
        decision: decision.salt,
        grounds: grounds.salt,
        ...(request && { request: request.salt }),
        ...(risk && { risk: risk.salt }),
      },
      approval: (approval ?? []).map(provenEntry),
      keys: (keys ?? []).map(provenEntry),
      beside: [...input.beside],
      certificate,
      rotations: [...rotations],
      redacted: REDACTABLE.filter((name) => present[name] === undefined),
    },
  }
}

function provenEntry({ entry, inclusion }: Placed): ProvenEntry {
  const data = openedSection(entry, 'data')
  if (data === undefined) throw new TypeError('the data of an approval is missing')
  return { header: entry.header, data: data.value, salt: data.salt, inclusion: inclusion.map(encodeBase64) }
}

interface Opened {
  value: JsonObject
  salt: string
}

/** The content of a section and its salt in base64; undefined when it has been erased. */
export function openedSection({ sections }: Entry, name: string): Opened | undefined {
  const section = sections.find((candidate) => candidate.name === name)
  return section && { value: JSON.parse(section.json), salt: encodeBase64(section.salt) }
}
