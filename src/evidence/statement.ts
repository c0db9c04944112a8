import { utf8 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import { verifySignature } from './ed25519.ts'

/** Statements and the types under which they are signed: a signature of one type is invalid for another. */
export const STATEMENT_TYPES = {
  bundle: 'application/vnd.gate-sidecar.trust-bundle.v1+json',
  change: 'application/vnd.gate-sidecar.policy-change.v1+json',
  certificate: 'application/vnd.gate-sidecar.key-certificate.v1+json',
  export: 'application/vnd.gate-sidecar.export.v1+json',
  prune: 'application/vnd.gate-sidecar.prune.v1+json',
  rotation: 'application/vnd.gate-sidecar.key-rotation.v1+json',
} as const
export type StatementKind = keyof typeof STATEMENT_TYPES

/** The pre-authentication encoding of DSSE v1 over the canonical JSON of a statement. */
export function signedBytes(kind: StatementKind, statement: object): Uint8Array {
  const type = STATEMENT_TYPES[kind]
  const payload = canonicalJson(statement)
  return utf8(`DSSEv1 ${type.length} ${type} ${utf8(payload).byteLength} ${payload}`)
}

export function isSignedBy(publicKey: string, kind: StatementKind, statement: object, signature: string): boolean {
  return verifySignature(signedBytes(kind, statement), publicKey, signature)
}
