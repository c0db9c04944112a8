import { parseCheckpoint } from '../audit/checkpoint.ts'
import { encodeBase64 } from '../base/bytes.ts'
import { parseTimestamp } from '../base/time.ts'
import type { Anchor } from './anchor.ts'
import { type CheckName, failed, OK, type Outcome, outcomeOf, unknown } from './checks.ts'
import { parseNote } from './note.ts'
import { isSignedBy, type StatementKind } from './statement.ts'
import {
  type Certificate,
  type LogKeys,
  logKeysFor,
  openCheckpoint,
  type Rotation,
  type SignedCheckpoint,
  type Trust,
} from './trust.ts'

/** Another machine's clock may be ahead of ours by this much. */
const CLOCK_SKEW_MS = 300_000

/** What a verifier has beside the evidence. */
export interface Means {
  trust: Trust
  nowMs: number
  /** Kept by the verifier, or by somebody whom it trusts. */
  anchors?: readonly Anchor[]
}

/** What evidence of every kind has: who made it, and the checkpoint that it leads to. */
export interface Attested {
  kind: StatementKind
  /** What is signed. */
  unsigned: object
  signature: { algorithm: string; publicKey: string; signature: string }
  origin: string
  chain: string
  exportedAt: string
  checkpoint: string
  certificate: Certificate
  rotations: readonly Rotation[]
  /** `ts` of the last entry; undefined where there is none. */
  ts: string | undefined
}

export interface Attestation {
  outcomes: Pick<Record<CheckName, Outcome>, 'certificate' | 'revocation' | 'signature' | 'checkpoint' | 'times'>
  /** Signed by a log key; undefined when it is not. */
  checkpoint: SignedCheckpoint | undefined
  isAnchored: boolean
}

/** The checks that are the same for every kind of evidence (docs/evidence.md, Verifying a bundle). */
export function attest(attested: Attested, means: Means): Attestation {
  const { origin, rotations, certificate } = attested
  const logKeys = logKeysFor(means.trust, { origin, rotations, signedBy: certificate.signedBy })
  const checkpoint = openCheckpoint(attested.checkpoint, logKeys.keys)
  const anchoredAt = checkpoint && earliestAnchor(checkpoint, means.anchors ?? [])
  return {
    outcomes: {
      certificate: certificateOutcome(attested, logKeys),
      revocation: revocationOutcome(attested, checkpoint, means.trust, anchoredAt),
      signature: outcomeOf(signatureFault(attested)),
      checkpoint: checkpointOutcome(attested, checkpoint, logKeys),
      times: outcomeOf(timesFault(attested, checkpoint, means.nowMs, anchoredAt)),
    },
    checkpoint,
    isAnchored: anchoredAt !== undefined,
  }
}

function certificateOutcome({ origin, exportedAt, certificate, signature }: Attested, logKeys: LogKeys): Outcome {
  const { statement, signedBy } = certificate
  if (statement.origin !== origin) return failed('The certificate is of another instance.')
  if (statement.publicKey !== signature.publicKey) return failed('The certificate is for another key.')
  if (!(isTime(statement.notBefore) && isTime(statement.notAfter))) return failed('The certificate has no real times.')
  if (!(statement.notBefore <= exportedAt && exportedAt <= statement.notAfter))
    return failed('The certificate did not hold when this was exported.')
  const logKey = logKeys.keys.find(({ publicKey }) => publicKey === signedBy)
  if (logKey === undefined) return failed('The certificate is not signed by a trusted log key.')
  if (logKey.until !== null && statement.notBefore > logKey.until)
    return failed('The certificate was made after the last use of the log key.')
  if (!isSignedBy(signedBy, 'certificate', statement, certificate.signature))
    return failed('The signature of the certificate does not fit it.')
  return logKeys.isPinned ? OK : unknown('No log key of this instance is pinned.')
}

function revocationOutcome(
  { certificate, signature }: Attested,
  checkpoint: SignedCheckpoint | undefined,
  { revoked }: Trust,
  anchoredAt: string | undefined,
): Outcome {
  if (revoked.has(signature.publicKey)) return unknown('The bundle key is revoked: have it exported again.')
  const logKeys = [certificate.signedBy, ...(checkpoint ? [checkpoint.key.publicKey] : [])]
  const since = logKeys.flatMap((publicKey) => revoked.get(publicKey) ?? []).sort()[0]
  if (since === undefined || (anchoredAt !== undefined && anchoredAt < since)) return OK
  return unknown(`The log key is revoked since ${since}, and no anchor from before is at hand.`)
}

function signatureFault({ kind, unsigned, signature }: Attested): string | undefined {
  if (signature.algorithm !== 'ed25519') return `The algorithm ${signature.algorithm} is not accepted.`
  if (!isSignedBy(signature.publicKey, kind, unsigned, signature.signature)) return 'The signature does not fit.'
  return undefined
}

function checkpointOutcome(
  { origin, chain }: Attested,
  checkpoint: SignedCheckpoint | undefined,
  logKeys: LogKeys,
): Outcome {
  if (checkpoint === undefined) return failed('The checkpoint is not signed by a trusted log key.')
  if (checkpoint.origin !== origin || checkpoint.chain !== chain) return failed('The checkpoint is of another chain.')
  return logKeys.isPinned ? OK : unknown('No log key of this instance is pinned.')
}

function timesFault(
  { exportedAt, ts }: Attested,
  checkpoint: SignedCheckpoint | undefined,
  nowMs: number,
  anchoredAt: string | undefined,
): string | undefined {
  const exported = parseTimestamp(exportedAt)
  if (exported === undefined) return 'The time of the export is no real time.'
  if (exported > nowMs + CLOCK_SKEW_MS) return 'The export lies in the future.'
  if (ts === undefined) return undefined
  const made = parseTimestamp(ts)
  if (made === undefined) return 'The time of an entry is no real time.'
  if (made > exported) return 'An entry is later than the export.'
  const until = checkpoint?.key.until ?? null
  if (until !== null && ts > until) return 'An entry is later than the last use of the log key.'
  const anchored = parseTimestamp(anchoredAt)
  if (anchored !== undefined && made > anchored + CLOCK_SKEW_MS)
    return 'An entry is later than the anchor that holds it.'
  return undefined
}

/** The earliest time at which somebody held this very checkpoint. */
function earliestAnchor(
  { origin, chain, size, root }: SignedCheckpoint,
  anchors: readonly Anchor[],
): string | undefined {
  const times = anchors.flatMap(({ at, checkpoint: note }) => {
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
    if (checkpoint === undefined || !isTime(at)) return []
    const isSame = checkpoint.origin === origin && checkpoint.chain === chain && checkpoint.size === size
    return isSame && encodeBase64(checkpoint.root) === encodeBase64(root) ? [at] : []
  })
  return times.sort()[0]
}

function isTime(text: string): boolean {
  return parseTimestamp(text) !== undefined
}
