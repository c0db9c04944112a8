import { commitment, genesisHead, type Head } from '../audit/chain.ts'
import { entryFault, headOf } from '../audit/verify.ts'
import { canonicalJson } from '../base/canonical.ts'
import { decodeBase64, equalBytes } from '../base/digest.ts'
import { siblingId } from '../base/id.ts'
import { faultFinder } from '../base/schema.ts'
import { parseTimestamp } from '../base/time.ts'
import { BUNDLE_VERSION, type Bundle, BundleSchema } from './bundle.ts'
import { ALGORITHM, signedBytes, verifySignature } from './sign.ts'

/** Another machine's clock may be ahead of ours by this much. */
const CLOCK_SKEW_MS = 300_000
const SIGNATURE_BYTES = 64

/** What the verifier holds true before it reads the bundle. */
export interface Trust {
  /** Base64 public keys, pinned. A key that only the bundle names is worth nothing. */
  publicKeys: readonly string[]
  nowMs: number
}

export interface Verification {
  valid: boolean
  signatureValid: boolean
  chainValid: boolean
  timestampValid: boolean
  /** One sentence for each check that failed. */
  reasons: string[]
}

const findFault = faultFinder(BundleSchema)

/** Checks a bundle without any server. What cannot be checked, or is no bundle, is not valid. */
export function verifyBundle(claimed: unknown, trust: Trust): Verification {
  const fault = findFault(claimed)
  if (fault !== undefined) {
    const reasons = [`This is not a bundle: ${fault.path} ${fault.message}.`]
    return { valid: false, signatureValid: false, chainValid: false, timestampValid: false, reasons }
  }
  const bundle = claimed as Bundle // as findFault says
  const signature = signatureFault(bundle, trust)
  const chain = chainFault(bundle)
  const timestamp = timestampFault(bundle, trust)
  return {
    valid: signature === undefined && chain === undefined && timestamp === undefined,
    signatureValid: signature === undefined,
    chainValid: chain === undefined,
    timestampValid: timestamp === undefined,
    reasons: [signature, chain, timestamp].filter((fault) => fault !== undefined),
  }
}

function signatureFault(bundle: Bundle, trust: Trust): string | undefined {
  const { signatures, ...unsigned } = bundle
  const service = signatures.service
  if (bundle.version !== BUNDLE_VERSION) return `Bundles of version ${bundle.version} are not known here.`
  if (service === undefined) return 'There is no signature of the service.'
  if (service.algorithm !== ALGORITHM) return `The algorithm ${service.algorithm} is not accepted.`
  if (!trust.publicKeys.includes(service.publicKey)) return 'The signing key is not one of the pinned keys.'
  // Before the whole bundle is brought into canonical form to be signed.
  if (decodeBase64(service.signature)?.byteLength !== SIGNATURE_BYTES) return 'The signature is malformed.'
  if (!verifySignature(signedBytes(unsigned), service.publicKey, service.signature))
    return 'The signature does not fit the bundle.'
  return undefined
}

function chainFault(bundle: Bundle): string | undefined {
  const { auditChain, proof } = bundle
  const first = proof.entries[0]
  if (first === undefined || auditChain.length !== proof.entries.length)
    return 'The chain segment is empty or incomplete.'
  let previous: Head =
    first.seq === 0
      ? genesisHead(proof.origin, first.chain)
      : { seq: first.seq - 1, hash: first.prev, tsMs: parseTimestamp(first.ts) ?? 0 }
  for (const [i, header] of proof.entries.entries()) {
    const item = auditChain[i]
    if (item === undefined || item.previousHash !== header.prev) return 'The chain segment does not match its headers.'
    const entry = { header, hash: item.hash, headerText: canonicalJson(header), sections: [] }
    const fault = entryFault(first.chain, previous, entry, { sections: false })
    if (fault !== undefined) return `Entry ${fault.seq}: ${fault.what}.`
    previous = headOf(entry)
  }
  return openingFault(bundle)
}

/** The decision, request, risk and grounds shown must be those that the decision's entry committed to. */
function openingFault({ decision, context, proof }: Bundle): string | undefined {
  const header = proof.entries[proof.index]
  if (header === undefined || header.type !== 'gate.decision') return 'The proof names no decision entry.'
  if (header.id !== siblingId(decision.id, 'entry')) return 'The entry is that of another decision.'
  const shown = { decision, request: context.originalRequest, risk: context.riskAssessment, grounds: proof.grounds }
  for (const name of ['decision', 'request', 'risk', 'grounds'] as const) {
    const salt = decodeBase64(proof.openings[name])
    const committed = header.commits[name]
    if (salt?.byteLength !== 32 || committed === undefined) return `The ${name} cannot be opened.`
    const computed = commitment({ name, salt, json: canonicalJson(shown[name]) })
    if (!equalBytes(Buffer.from(computed), Buffer.from(committed)))
      return `The ${name} is not what the entry committed to.`
  }
  return undefined
}

function timestampFault({ decision, exportedAt, proof }: Bundle, { nowMs }: Trust): string | undefined {
  const exported = parseTimestamp(exportedAt)
  const decided = parseTimestamp(decision.timestamp)
  if (exported === undefined || decided === undefined) return 'A timestamp is malformed.'
  if (proof.entries[proof.index]?.ts !== decision.timestamp) return "The decision's time is not that of its entry."
  if (proof.entries.some((header) => (parseTimestamp(header.ts) ?? Number.POSITIVE_INFINITY) > exported)) {
    return 'An entry is later than the export.'
  }
  if (exported > nowMs + CLOCK_SKEW_MS) return 'The export lies in the future.'
  return undefined
}

/** True when each header of the bundle is the one stored here; for valid bundles of this instance. @param stored header texts */
export function matchesStored(bundle: Bundle, stored: readonly string[]): boolean {
  return bundle.proof.entries.every((header, i) => stored[i] === canonicalJson(header))
}
