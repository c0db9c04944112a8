import { useMemo } from 'preact/hooks'
import type { RecordedDecision, TrustBundle } from '../../../client/api.ts'
import type { Verification } from '../../../client/verify/verify.ts'
import { DecisionBadge } from '../../ui/badges.tsx'
import { Id } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { BundleApproval } from './bundle-approval.tsx'
import { bundleIn, type Document } from './documents.ts'

/** A bundle without signatures, which an envelope holds beside it. */
type Claimed = Omit<TrustBundle, 'signatures'>

/** The contents of the bundle. They count as far as the verdict goes; a notice says so unless it is valid. */
export function BundleClaims({ evidence, verification }: { evidence: Document; verification: Verification }) {
  const { verdict, checks, redacted } = verification
  const isBundle = checks.some(({ check, result }) => check === 'form' && result === 'ok')
  // The verifier has checked its format.
  const bundle = useMemo(() => (isBundle ? (bundleIn(evidence) as Claimed) : undefined), [evidence, isBundle])
  if (bundle === undefined) return null
  const { originalRequest, riskAssessment } = bundle.context
  return (
    <section class="stack" aria-labelledby="claims">
      <h2 id="claims">Claims of the bundle</h2>
      {verdict !== 'valid' && (
        <p class="notice">
          {verdict === 'invalid' ? 'None of this is proved.' : 'No pinned key vouches for this yet.'}
        </p>
      )}
      <div class="columns">
        <Decided of={bundle} observed={verification.observed} />
        <Signed of={bundle} />
      </div>
      <div class="columns">
        <Content title="Request" value={originalRequest} path="request" isErased={redacted.includes('request')} />
        <Content title="Risk" value={riskAssessment} path="risk" isErased={redacted.includes('risk')} />
      </div>
      <Content title="Grounds" value={bundle.proof.grounds} path="grounds" />
      {bundle.proof.approval.length > 0 && (
        <section class="card">
          <h3>Approval, and the votes for it</h3>
          <BundleApproval of={bundle.proof.approval.map(({ data }) => data)} />
        </section>
      )}
    </section>
  )
}

function Content({
  title,
  value,
  path,
  isErased,
}: {
  title: string
  value: unknown
  path: string
  isErased?: boolean
}) {
  return (
    <section class="card">
      <h3>{title}</h3>
      {isErased ? <p class="muted">It has been erased.</p> : <JsonTree value={value} path={path} />}
    </section>
  )
}

function Decided({ of: { decision, proof }, observed }: { of: Claimed; observed: Verification['observed'] }) {
  // As their form says.
  const words = { decision: decision.decision, observed } as Pick<RecordedDecision, 'decision' | 'observed'>
  const { id, action, timestamp } = decision
  return (
    <section class="card">
      <h3 class="row">
        <DecisionBadge {...words} />
        <Text of={action} />
      </h3>
      <Facts
        of={{
          When: <Time at={timestamp} />,
          Decision: <Id of={id} what="the id of the decision" />,
          Chain: <Text of={proof.entries.at(-1)?.chain ?? ''} />,
        }}
      />
    </section>
  )
}

function Signed({ of: { bundleId, exportedAt, proof } }: { of: Claimed }) {
  return (
    <section class="card">
      <h3>Signed</h3>
      <Facts
        of={{
          By: <Text of={proof.origin} />,
          Exported: <Time at={exportedAt} />,
          Bundle: <Id of={bundleId} what="the id of the bundle" />,
          Key: <Id of={proof.certificate.statement.publicKey} what="the key of the bundle" />,
          'Log key': <Id of={proof.certificate.signedBy} what="the log key" />,
        }}
      />
    </section>
  )
}
