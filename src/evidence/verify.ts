import { siblingId } from '../base/id.ts'
import { approvalFault } from './approval.ts'
import { attest, type VerifyInputs } from './attestation.ts'
import { BUNDLE_VERSION, type Bundle, BundleShape, Decision } from './bundle.ts'
import { checkResultOf, failed, type Verification, verdictOf } from './checks.ts'
import { bundleOfEnvelope, readEvidence } from './envelope.ts'
import type { HeaderShape } from './fields.ts'
import { checkpointOf } from './note.ts'
import { claimsPolicyChange, verifyPolicyChange } from './policy-change.ts'
import { inclusionFault } from './proven.ts'
import { opens, segmentCheck } from './segment.ts'

/**
 * Verifies a bundle without any server (docs/evidence.md, Verifying a bundle). A value that cannot be checked is not
 * valid.
 */
export function verifyBundle(claimed: unknown, inputs: VerifyInputs): Verification {
  const fault = BundleShape.fault(claimed, '')
  if (fault !== undefined) return verdictOf({ form: failed(`This is not a bundle: ${fault}.`) })
  const bundle = claimed as Bundle // as the shape says
  if (bundle.version !== BUNDLE_VERSION)
    return verdictOf({ form: failed(`Bundles of version ${bundle.version} are not known here.`) })
  const { signatures, ...unsigned } = bundle
  const { proof } = bundle
  const decided = proof.entries.at(-1)
  if (decided === undefined) return verdictOf({ form: failed('This is not a bundle: there is no entry.') })
  const { origin, certificate, rotations } = proof
  const checkpoint = checkpointOf(proof.checkpoint)
  const beside = proof.beside.map(checkpointOf)
  const { results, isAnchored, signedBeside } = attest(
    {
      origin,
      certificate,
      rotations,
      kind: 'bundle',
      unsigned,
      signature: signatures.service,
      chain: decided.chain,
      exportedAt: bundle.exportedAt,
      checkpoint,
      beside,
      ts: decided.ts,
      earlier: [],
    },
    inputs,
  )
  return verdictOf(
    {
      form: checkResultOf(undefined),
      ...results,
      segment: checkResultOf(segmentFault(bundle)),
      openings: checkResultOf(openingFault(bundle, decided)),
      inclusion: checkResultOf(inclusionFault(decided, proof.inclusion, checkpoint)),
      approval: checkResultOf(approvalFault(bundle, decided, checkpoint, signedBeside)),
      times:
        decided.ts === bundle.decision.timestamp
          ? results.times
          : failed("The decision's time is not that of its entry."),
    },
    { assurance: isAnchored ? 'bracketed' : 'self-asserted', redacted: proof.redacted, observed: observedIn(bundle) },
  )
}

/** The decision of policies that were only observed. The form of the grounds is open: anything may stand there. */
function observedIn({ proof: { grounds } }: Bundle): string | undefined {
  const { observed } = grounds
  return Decision.fault(observed, '') === undefined ? (observed as string) : undefined
}

/** Verifies the text of evidence, or of the envelope of a bundle: parsing it elsewhere would merge two members of one name. */
export function verifyBundleText(text: Uint8Array | string, inputs: VerifyInputs): Verification {
  const read = readEvidence(text)
  if ('why' in read) return verdictOf({ form: failed(read.why) })
  const { claimed } = read
  return claimsPolicyChange(claimed)
    ? verifyPolicyChange(claimed, inputs)
    : verifyBundle(bundleOfEnvelope(claimed), inputs)
}

/** The fault in the segment: entries of one chain without gaps, each with its listed hash. */
function segmentFault({ auditChain, proof }: Bundle): string | undefined {
  const [first] = proof.entries
  if (first === undefined || auditChain.length !== proof.entries.length)
    return 'The chain segment and its headers differ in length.'
  const faultOfNext = segmentCheck(proof.origin, first.chain, first.seq)
  for (const [i, header] of proof.entries.entries()) {
    const item = auditChain[i]
    if (item === undefined || item.previousHash !== header.prev) return 'The chain segment does not match its headers.'
    const fault = faultOfNext({ header, hash: item.hash })
    if (fault !== undefined) return fault
  }
  return undefined
}

const SECTIONS = ['decision', 'grounds', 'request', 'risk'] as const

/**
 * The fault in the openings: decision, request, risk and grounds must match the commitments of the decision's entry.
 */
function openingFault({ decision, context, proof }: Bundle, header: HeaderShape): string | undefined {
  if (header.type !== 'gate.decision') return 'The last entry is not that of a decision.'
  if (!decision.id.startsWith('dec_') || header.id !== siblingId(decision.id, 'entry'))
    return 'The entry is that of another decision.'
  if (Object.keys(header.commits).sort().join() !== SECTIONS.join()) return 'The entry has other sections.'
  const shown = { decision, request: context.originalRequest, risk: context.riskAssessment, grounds: proof.grounds }
  for (const name of SECTIONS) {
    const salt = proof.openings[name]
    const isRedacted = proof.redacted.includes(name)
    if (isRedacted !== (salt === undefined)) return `The ${name} is said to be erased and shown, or neither.`
    if (salt === undefined ? Object.keys(shown[name]).length > 0 : !opens(header, name, salt, shown[name]))
      return `The ${name} is not what the entry committed to.`
  }
  return undefined
}
