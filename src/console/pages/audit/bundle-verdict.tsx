import type { Verification } from '../../../client/verify/verify.ts'
import { Reload } from '../../ui/reload.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { durationText } from '../../ui/time.tsx'
import type { Verified } from './verifier.ts'

type Check = Verification['checks'][number]

const CHECKS: Record<Check['check'], string> = {
  form: 'It is a bundle',
  files: 'Files are those of the manifest',
  certificate: 'A log key vouches for the key that signed it',
  revocation: 'No key is revoked',
  signature: 'Its signature is valid',
  segment: 'Its entries follow one another',
  openings: 'Its content matches its commitments',
  checkpoint: 'A log key signed the state of the trail',
  inclusion: 'The entry is part of that state',
  lanes: 'Its lanes verify',
  anchors: 'No external anchor contradicts it',
  approval: 'The votes are for exactly this request',
  times: 'Its times are consistent',
}

const RESULTS = {
  ok: { word: 'ok', look: 'allow' },
  failed: { word: 'failed', look: 'deny' },
  unknown: { word: 'not known', look: 'require_approval' },
} as const

const VERDICTS = {
  valid: {
    title: 'Valid',
    look: 'allow',
    meaning: 'The service in the trust file made this decision, and nothing shown here was changed since.',
  },
  invalid: {
    title: 'Invalid',
    look: 'deny',
    meaning: 'Do not rely on it. At least one check failed: it was changed, or is not what it claims to be.',
  },
  incomplete: {
    title: 'Incomplete',
    look: 'require_approval',
    meaning: 'No check failed, but some could not be made. Do not treat it as valid.',
  },
} as const

/** The verdict in words, and each check. Screen readers announce it. */
export function BundleVerdict({ of, hasTrust }: { of: Verified; hasTrust: boolean }) {
  const verdict = of.state === 'done' && <Verdict of={of} hasTrust={hasTrust} />
  const isBad = of.state === 'failed' || (of.state === 'done' && of.verification.verdict === 'invalid')
  return (
    <>
      <div role="status">
        {of.state === 'running' && <Loading what="and verifying" />}
        {!isBad && verdict}
      </div>
      <div role="alert">
        {isBad && verdict}
        {of.state === 'unloaded' && (
          <>
            <Failure error={of.error} />
            <Reload />
          </>
        )}
        {of.state === 'failed' && (
          <div class="verdict deny">
            <p class="verdict-title">
              {of.kind === 'trust' ? 'The trust file cannot be used' : 'It could not be verified'}
            </p>
            <p>
              <Text of={of.message} />
            </p>
          </div>
        )}
      </div>
      {of.state === 'done' && (
        <Table caption="Checks" columns={COLUMNS} rows={of.verification.checks} keyOf={({ check }) => check} />
      )}
    </>
  )
}

function Verdict({ of, hasTrust }: { of: Verified & { state: 'done' }; hasTrust: boolean }) {
  const { verification, tookMs } = of
  const { verdict, assurance, redacted, checks } = verification
  const { title, look, meaning } = VERDICTS[verdict]
  const failed = checks.filter(({ result }) => result === 'failed')
  const isUnpinned = checks.some(({ check, result }) => check === 'certificate' && result === 'unknown')
  return (
    <section class={`verdict ${look}`} aria-label="Verdict">
      <h2 class="verdict-title">{title}</h2>
      <p>{meaning}</p>
      {failed.length > 0 && (
        <ul class="bullets">
          {failed.map(({ check, why }) => (
            <li key={check}>
              {`${check}: `}
              <Text of={why ?? ''} />
            </li>
          ))}
        </ul>
      )}
      {verdict === 'valid' && (
        <p>
          {assurance === 'bracketed'
            ? 'An external anchor holds its checkpoint: the decision cannot have been made later than that.'
            : 'Only the service vouches for the time of the decision. Add a file of anchors to confirm it.'}
        </p>
      )}
      {redacted.length > 0 && <p>{`Erased, and no longer provable: ${redacted.join(', ')}.`}</p>}
      {isUnpinned && <Unpinned hasTrust={hasTrust} />}
      <p class="muted small">{`${checks.length} ${checks.length === 1 ? 'check' : 'checks'} in ${durationText(tookMs)}`}</p>
    </section>
  )
}

/** The missing pinned key that would vouch for the evidence, and how to get one. */
function Unpinned({ hasTrust }: { hasTrust: boolean }) {
  return (
    <div>
      <p>
        {hasTrust
          ? 'The trust file belongs to another installation: it has no key of the origin that the bundle names.'
          : 'A trust file is missing. Anyone can sign evidence with a key of their own, so you need the key of the service from another source.'}
      </p>
      <p>
        The operator of the service creates it with <code>gate-sidecar signing-keys export-trust --out trust.json</code>
        . Get it from the operator over a trusted channel, not together with the bundle.
      </p>
    </div>
  )
}

const COLUMNS: readonly Column<Check>[] = [
  {
    head: 'Check',
    cell: ({ check }) => (
      <span>
        {CHECKS[check]} <code class="muted">{check}</code>
      </span>
    ),
  },
  {
    head: 'Outcome',
    cell: ({ result }) => <span class={`badge ${RESULTS[result].look}`}>{RESULTS[result].word}</span>,
  },
  { head: 'Reason', cell: ({ why }) => (why === null ? <span class="muted">–</span> : <Text of={why} />) },
]
