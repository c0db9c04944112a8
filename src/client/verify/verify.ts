import { type Anchor, parseAnchor } from '../../evidence/anchor.ts'
import type { Verification } from '../../evidence/checks.ts'
import { NO_TRUST, readTrust } from '../../evidence/trust.ts'
import { UnusableTrust } from '../../evidence/unusable-trust.ts'
import { verifyBundleText } from '../../evidence/verify.ts'

export type { Verification }
export { UnusableTrust }

export interface VerifyOptions {
  /** Text of a trust file. Without one, nothing vouches for the author of the evidence, which is then never valid. */
  trust?: string | Uint8Array | undefined
  /** Lines of anchors that you, or somebody you trust, kept. */
  anchors?: string | undefined
  /** Time of the verification, in ms since 1970. @default the clock of the machine */
  nowMs?: number | undefined
}

/**
 * Verifies the text of a trust bundle, or of its DSSE envelope, without a server, by the code of `gate-sidecar evidence
 * verify`.
 * It takes text, since parsing would merge two members of one name.
 *
 * @throws UnusableTrust when `trust` is not a trust file
 */
export function verifyEvidence(evidence: string | Uint8Array, options: VerifyOptions = {}): Verification {
  const { trust, anchors = '', nowMs = Date.now() } = options
  return verifyBundleText(evidence, {
    trust: trust === undefined ? NO_TRUST : readTrust(trust),
    anchors: anchors.split('\n').flatMap((line): Anchor | readonly Anchor[] => parseAnchor(line) ?? []),
    nowMs,
  })
}
