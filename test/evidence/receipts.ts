import assert from 'node:assert/strict'
import { sha256Hex, utf8 } from '../../src/base/bytes.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { sha256Hex as sha256HexInBrowser } from '../../src/client/verify/bytes.ts'
import { verifySignature as verifyInBrowser } from '../../src/client/verify/ed25519.ts'
import { verifySignature } from '../../src/evidence/ed25519.ts'
import { vectorLines } from '../base/vectors.ts'

/** The files of one vector, by name: the text as it was published. */
export interface Vector {
  name: string
  files: Readonly<Record<string, string>>
}

/** The vectors of a file, one a line; testdata/vectors/receipts/SOURCE.md says where they come from. */
export function vectorsOf(file: string): Vector[] {
  return vectorLines(`receipts/${file}`).map((line) => JSON.parse(line) as Vector)
}

/** Returns the parsed content of a vector's file, in the form of its format. */
export function contentOf<T>({ name, files }: Vector, file: string): T {
  const text = files[file]
  if (text === undefined) throw new Error(`${name} has no ${file}`)
  return JSON.parse(text) as T
}

/** Fault of a receipt, in the term of its format; empty when there is none. */
export type Reason = string

/** Reader of each format; returns undefined for a receipt that is signed by another algorithm than Ed25519. */
export const READERS: Record<string, (vector: Vector) => Reason | undefined> = {
  'asqav-native': readAsqav,
  aerf: (vector) => readAerf(vector, canonicalJson),
  acta: readActa,
  agentreceipts: readAgentReceipt,
  'pipelock-evidence-v2': readPipelock,
}

/** Returns whether Node and the browser accept the signature; fails when they differ. @param key, signature base64 */
export function areSigned(bytes: Uint8Array, key: string, signature: string): boolean {
  const isSigned = verifySignature(bytes, key, signature)
  assert.equal(verifyInBrowser(bytes, key, signature), isSigned, 'the browser says otherwise')
  return isSigned
}

export function isSigned(value: unknown, key: string, signature: string): boolean {
  return areSigned(utf8(canonicalJson(value)), key, signature)
}

/** SHA-256 of the canonical text, in hexadecimal digits. */
export function hashOf(value: unknown): string {
  return hashOfText(canonicalJson(value))
}

/** As Node and the browser both compute it. */
function hashOfText(text: string): string {
  const digest = sha256Hex(text)
  assert.equal(sha256HexInBrowser(text), digest, 'the browser says otherwise')
  return digest
}

export function without<T extends object>(value: T, ...names: string[]): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) as Partial<T>
}

export function fromHex(digits = ''): string {
  return Buffer.from(digits, 'hex').toString('base64')
}

export function fromBase64url(text: string): string {
  return Buffer.from(text, 'base64url').toString('base64')
}

interface AsqavKey {
  kid: string
  agent_id?: string
  org_id?: string
  status: string
  public_key: string
}
interface AsqavReceipt {
  payload: { previousReceiptHash: string } | null
  signature: { alg: string; kid: string; sig: string }
}
/** In the mode `hash` there is no payload, and the members beside it are what is signed. */
interface AsqavHashReceipt {
  algorithm: string
  agent_id: string
  org_id: string
  signature_b64: string
}
const ASQAV_UNSIGNED = ['payload', 'algorithm', 'key_id', 'signature_b64', 'anchors']

function readAsqav(vector: Vector): Reason | undefined {
  const { payload, signature } = contentOf<AsqavReceipt>(vector, 'receipt.json')
  const { keys } = contentOf<{ keys: AsqavKey[] }>(vector, 'jwks.json')
  if (payload === null) {
    const receipt = contentOf<AsqavHashReceipt>(vector, 'receipt.json')
    if (receipt.algorithm !== 'Ed25519') return undefined
    const key = keys.find(({ agent_id, org_id }) => agent_id === receipt.agent_id && org_id === receipt.org_id)
    const signed = without(receipt, ...ASQAV_UNSIGNED)
    return isSigned(signed, key?.public_key ?? '', receipt.signature_b64) ? '' : 'issuer_signature'
  }
  if (signature.alg !== 'Ed25519') return undefined
  const key = keys.find(({ kid }) => kid === signature.kid)
  if (!isSigned(payload, key?.public_key ?? '', signature.sig)) return 'issuer_signature'
  if (key?.status !== 'active') return 'key_revoked'
  const before = 'predecessor.json' in vector.files && contentOf<AsqavReceipt>(vector, 'predecessor.json')
  const link = before === false ? '0'.repeat(64) : hashOf(before.payload)
  return payload.previousReceiptHash === link ? '' : 'chain'
}

interface AerfReceipt {
  key_id: string
  signature: string
  previous_receipt_hash?: string
  impact_tags?: string[]
  parent_key_id?: string
  parent_signature?: string
  pdp_key_id?: string
  pdp_signature?: string
  context_hash_sha256?: string
  in_policy: boolean
  policy_hash?: string
}

