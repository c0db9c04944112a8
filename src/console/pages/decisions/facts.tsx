import type { RecordedDecision } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { DecisionBadge, Risk, StatusBadge } from '../../ui/badges.tsx'
import { Id } from '../../ui/copy.tsx'
import { AGENT, DECIDED_BY, OUTCOMES, RETRIES } from '../../ui/decision-words.ts'
import { EntryHashes } from '../../ui/entry-hashes.tsx'
import { Link } from '../../ui/link.tsx'
import { Principal } from '../../ui/principal.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'

interface Props {
  of: RecordedDecision
}

/** The decision, its action, its reason, and the outcome. */
export function Summary({ of }: Props) {
  const { id, action, decision, reason, rule, decidedBy, retry, riskScore, timestamp } = of
  return (
    <section class="card decision-summary" aria-labelledby="decision-action">
      <h2 id="decision-action" class="row">
        <DecisionBadge decision={decision} />
        <Text of={action} />
      </h2>
      <p>
        <LongText of={reason} />
      </p>
      <dl class="facts">
        <dt>Decided by</dt>
        <dd>
          {DECIDED_BY[decidedBy]}
          {rule !== null && (
            <>
              {', rule '}
              <Text of={rule} />
            </>
          )}
        </dd>
        <dt>Risk</dt>
        <dd>
          <Risk score={riskScore} />
        </dd>
        <dt>When</dt>
        <dd>
          <Time at={timestamp} />
        </dd>
        <dt>Approval</dt>
        <dd>
          <ApprovalOf of={of} />
        </dd>
        <dt>Outcome</dt>
        <dd>
          <Outcome of={of} />
        </dd>
        {decision !== 'allow' && (
          <>
            <dt>Ask again</dt>
            <dd>{RETRIES[retry]}</dd>
          </>
        )}
        <dt>Id</dt>
        <dd>
          <Id of={id} what="the id of the decision" />
        </dd>
      </dl>
    </section>
  )
}

function ApprovalOf({ of: { approval } }: Props) {
  const { may } = useConsole()
  if (approval === null) return <span class="muted">none was needed, or used</span>
  const { id, status } = approval
  return (
    <span class="row">
      {status !== null && <StatusBadge status={status} />}
      {may('getApproval') ? (
        <Link to={addressOf(['approvals', id])}>
          <code>{id}</code>
        </Link>
      ) : (
        <code>{id}</code>
      )}
    </span>
  )
}

function Outcome({ of: { outcome, decision } }: Props) {
  if (outcome === null)
    return (
      <span class="muted">
        {decision === 'allow' ? 'nothing is known of it' : 'none, as far as is known: it was not allowed'}
      </span>
    )
  const { status, possibleBypass, observed, durationMs, error, recordedAt } = outcome
  return (
    <>
      {OUTCOMES[status]}
      {durationMs !== null && ` (${durationMs.toLocaleString()} ms)`}
      {', told '}
      <Time at={recordedAt} />
      {possibleBypass && <span class="tag">possible bypass</span>}
      {observed && <p class="muted small">Its caller only watches, and runs actions whatever is decided.</p>}
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
  return (
    <section class="card">
      <h2>{`${AGENT} and policies`}</h2>
      <dl class="facts">
        <dt>{AGENT}</dt>
        <dd>
          <Principal of={identity ?? keyId} />
        </dd>
        <dt>Key</dt>
        <dd>
          {name !== null && (
            <>
              <Text of={name} />{' '}
            </>
          )}
          <Id of={keyId} what="the id of the key" />
        </dd>
        <dt>Roles</dt>
        <dd>{roles.join(', ')}</dd>
        <dt>Plan</dt>
        <dd>{planValidated ? 'validated' : 'not validated'}</dd>
        <dt>Policies</dt>
        <dd>
          {policyDigest === null ? (
            <span class="muted">none in force</span>
          ) : (
            <Id of={policyDigest} what="the digest of the policies" />
          )}
        </dd>
        <dt>Evaluated</dt>
        <dd>
          <Time at={evaluatedAt} />
        </dd>
      </dl>
    </section>
  )
}

/** The place in the audit trail. */
export function ChainPlace({ of: { chain, seq, entryId, hash, previousHash, verified } }: Props) {
  return (
    <section class="card">
      <h2>Place in the chain</h2>
      <dl class="facts">
        <dt>Verified</dt>
        <dd>
          {verified ? (
            <>
              <span class="badge allow">verified</span>{' '}
              <span class="muted">It hashes to what it did, and joins its neighbours.</span>
            </>
          ) : (
            <span class="badge deny">not verified</span>
          )}
        </dd>
        <dt>Chain</dt>
        <dd>
          <Text of={chain} />
        </dd>
        <dt>Entry</dt>
        <dd>
          <Link to={addressOf(['audit'], { entry: entryId })}>{`number ${seq.toLocaleString()}`}</Link>
        </dd>
        <dt>Entry id</dt>
        <dd>
          <Id of={entryId} what="the id of the entry" />
        </dd>
        <EntryHashes hash={hash} previousHash={previousHash} />
      </dl>
    </section>
  )
}
