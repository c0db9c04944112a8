import { type Static, Type } from '#typebox'
import type { Entry, StoredEntry } from '../audit/chain.ts'

export const BUNDLE_VERSION = '0.1'
/** More items than this are refused unread: no honest segment is longer. */
export const MAX_CHAIN_ITEMS = 1024

const Digest = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })
const Timestamp = Type.String({ maxLength: 24 })
const Base64 = Type.String({ maxLength: 128 })
const Closed = { additionalProperties: false }
const AnyObject = Type.Record(Type.String(), Type.Unknown())

const HeaderSchema = Type.Object(
  {
    chain: Type.String(),
    commits: Type.Record(Type.String(), Digest),
    id: Type.String(),
    prev: Digest,
    seq: Type.Integer({ minimum: 0 }),
    ts: Timestamp,
    type: Type.String(),
    v: Type.Literal(1),
  },
  Closed,
)

const SignatureSchema = Type.Object({ algorithm: Type.String(), publicKey: Base64, signature: Base64 }, Closed)

/** A trust bundle (docs/format.md). Everything but `signatures` is covered by each signature. */
export const BundleSchema = Type.Object(
  {
    bundleId: Type.String(),
    version: Type.String(),
    decision: Type.Object(
      { id: Type.String(), action: Type.String(), decision: Type.String(), timestamp: Timestamp },
      Closed,
    ),
    context: Type.Object({ originalRequest: AnyObject, riskAssessment: AnyObject }, Closed),
    auditChain: Type.Array(Type.Object({ hash: Digest, previousHash: Digest }, Closed), { maxItems: MAX_CHAIN_ITEMS }),
    exportedAt: Timestamp,
    proof: Type.Object(
      {
        v: Type.Literal(1),
        origin: Type.String(),
        entries: Type.Array(HeaderSchema, { maxItems: MAX_CHAIN_ITEMS }),
        index: Type.Integer({ minimum: 0 }),
        grounds: AnyObject,
        openings: Type.Object({ decision: Base64, request: Base64, risk: Base64, grounds: Base64 }, Closed),
      },
      Closed,
    ),
    signatures: Type.Record(Type.String(), SignatureSchema),
  },
  { ...Closed, title: 'TrustBundle' },
)

export type Bundle = Static<typeof BundleSchema>
export type UnsignedBundle = Omit<Bundle, 'signatures'>

export interface BundleInput {
  bundleId: string
  origin: string
  exportedAt: string
  /** Contiguous entries of one chain, the decision's among them. */
  segment: readonly StoredEntry[]
  /** The id of the decision's entry. */
  entryId: string
}

/** The decision with what proves it; undefined when a section has been erased. */
export function buildBundle(input: BundleInput): UnsignedBundle | undefined {
  const { bundleId, origin, exportedAt, segment, entryId } = input
  const index = segment.findIndex((entry) => entry.header.id === entryId)
  const entry = segment[index]
  if (entry === undefined) throw new TypeError('the segment does not hold the decision')
  const [decision, request, risk, grounds] = (['decision', 'request', 'risk', 'grounds'] as const).map((name) =>
    opened(entry, name),
  )
  if (!decision || !request || !risk || !grounds) return undefined
  return {
    bundleId,
    version: BUNDLE_VERSION,
    decision: decision.value as Bundle['decision'],
    context: { originalRequest: request.value, riskAssessment: risk.value },
    auditChain: segment.map(({ hash, header }) => ({ hash, previousHash: header.prev })),
    exportedAt,
    proof: {
      v: 1,
      origin,
      entries: segment.map(({ header }) => header),
      index,
      grounds: grounds.value,
      openings: { decision: decision.salt, request: request.salt, risk: risk.salt, grounds: grounds.salt },
    },
  }
}

function opened(entry: Entry, name: string): { value: Record<string, unknown>; salt: string } | undefined {
  const section = entry.sections.find((candidate) => candidate.name === name)
  if (section === undefined) return undefined
  return { value: JSON.parse(section.json), salt: Buffer.from(section.salt).toString('base64') }
}
