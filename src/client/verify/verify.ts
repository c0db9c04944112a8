import { isJsonObject, readJson } from '../../base/json.ts'
import { type Anchor, parseAnchor } from '../../evidence/anchor.ts'
import type { Verification } from '../../evidence/checks.ts'
import { bundleOfEnvelope, EVIDENCE_DEPTH } from '../../evidence/envelope.ts'
import { NO_TRUST, readTrust } from '../../evidence/trust.ts'
import { UnusableTrust } from '../../evidence/unusable-trust.ts'
import { verifyBundle } from '../../evidence/verify.ts'

export type { Verification }
export { UnusableTrust }

export interface VerifyOptions {
  /** The text of a trust file. Without one, nobody vouches for who made the evidence, and it is never valid. */
  trust?: string | Uint8Array | undefined
  /** Lines of anchors that you, or somebody whom you trust, kept. */
  anchors?: string | undefined
  /** Milliseconds since 1970; the clock of the machine without it. */
  nowMs?: number | undefined
}

/**
 * Verifies the text of a trust bundle, or of its DSSE envelope, without any server: by the same code as `gate-sidecar evidence verify`.
 * Text, not what was parsed of it: two members of one name would be one by then.
 *
 * @throws UnusableTrust when `trust` is no trust file
 */
export function verifyEvidence(evidence: string | Uint8Array, options: VerifyOptions = {}): Verification {
  const { trust, anchors = '', nowMs = Date.now() } = options
  const claimed = readJson(evidence, { maxDepth: EVIDENCE_DEPTH })
  return verifyBundle(isJsonObject(claimed) ? bundleOfEnvelope(claimed) : claimed, {
    trust: trust === undefined ? NO_TRUST : readTrust(trust),
    anchors: anchors.split('\n').flatMap((line): Anchor | readonly Anchor[] => parseAnchor(line) ?? []),
    nowMs,
  })
}
