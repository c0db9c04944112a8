import type { TreeHead } from '../audit/merkle.ts'
import { parseTimestamp } from '../base/time.ts'
import type { Anchor } from './anchor.ts'
import { type CheckName, type CheckResult, checkResultOf, failed, OK, unknown } from './checks.ts'
import type { CheckpointNote } from './note.ts'
import { isSignedBy, type StatementKind } from './statement.ts'
import {
  type Certificate,
  type LogKey,
  type LogKeys,
  logKeysFor,
  type Rotation,
  signerOf,
  type Trust,
} from './trust.ts'
import { witnessed } from './witnessed.ts'

/** Tolerance for another machine's clock. */
const CLOCK_SKEW_MS = 300_000

/** The verifier's own inputs, beside the evidence. */
export interface VerifyInputs {
  trust: Trust
  nowMs: number
  /** Anchors kept by the verifier, or by a party that it trusts. */
  anchors?: readonly Anchor[]
}

/** Members of evidence of every kind: its maker, and its checkpoint. */
export interface Attested {
  kind: StatementKind
  /** The signed statement. */
  unsigned: object
  signature: { algorithm: string; publicKey: string; signature: string }
  origin: string
  chain: string
  exportedAt: string
  checkpoint: CheckpointNote
  /** Checkpoints of other chains, under which entries of these are shown. */
  beside: readonly CheckpointNote[]
  certificate: Certificate
  rotations: readonly Rotation[]
  /** `ts` of the last entry; undefined where there is none. */
  ts: string | undefined
  /** Earlier trees of the chain in the evidence. */
  earlier: readonly TreeHead[]
}

/** A verdict leaves out checks without a result: none of these may be missing. */
type Common = Pick<
  Record<CheckName, CheckResult>,
  'certificate' | 'revocation' | 'signature' | 'checkpoint' | 'anchors' | 'times'
>

/** The checks common to every kind of evidence (docs/evidence.md, Verifying a bundle). */
export function attest(attested: Attested, inputs: VerifyInputs) {
  const { origin, chain, rotations, certificate, checkpoint } = attested
  const logKeys = logKeysFor(inputs.trust, { origin, rotations, signedBy: certificate.signedBy })
  const signer = signerOf(checkpoint, origin, logKeys.keys)
  const isGenuine = (note: CheckpointNote): boolean => signerOf(note, origin, logKeys.keys) !== undefined
  const anchors = witnessed(inputs.anchors ?? [], origin, chain)
  const anchoredAt = anchors.earliest(checkpoint, isGenuine)
  const besideBy = attested.beside.map((note) => ({ note, key: signerOf(note, origin, logKeys.keys) }))
  const shown = isOf(checkpoint, attested) ? [checkpoint, ...attested.earlier] : []
  return {
    results: {
      certificate: certificateResult(attested, logKeys),
      revocation: revocationResult(attested, signer, besideBy, inputs.trust, anchoredAt),
      signature: checkResultOf(signatureFault(attested)),
      checkpoint: checkpointResult(attested, signer, logKeys),
      anchors: checkResultOf(anchors.splitFault(shown, isGenuine)),
      times: checkResultOf(timesFault(attested, signer, inputs.nowMs, anchoredAt)),
    } satisfies Common,
    isAnchored: anchoredAt !== undefined,
    /** Checkpoints of other chains by these; undefined where no trusted log key has signed one. */
    signedBeside: new Map(besideBy.map(({ note, key }) => [note.chain, key && note])),
  }
}

function certificateResult({ origin, exportedAt, certificate, signature }: Attested, logKeys: LogKeys): CheckResult {
  const { statement, signedBy } = certificate
  if (statement.origin !== origin) return failed('The certificate is of another instance.')
  if (statement.publicKey !== signature.publicKey) return failed('The certificate is for another key.')
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

function revocationResult(
  { certificate, signature }: Attested,
  signer: LogKey | undefined,
  besideBy: readonly { key: LogKey | undefined }[],
  { revoked }: Trust,
  anchoredAt: string | undefined,
): CheckResult {
  if (revoked.has(signature.publicKey)) return unknown('The bundle key is revoked: have it exported again.')
  if (besideBy.some(({ key }) => key !== undefined && revoked.has(key.publicKey)))
    return unknown('A log key that signed another chain is revoked: have it exported again.')
  const logKeys = [certificate.signedBy, ...(signer ? [signer.publicKey] : [])]
  const since = logKeys.flatMap((publicKey) => revoked.get(publicKey) ?? []).sort()[0]
  if (since === undefined || (anchoredAt !== undefined && anchoredAt < since)) return OK
  return unknown(`The log key is revoked since ${since}, and no anchor from before is at hand.`)
}

function signatureFault({ kind, unsigned, signature }: Attested): string | undefined {
  if (signature.algorithm !== 'ed25519') return `The algorithm ${signature.algorithm} is not accepted.`
  if (!isSignedBy(signature.publicKey, kind, unsigned, signature.signature)) return 'The signature does not fit.'
  return undefined
}

function isOf(checkpoint: CheckpointNote, { origin, chain }: Attested): boolean {
  return checkpoint.origin === origin && checkpoint.chain === chain
}

function checkpointResult(attested: Attested, signer: LogKey | undefined, logKeys: LogKeys): CheckResult {
  if (!isOf(attested.checkpoint, attested)) return failed('The checkpoint is of another chain.')
  if (signer === undefined) return failed('The checkpoint is not signed by a trusted log key.')
  return logKeys.isPinned ? OK : unknown('No log key of this instance is pinned.')
}

function timesFault(
  { exportedAt, ts }: Attested,
  signer: LogKey | undefined,
  nowMs: number,
  anchoredAt: string | undefined,
): string | undefined {
  const exported = Date.parse(exportedAt)
  if (exported > nowMs + CLOCK_SKEW_MS) return 'The export lies in the future.'
  if (ts === undefined) return undefined
  const made = Date.parse(ts)
  if (made > exported) return 'An entry is later than the export.'
  const until = signer?.until ?? null
  if (until !== null && ts > until) return 'An entry is later than the last use of the log key.'
  const anchored = parseTimestamp(anchoredAt)
  if (anchored !== undefined && made > anchored + CLOCK_SKEW_MS)
    return 'An entry is later than the anchor that holds it.'
  return undefined
}
