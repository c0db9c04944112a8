import { anyObject, count, list, literal, object, record, type Shape, type TypeOf, text } from './shape.ts'

/** What the documents of evidence are made of. Times and base64 are of the right form only; their values are checked where they count. */
export const Time = text({ pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, maxLength: 24 })
export const Digest = text({ pattern: /^sha256:[0-9a-f]{64}$/, maxLength: 71 })
/** 32 bytes in base64: a public key, a salt, or a hash of the tree. */
export const Base64Of32 = text({ pattern: /^[A-Za-z0-9+/]{43}=$/, maxLength: 44 })
export const Signature = text({ pattern: /^[A-Za-z0-9+/]{86}==$/, maxLength: 88 })
export const Origin = text({ maxLength: 64 })
export const Id = text({ maxLength: 64 })
export const Checkpoint = text({ maxLength: 16_384 })
/** A tree of 2^53 leaves has no longer path. */
export const Path = list(Base64Of32, { max: 64 })

export const HeaderShape = object({
  chain: text({ maxLength: 256 }),
  commits: record(Digest, { max: 8 }),
  id: Id,
  prev: Digest,
  seq: count,
  ts: Time,
  type: text({ maxLength: 256 }),
  v: literal(1),
})
export type HeaderShape = TypeOf<typeof HeaderShape>

export const ServiceSignature = object({
  algorithm: text({ maxLength: 32 }),
  publicKey: Base64Of32,
  signature: Signature,
})

/** Those of the service, and of whom else it may concern: what theirs look like is theirs. */
export const Signatures: Shape<{ service: TypeOf<typeof ServiceSignature> }> = {
  schema: {
    type: 'object',
    properties: { service: ServiceSignature.schema },
    required: ['service'],
    additionalProperties: anyObject.schema,
    maxProperties: 16,
  },
  fault(value, at) {
    const fault = record(anyObject, { max: 16 }).fault(value, at)
    if (fault !== undefined) return fault
    return ServiceSignature.fault((value as Record<string, unknown>).service, `${at}/service`)
  },
}
