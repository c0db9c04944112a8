import type { Static } from '#typebox'
import { canonicalJson } from '../../base/canonical.ts'
import { type Bundle, REDACTABLE, type Redactable } from '../../evidence/bundle.ts'
import type { CheckName, Verification } from '../../evidence/checks.ts'
import { bundleOfEnvelope } from '../../evidence/envelope.ts'
import type { HeaderShape } from '../../evidence/fields.ts'
import { checkpointOf } from '../../evidence/note.ts'
import { claimsPolicyChange, type PolicyChange, verifyPolicyChange } from '../../evidence/policy-change.ts'
import type { Trust } from '../../evidence/trust.ts'
import { verifyBundle } from '../../evidence/verify.ts'
import { AnyJsonObject, requestBody } from '../../gate/request.ts'
import { lengthOf, oldestOf } from '../../store/bounds.ts'
import { takenUpTo } from '../anchors/anchors.ts'
import { assertErasedLawfully } from '../audit/redactions.ts'
import type { Caller, Deps } from '../deps.ts'
import { approvalEntries, approvalKeys } from './approval-entries.ts'
import type { EvidenceDeps } from './evidence.ts'
import { trustOf } from './trust.ts'

export const VerifyBundleRequest = requestBody('VerifyBundleRequest', { bundle: AnyJsonObject })
export type VerifyBundleRequest = Static<typeof VerifyBundleRequest>

export interface ServiceVerification extends Verification {
  /** Sections that the bundle shows and the trail has erased since the export. */
  erasedSince: readonly Redactable[]
}

/** Limit of JSON values in a bundle: it holds the request, and the approved one again. */
export const MAX_BUNDLE_VALUES = 200_000

export interface ExamineInputs {
  tenantId: string
  trust: Trust
  nowMs: number
}

/** The result of verifying a bundle by itself. */
export interface Examined {
  result: Verification
  /** Undefined for invalid evidence. */
  evidence: Bundle | PolicyChange | undefined
}

/**
 * Parses a body with a VerifyBundleRequest and verifies the bundle by itself, where that blocks nobody.
 *
 * @param inputs read when the work starts: a key may be revoked while it waits
 * @throws GateError `invalid_json`, `tenant_mismatch`, `invalid_request`
 */
export type Examine = (body: Uint8Array, inputs: () => ExamineInputs) => Promise<Examined>

export function examined(request: VerifyBundleRequest, { trust, nowMs }: ExamineInputs): Examined {
  const isChange = claimsPolicyChange(request.bundle)
  const claimed = isChange ? request.bundle : bundleOfEnvelope(request.bundle, MAX_BUNDLE_VALUES)
  const result = (isChange ? verifyPolicyChange : verifyBundle)(claimed, { trust, nowMs })
  return { result, evidence: result.valid ? (claimed as Bundle | PolicyChange) : undefined } // what is valid has the shape
}

/** Verifies evidence against this service's keys and, for that of this instance, against its own audit chain. */
export async function verifyEvidence(
  deps: EvidenceDeps & { examine: Examine },
  { tenantId }: Pick<Caller, 'tenantId'>,
  body: Uint8Array,
): Promise<ServiceVerification> {
  const { store, examine } = deps
  const { result, evidence } = await examine(body, () => ({ tenantId, trust: trustOf(store), nowMs: deps.clock() }))
  if (evidence === undefined) return { ...result, erasedSince: [] }
  const { chain } = checkpointOf(evidence.proof.checkpoint)
  for (;;) {
    const oldest = await oldestOf(store, chain)
    const [held] = await Promise.allSettled([heldToTrail(deps, result, evidence, oldest)])
    // Entries that a prune takes away between two reads look like a contradiction.
    if ((await oldestOf(store, chain)) !== oldest) continue
    if (held.status === 'rejected') throw held.reason
    return held.value
  }
}

