import { approvalDigest, unboundPath } from '../approvals/approval.ts'
import type { Checkpoint } from '../audit/checkpoint.ts'
import { isIncluded, leafHash } from '../audit/merkle.ts'
import { decodeBase64 } from '../base/bytes.ts'
import { canonicalJson } from '../base/canonical.ts'
import { parseDigest } from '../base/digest.ts'
import { siblingId } from '../base/id.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { attest, type VerifyInputs } from './attestation.ts'
import { BUNDLE_VERSION, type Bundle, BundleShape, type ProvenEntry } from './bundle.ts'
import { checkResultOf, failed, type Verification, verdictOf } from './checks.ts'
import type { HeaderShape } from './fields.ts'
import { checkpointOf } from './note.ts'
import { entryHash, opens, segmentCheck } from './segment.ts'

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
  const { results, isAnchored } = attest(
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
      approval: checkResultOf(approvalFault(bundle, decided, checkpoint)),
      times:
        decided.ts === bundle.decision.timestamp
          ? results.times
          : failed("The decision's time is not that of its entry."),
    },
    { assurance: isAnchored ? 'bracketed' : 'self-asserted', redacted: proof.redacted },
  )
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

/** The fault in the inclusion: the entry's leaf must lead to the root of the checkpoint. */
function inclusionFault(header: HeaderShape, inclusion: readonly string[], checkpoint: Checkpoint): string | undefined {
  const proof = inclusion.flatMap((hash) => decodeBase64(hash) ?? [])
  const leaf = leafHash(parseDigest(entryHash(header)))
  const isProven = proof.length === inclusion.length && isIncluded(leaf, header.seq, checkpoint, proof)
  return isProven ? undefined : `Entry ${header.seq} is not shown to be in the tree of the checkpoint.`
}

/** The fault in the approval of an allowed action: its votes must be for exactly this request, before the decision. */
function approvalFault(
  { decision, context, proof }: Bundle,
  decided: HeaderShape,
  checkpoint: Checkpoint,
): string | undefined {
  const { approval, grounds, redacted } = proof
  const isErased = redacted.includes('approval')
  const isApproved = decision.decision === 'allow' && grounds.decidedBy === 'approval'
  if (!isApproved || isErased) {
    if (approval.length > 0) return 'There are entries of an approval that the decision did not come from.'
    return isErased && !isApproved ? 'There was no approval that could be erased.' : undefined
  }
  let before = -1
  for (const [i, { header, data, salt, inclusion }] of approval.entries()) {
    if (header.chain !== decided.chain || header.seq <= before || header.seq >= decided.seq)
      return 'The entries of the approval are not in order before the decision.'
    before = header.seq
    const fault = inclusionFault(header, inclusion, checkpoint)
    if (fault !== undefined) return fault
    if (!opens(header, 'data', salt, data)) return `Entry ${header.seq} did not commit to what is shown of it.`
    if (header.type !== (i === 0 ? 'approval.requested' : 'approval.approved'))
      return `Entry ${header.seq} is not that of a request for approval, or of a vote.`
    if (data.record !== 'approval' || typeof data.id !== 'string' || data.id !== grounds.approvalId)
      return `Entry ${header.seq} is that of another approval.`
    if (!isJsonObject(data.changes) || data.changes.revision !== i + 1)
      return `Entries of the approval are missing before entry ${header.seq}.`
  }
  const request = redacted.includes('request') ? undefined : context.originalRequest
  return recordFault(merged(approval), decided.chain, grounds, request)
}

/** The record, merged from its entries. */
function merged(entries: readonly ProvenEntry[]): JsonObject {
  const record: JsonObject = Object.create(null)
  for (const { data } of entries) if (isJsonObject(data.changes)) Object.assign(record, data.changes)
  return record
}

function recordFault(
  approval: JsonObject,
  chain: string,
  grounds: Bundle['proof']['grounds'],
  request: JsonObject | undefined,
): string | undefined {
  const { status, votes, quorum, unbound, digest } = approval
  if (status !== 'approved') return 'The approval was not approved when it was used.'
  if (!Array.isArray(votes) || !Number.isSafeInteger(quorum)) return 'The approval has no votes.'
  const principals = votes.map((vote) => (isJsonObject(vote) ? vote.principal : undefined))
  if (!principals.every((principal) => typeof principal === 'string')) return 'A vote of the approval is by nobody.'
  if (Number(quorum) < 1 || new Set(principals).size < Number(quorum))
    return 'The approval has fewer votes than it needs.'
  if (request === undefined) return undefined
  const bound = boundOf(chain, grounds, request)
  const paths = Array.isArray(unbound) ? unbound.map(pathOf) : [undefined]
  if (bound === undefined || !paths.every((path) => path !== undefined))
    return 'What the approval covers cannot be told.'
  return approvalDigest(bound, paths) === digest ? undefined : 'The approval is for another request.'
}

/** The path of a member in `context` or `plan`; undefined for any other. */
function pathOf(text: Json): string[] | undefined {
  const path = typeof text === 'string' && /^(?:context|plan)[.[]/.test(text) ? unboundPath(text) : undefined
  return path?.every((name) => name.isWellFormed()) ? path : undefined
}

function boundOf(chain: string, grounds: Bundle['proof']['grounds'], request: JsonObject) {
  const { action, context = {}, plan = null } = request
  const { caller } = grounds
  const requester = isJsonObject(caller) ? caller.agent : undefined
  if (typeof action !== 'string' || typeof requester !== 'string') return undefined
  if (!isJsonObject(context) || !(plan === null || isJsonObject(plan))) return undefined
  return { chain, action, context, plan, requester }
}

/** True when each header of the bundle is the one stored here; for valid bundles of this instance. @param stored header texts */
export function matchesStored({ proof }: Pick<Bundle, 'proof'>, stored: readonly string[]): boolean {
  return proof.entries.every((header, i) => stored[i] === canonicalJson(header))
}