/** Issuer and parent sign the receipt without their signatures; a decision point signs its verdict. */
export function readAerf(vector: Vector, textOf: (value: unknown) => string): Reason {
  const receipt = contentOf<AerfReceipt>(vector, 'receipt.json')
  const keys = contentOf<Record<string, string>>(vector, 'keys.json')
  const signedPart = (of: AerfReceipt): object => without(of, 'signature', 'parent_signature', 'parent_key_id')
  const isBy = (value: object, keyId = '', signature = ''): boolean =>
    areSigned(utf8(textOf(value)), fromHex(keys[keyId]), fromHex(signature))
  const { key_id, signature, impact_tags = [], parent_key_id, parent_signature, pdp_key_id, pdp_signature } = receipt
  const before = 'predecessor.json' in vector.files && contentOf<AerfReceipt>(vector, 'predecessor.json')
  const link = before === false ? undefined : hashOfText(textOf(signedPart(before)))
  if (receipt.previous_receipt_hash !== link) return 'chain'
  if (!isBy(signedPart(receipt), key_id, signature)) return 'issuer_signature'
  if (impact_tags.length > 0 && !isBy(signedPart(receipt), parent_key_id, parent_signature)) return 'parent_signature'
  const { context_hash_sha256, in_policy, policy_hash } = receipt
  if (pdp_signature !== undefined && !isBy({ context_hash_sha256, in_policy, policy_hash }, pdp_key_id, pdp_signature))
    return 'pdp_signature'
  return ''
}

interface ActaReceipt {
  payload: { previousReceiptHash?: string }
  signature: { kid: string; sig: string }
}

function readActa(vector: Vector): Reason {
  const { payload, signature } = contentOf<ActaReceipt>(vector, 'receipt.json')
  const { keys } = contentOf<{ keys: { kid: string; x: string }[] }>(vector, 'acta-keys.json')
  const key = keys.find(({ kid }) => kid === signature.kid)
  if (!isSigned(payload, fromBase64url(key?.x ?? ''), fromHex(signature.sig))) return 'sig_mismatch'
  const before = 'predecessor.json' in vector.files && contentOf<ActaReceipt>(vector, 'predecessor.json')
  const link = before === false ? undefined : hashOf(before)
  return payload.previousReceiptHash === link ? '' : 'chain'
}

interface AgentReceipt {
  credentialSubject: { chain: { previous_receipt_hash?: string | null } }
  proof: { type: string; verificationMethod: string; proofValue: string }
}

function readAgentReceipt(vector: Vector): Reason {
  const receipt = contentOf<AgentReceipt>(vector, 'receipt.json')
  const { proof } = receipt
  const link = receipt.credentialSubject.chain.previous_receipt_hash
  if (proof.type !== 'Ed25519Signature2020' || link === undefined) return 'schema'
  const key = keyOfDid(vector, proof.verificationMethod.split('#')[0] ?? '')
  const signature = proof.proofValue.startsWith('u') ? fromBase64url(proof.proofValue.slice(1)) : ''
  if (!isSigned(without(receipt, 'proof'), key, signature)) return 'issuer_signature'
  const before = 'predecessor.json' in vector.files && contentOf<AgentReceipt>(vector, 'predecessor.json')
  return link === (before === false ? null : `sha256:${hashOf(without(before, 'proof'))}`) ? '' : 'chain'
}

function keyOfDid(vector: Vector, did: string): string {
  if (did.startsWith('did:key:')) return keyOfDidKey(did)
  return fromHex(contentOf<Record<string, string>>(vector, 'did_map.json')[did])
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The key of a `did:key` for Ed25519: base58 of the bytes ed01 and the 32 of the key. */
export function keyOfDidKey(did: string): string {
  let number = 0n
  for (const digit of did.slice('did:key:z'.length)) number = number * 58n + BigInt(BASE58.indexOf(digit))
  const digits = number.toString(16)
  return digits.startsWith('ed01') ? fromHex(digits.slice(4)) : ''
}

interface PipelockReceipt {
  chain_prev_hash: string
  signature: { signer_key_id: string; signature: string }
}

/** Reads a Pipelock receipt, whose signed text includes the members of its signature, each of them empty. */
function readPipelock(vector: Vector): Reason {
  const receipt = contentOf<PipelockReceipt>(vector, 'receipt.json')
  const keys = contentOf<Record<string, string>>(vector, 'keys.json')
  const { signer_key_id, signature } = receipt.signature
  const emptied = Object.fromEntries(Object.keys(receipt.signature).map((name) => [name, '']))
  const digits = signature.startsWith('ed25519:') ? signature.slice('ed25519:'.length) : ''
  if (!isSigned({ ...receipt, signature: emptied }, fromHex(keys[signer_key_id]), fromHex(digits)))
    return 'issuer_signature'
  return receipt.chain_prev_hash === 'sha256:0' ? '' : 'chain'
}
