import { type Static, Type } from '#typebox'
import { GateError } from '../base/errors.ts'
import { formatTimestamp } from '../base/time.ts'
import { type Bundle, buildBundle } from '../evidence/bundle.ts'
import { signBundle } from '../evidence/sign.ts'
import { matchesStored, type Verification, verifyBundle } from '../evidence/verify.ts'
import { AnyJsonObject, TenantIdField } from '../gate/request.ts'
import { decisionEntry } from './decisions.ts'
import type { Deps, Signer } from './deps.ts'

export const VerifyBundleRequest = Type.Object(
  { tenantId: TenantIdField, bundle: AnyJsonObject },
  { additionalProperties: false, title: 'VerifyBundleRequest' },
)
export type VerifyBundleRequest = Static<typeof VerifyBundleRequest>

export interface EvidenceDeps extends Deps {
  signer: Signer
}

/**
 * The signed bundle of a decision of this chain, by the decision's id or its entry's.
 *
 * @throws GateError `not_found`; `redacted` when a part that the bundle shows has been erased
 */
export async function exportBundle(deps: EvidenceDeps, chain: string, id: string): Promise<Bundle> {
  const entry = await decisionEntry(deps.store, id)
  if (entry === undefined || entry.header.chain !== chain) {
    throw new GateError('not_found', 'There is no such decision.')
  }
  const { seq } = entry.header
  const segment = await deps.store.entriesFrom(chain, Math.max(0, seq - 1), seq === 0 ? 2 : 3)
  const unsigned = buildBundle({
    bundleId: deps.newId('bundle'),
    origin: deps.store.origin,
    // Entries may carry a time ahead of the clock after it went back; the export is not before them.
    exportedAt: [formatTimestamp(deps.clock()), ...segment.map(({ header }) => header.ts)].sort().at(-1) ?? '',
    segment,
    entryId: entry.header.id,
  })
  if (unsigned === undefined) throw new GateError('redacted', 'Parts of this decision have been erased.')
  return signBundle(unsigned, deps.signer.privateKey)
}

/** Checks a bundle against this service's keys, and, for a bundle of this instance, against its own audit chain. */
export async function verifyEvidence(deps: EvidenceDeps, request: VerifyBundleRequest): Promise<Verification> {
  const publicKeys = Array.from(deps.store.state().signingKeys.values(), ({ publicKey }) => publicKey)
  const result = verifyBundle(request.bundle, { publicKeys, nowMs: deps.clock() })
  if (!result.valid) return result
  const bundle = request.bundle as Bundle // what is valid has the shape
  const [first] = bundle.proof.entries
  if (first === undefined || bundle.proof.origin !== deps.store.origin) return result
  // A valid segment is one chain without gaps.
  const stored = await deps.store.headersFrom(first.chain, first.seq, bundle.proof.entries.length)
  if (matchesStored(bundle, stored)) return result
  return {
    ...result,
    valid: false,
    chainValid: false,
    reasons: [...result.reasons, 'The audit chain here holds other entries.'],
  }
}
