import type { RecordedDecision } from '../../../client/api.ts'
import { addressOf } from '../../data/place.ts'
import { DecisionBadge, Risk, StatusBadge } from '../../ui/badges.tsx'
import { Id } from '../../ui/copy.tsx'
import { AGENT, DECIDED_BY, OUTCOMES, RETRIES } from '../../ui/decision-words.ts'
import { hashFacts } from '../../ui/entry-hashes.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Link, PermittedLink } from '../../ui/link.tsx'
import { Principal } from '../../ui/principal.tsx'
import { LongText, Text, TextAfter } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'

interface Props {
  of: RecordedDecision
}

/** The decision, its action, its reason, and the outcome. */
export function Summary({ of }: Props) {
  const { id, action, decision, observed, shadow, reason, rule, decidedBy, retry, riskScore, timestamp } = of
  const decider = (
    <>
      {DECIDED_BY[decidedBy]}
      <TextAfter words=", rule " of={rule} />
    </>
  )
  return (
    <section class="card decision-summary" aria-labelledby="decision-action">
      <h2 id="decision-action" class="row">
        <DecisionBadge decision={decision} observed={observed} shadow={shadow} />
        <Text of={action} />
      </h2>
      <p>
        <LongText of={reason} />
      </p>
      <Facts
        of={{
          'Decided by': decider,
          'In shadow': shadow?.decision && <ShadowDecider of={shadow} />,
          Risk: <Risk score={riskScore} />,
          When: <Time at={timestamp} />,
          Approval: <ApprovalOf of={of} />,
          Outcome: <Outcome of={of} />,
          'Ask again': decision === 'allow' ? undefined : RETRIES[retry],
          Id: <Id of={id} what="the id of the decision" />,
        }}
      />
    </section>
  )
}

/** The grounds of the set in shadow, where it would have decided otherwise. */
function ShadowDecider({ of: { decidedBy, rule = null } }: { of: NonNullable<RecordedDecision['shadow']> }) {
  return (
    <>
      {decidedBy && DECIDED_BY[decidedBy]}
      <TextAfter words=", rule " of={rule} />
    </>
  )
}

function ApprovalOf({ of: { approval } }: Props) {
  if (approval === null) return <span class="muted">none needed or used</span>
  const { id, status } = approval
  return (
    <span class="row">
      {status !== null && <StatusBadge status={status} />}
      <PermittedLink needs="getApproval" to={addressOf(['approvals', id])}>
        <code>{id}</code>
      </PermittedLink>
    </span>
  )
}

function Outcome({ of: { outcome, decision } }: Props) {
  if (outcome === null)
    return <span class="muted">{decision === 'allow' ? 'unknown' : 'none known: it was not allowed'}</span>
  const { status, possibleBypass, observed, durationMs, error, recordedAt } = outcome
  return (
    <>
      {OUTCOMES[status]}
      {durationMs !== null && ` (${durationMs.toLocaleString()} ms)`}
      {', reported '}
      <Time at={recordedAt} />
      {possibleBypass && <span class="tag">possible bypass</span>}
      {observed && <p class="muted small">Its caller only observes, and runs actions regardless of the decision.</p>}
      {error !== null && (
        <p>
          <LongText of={error} />
        </p>
      )}
    </>
  )
}

/** The caller, and the policies that decided. */
export function Caller({ of: { caller, policyDigest, evaluatedAt, planValidated } }: Props) {
  const { keyId, identity, name, roles } = caller
  const key = (
    <>
      {name !== null && <Text of={name} />} <Id of={keyId} what="the id of the key" />
    </>
  )
  const none = <span class="muted">none in force</span>
  return (
    <section class="card">
      <h2>{`${AGENT} and policies`}</h2>
      <Facts
        of={{
          [AGENT]: <Principal of={identity ?? keyId} />,
          Key: key,
          Roles: roles.join(', '),
          Plan: planValidated ? 'validated' : 'not validated',
          Policies: policyDigest === null ? none : <Id of={policyDigest} what="the digest of the policies" />,
          Evaluated: <Time at={evaluatedAt} />,
        }}
      />
    </section>
  )
}

/** The place in the audit trail. */
export function ChainPlace({ of }: Props) {
  const { chain, seq, entryId, verified } = of
  return (
    <section class="card">
      <h2>Place in the chain</h2>
      <Facts
        of={{
          Verified: verified ? <Verified /> : <span class="badge deny">not verified</span>,
          Chain: <Text of={chain} />,
          Entry: <Link to={addressOf(['audit'], { entry: entryId })}>{`number ${seq.toLocaleString()}`}</Link>,
          'Entry id': <Id of={entryId} what="the id of the entry" />,
          ...hashFacts(of),
        }}
      />
    </section>
  )
}

function Verified() {
  return (
    <>
      <span class="badge allow">verified</span>{' '}
      <span class="muted">Its hash is correct, and links it to its neighbours.</span>
    </>
  )
}
