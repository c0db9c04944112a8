import { decodeBase64, encodeBase64, utf8 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import { digestOf } from '../base/digest.ts'
import { GateError } from '../base/errors.ts'
import { isJsonObject, type Json, type JsonLimits, parseJson, readJson } from '../base/json.ts'
import { Digest, Signature } from './fields.ts'
import { list, literal, object, type TypeOf, text } from './shape.ts'
import { STATEMENT_TYPES, type StatementKind } from './statement.ts'

/** How documents of evidence are read (docs/evidence.md, Notation). */
export const EVIDENCE_JSON = { maxDepth: 64, rounds: true } as const satisfies JsonLimits
/** Characters of the payload: 8 MiB of a bundle, in base64. */
const MAX_PAYLOAD = 12_000_000

/** The value of a text of evidence; `why` says what makes it none. */
export function readEvidence(text: Uint8Array | string): { claimed: Json } | { why: string } {
  try {
    return { claimed: parseJson(text, EVIDENCE_JSON) }
  } catch (error) {
    if (error instanceof GateError) return { why: `This cannot be read: ${error.message}` }
    throw error
  }
}

/** An envelope of DSSE v1 around a bundle. */
export const EnvelopeShape = object(
  {
    payloadType: literal(STATEMENT_TYPES.bundle),
    payload: text({ maxLength: MAX_PAYLOAD }),
    signatures: list(object({ keyid: Digest, sig: Signature }), { min: 1, max: 1 }),
  },
  { title: 'Envelope' },
)
export type Envelope = TypeOf<typeof EnvelopeShape>

export function envelopeOf(
  kind: StatementKind & 'bundle',
  statement: object,
  publicKey: string,
  sig: string,
): Envelope {
  const payload = encodeBase64(utf8(canonicalJson(statement)))
  const keyid = digestOf(decodeBase64(publicKey) ?? '')
  return { payloadType: STATEMENT_TYPES[kind], payload, signatures: [{ keyid, sig }] }
}

/**
 * The bundle of an envelope, unverified; any other value unchanged, which is not a bundle. The signing key must be that
 * of the certificate, under the named digest.
 *
 * @param maxValues limit of JSON values in the payload; beyond it there is no bundle
 */
export function bundleOfEnvelope(claimed: unknown, maxValues?: number): unknown {
  if (EnvelopeShape.fault(claimed, '') !== undefined) return claimed
  const { payload, signatures } = claimed as Envelope // as the shape says
  const bytes = decodeBase64(payload)
  const [signature] = signatures
  if (bytes === undefined || signature === undefined) return claimed
  const statement = readJson(bytes, { ...EVIDENCE_JSON, ...(maxValues !== undefined && { maxValues }) })
  if (!isJsonObject(statement) || encodeBase64(utf8(canonicalJson(statement))) !== payload) return claimed
  // A member `signatures` would be replaced below, and was not signed.
  if (Object.hasOwn(statement, 'signatures')) return claimed
  const publicKey = certifiedKey(statement)
  if (publicKey === undefined || digestOf(decodeBase64(publicKey) ?? '') !== signature.keyid) return claimed
  return { ...statement, signatures: { service: { algorithm: 'ed25519', publicKey, signature: signature.sig } } }
}

function certifiedKey({ proof }: { [member: string]: unknown }): string | undefined {
  const certificate = isJsonObject(proof) ? proof.certificate : undefined
  const statement = isJsonObject(certificate) ? certificate.statement : undefined
  const publicKey = isJsonObject(statement) ? statement.publicKey : undefined
  return typeof publicKey === 'string' ? publicKey : undefined
}
