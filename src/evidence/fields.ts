import { ACTION_PATTERN } from '../base/glob.ts'
import { parseTimestamp } from '../base/time.ts'
import { CHAIN, MAX_NOTE_BYTES, ORIGIN, parseCheckpointNote } from './note.ts'
import { anyObject, count, list, literal, object, record, type Shape, type TypeOf, text, where } from './shape.ts'

/** Common members of evidence documents (docs/evidence.md, Forms). */

const MOMENT =
  /^(?:19[7-9]|[2-9][0-9]{2})[0-9]-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/
/** Times from 1970 on: they compare as texts, and every reader's clock can represent them. */
export const Time = where(
  text({ pattern: MOMENT, maxLength: 24 }),
  (time) => parseTimestamp(time) !== undefined,
  'a time of a real day',
  { format: 'date-time' },
)
export const Digest = text({ pattern: /^sha256:[0-9a-f]{64}$/, maxLength: 71 })
/** 32 bytes in canonical base64: a public key, a salt, or a hash of the tree. */
export const Base64Of32 = text({ pattern: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, maxLength: 44 })
/** 64 bytes in canonical base64. */
export const Signature = text({ pattern: /^[A-Za-z0-9+/]{85}[AQgw]==$/, maxLength: 88 })
export const Origin = text({ pattern: ORIGIN, maxLength: 64 })
export const Chain = text({ pattern: CHAIN, maxLength: 256 })
export const Id = text({ pattern: /^[a-z]{3}_[0-9a-z]{1,60}$/, maxLength: 64 })
/** Names of actions, and of entries, which have the same form. */
export const ActionName = text({ pattern: new RegExp(ACTION_PATTERN), maxLength: 128 })
export const Checkpoint = where(
  text({ maxLength: MAX_NOTE_BYTES }),
  (note) => parseCheckpointNote(note) !== undefined,
  'a checkpoint',
)
/** Limit of a path: a tree of 2^53 leaves has no longer one. */
export const Path = list(Base64Of32, { max: 64 })

/** Sections by their names. */
export function sections<T>(section: Shape<T>): Shape<Record<string, T>> {
  return record(section, { max: 8, name: /^[a-z]{1,32}$/ })
}

export const HeaderShape = object({
  chain: Chain,
  commits: sections(Digest),
  id: Id,
  prev: Digest,
  seq: count,
  ts: Time,
  type: ActionName,
  v: literal(1),
})
export type HeaderShape = TypeOf<typeof HeaderShape>

export const ServiceSignature = object({
  algorithm: text({ maxLength: 32 }),
  publicKey: Base64Of32,
  signature: Signature,
})

/** The service's signature, and those of others, whose form is their own. */
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