/** The result of valid evidence, held to the trail here from its `oldest` entry on. */
async function heldToTrail(
  deps: Deps,
  result: Verification,
  evidence: Bundle | PolicyChange,
  oldest: number,
): Promise<ServiceVerification> {
  const fault = await differenceFromStored(deps, evidence, oldest)
  if (fault !== undefined) return { ...refuted(result, 'inclusion', fault), erasedSince: [] }
  const assurance = (await isAnchoredHere(deps, evidence)) ? 'bracketed' : 'self-asserted'
  // Entries about policies are never erased.
  if ('kind' in evidence) return { ...result, assurance, erasedSince: [] }
  const erased = await erasedHere(deps, evidence)
  const { redacted } = evidence.proof
  // Erased content does not come back: a bundle without content that still exists never was an export.
  const withheld = REDACTABLE.find((name) => redacted.includes(name) && !erased.includes(name))
  if (withheld !== undefined) {
    const check = withheld === 'approval' || withheld === 'keys' ? 'approval' : 'openings'
    return {
      ...refuted(result, check, `The ${withheld} is marked as erased, but is still stored here.`),
      erasedSince: [],
    }
  }
  return { ...result, assurance, erasedSince: erased.filter((name) => !redacted.includes(name)) }
}

/** The contradiction between the evidence and this service's own trail. */
async function differenceFromStored(
  { store }: Deps,
  evidence: Bundle | PolicyChange,
  oldest: number,
): Promise<string | undefined> {
  const checkpoint = checkpointOf(evidence.proof.checkpoint)
  const { chain } = checkpoint
  for (const segment of segmentsOf(evidence)) {
    const headers = segment.filter(({ seq }) => seq >= oldest)
    if (headers.length === 0) continue
    const stored = await store.headersFrom(chain, headers[0]?.seq ?? 0, headers.length)
    if (!headers.every((header, i) => stored[i] === canonicalJson(header)))
      return 'The audit chain here holds other entries.'
  }
  const length = await lengthOf(store, chain)
  if (length < checkpoint.size) return 'The audit chain here is shorter than the checkpoint says.'
  // A tree over pruned entries alone leaves nothing to compare with.
  if (checkpoint.size < oldest) return undefined
  const [root] = await store.treeHashes(chain, [{ begin: 0, end: checkpoint.size }])
  if (root === undefined || Buffer.compare(root, checkpoint.root) !== 0)
    return 'The audit chain here has another tree than the checkpoint says.'
  return undefined
}

/**
 * The sections of the bundle's decision that the trail has erased; for a pruned decision, those that the bundle lists.
 */
async function erasedHere(deps: Deps, { proof }: Bundle): Promise<Redactable[]> {
  const header = proof.entries.at(-1)
  const entry = header && (await deps.store.entryAt(header.chain, header.seq))
  if (entry === undefined) return REDACTABLE.filter((name) => proof.redacted.includes(name))
  await assertErasedLawfully(deps.store, entry)
  const approval = await approvalEntries(deps, entry)
  const kept = entry.sections.map(({ name }) => name)
  if (approval !== undefined) kept.push('approval')
  if (approval === undefined || (await approvalKeys(deps.store, approval)) !== undefined) kept.push('keys')
  return REDACTABLE.filter((name) => !kept.includes(name))
}

/** The entries that valid evidence shows, in segments without gaps. */
function segmentsOf(evidence: Bundle | PolicyChange): readonly HeaderShape[][] {
  return 'kind' in evidence ? evidence.entries.map(({ header }) => [header]) : [evidence.proof.entries]
}

async function isAnchoredHere(deps: Deps, { proof }: Bundle | PolicyChange): Promise<boolean> {
  const checkpoint = checkpointOf(proof.checkpoint)
  const last = await deps.store.lastCheckpointUpTo(checkpoint.chain, await takenUpTo(deps.store))
  return last !== undefined && last.size >= checkpoint.size
}

function refuted(result: Verification, refutedCheck: CheckName, why: string): Verification {
  const checks = result.checks.map((check) =>
    check.check === refutedCheck ? { ...check, result: 'failed' as const, why } : check,
  )
  return { ...result, valid: false, chainValid: false, verdict: 'invalid', reasons: [...result.reasons, why], checks }
}
