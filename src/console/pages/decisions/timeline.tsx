import type { DecisionTimeline, TimelineItem } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { DecisionBadge } from '../../ui/badges.tsx'
import { DECIDED_BY, OUTCOMES } from '../../ui/decision-words.ts'
import { Link } from '../../ui/link.tsx'
import { ActorName, Principal } from '../../ui/principal.tsx'
import { StopLink } from '../../ui/stop-link.tsx'
import { LongText, Text, TextAfter } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'

/** The history of the action, in order. */
export function Timeline({ of: { decisionId, approval, items, leftOut } }: { of: DecisionTimeline }) {
  const { may } = useConsole()
  return (
    <>
      {leftOut > 0 && <p class="truncated">{`${leftOut} older entries of the approval are not shown.`}</p>}
      <ol class="timeline">
        {items.map((item) => (
          <li key={item.entryId} class={item.event.replace('.', '-')}>
            <p class="moment">
              <Time at={item.at} />
              {item.stop === null && item.actor && (
                <span class="muted">
                  {' by '}
                  <ActorName of={item.actor} />
                </span>
              )}
            </p>
            <div>
              <Moment of={item} asked={decisionId} />
            </div>
          </li>
        ))}
      </ol>
      {approval !== null && may('getApproval') && (
        <p>
          <Link to={addressOf(['approvals', approval.id])}>The approval</Link>
        </p>
      )}
    </>
  )
}

const EVENTS: Record<Exclude<TimelineItem['event'], 'gate.decision'>, string> = {
  'approval.requested': 'An approval was requested',
  'approval.approved': 'Vote for it',
  'approval.rejected': 'Rejected',
  'approval.expired': 'The deadline passed',
  'approval.cancelled': 'The approval was cancelled',
  'approval.consumed': 'The approval was used',
  'outcome.recorded': 'The agent reported the outcome',
  'outcome.missing': 'The agent reported no outcome in time',
}

function Moment({ of, asked }: { of: TimelineItem; asked: string }) {
  const { event, decisionId, decision, hold, vote, approvalStatus, stop, outcome } = of
  if (event === 'gate.decision') return <Decided of={of} isAsked={decisionId === asked} />
  const isEnough = event === 'approval.approved' && approvalStatus === 'approved'
  return (
    <>
      <p>
        <strong>{EVENTS[event]}</strong>
        {stop !== null && (
          <>
            {' by the stop '}
            <StopLink stop={stop} />
          </>
        )}
        {isEnough && ': it is approved'}
        {event === 'approval.approved' && approvalStatus === 'pending' && ': more votes are needed'}
      </p>
      {hold !== null && (
        <p class="muted">
          {`needs ${hold.quorum} ${hold.quorum === 1 ? 'vote' : 'votes'}, until `}
          <Time at={hold.expiresAt} />
        </p>
      )}
      {vote !== null && <Vote of={vote} />}
      {outcome !== null && (
        <p>
          {OUTCOMES[outcome.status]}
          {outcome.possibleBypass && <span class="tag">possible bypass</span>}
          {outcome.error !== null && (
            <>
              {': '}
              <LongText of={outcome.error} />
            </>
          )}
        </p>
      )}
      {decision === null && decisionId !== null && decisionId !== asked && event === 'approval.consumed' && (
        <p>
          by <Link to={addressOf(['decisions', decisionId])}>a later decision</Link>
        </p>
      )}
    </>
  )
}

function Decided({ of: { decision, decisionId }, isAsked }: { of: TimelineItem; isAsked: boolean }) {
  if (decision === null) return <p class="muted">A decision whose content is no longer in the file</p>
  const { action, reason, rule, decidedBy } = decision
  return (
    <>
      <p class="row">
        <DecisionBadge decision={decision.decision} observed={decision.observed} />
        {isAsked || decisionId === null ? (
          <strong>
            <Text of={action} />
          </strong>
        ) : (
          <Link to={addressOf(['decisions', decisionId])}>
            <Text of={action} />
          </Link>
        )}
        {isAsked && <span class="muted">this decision</span>}
      </p>
      <p>
        <LongText of={reason} />
      </p>
      <p class="muted small">
        {`by ${DECIDED_BY[decidedBy]}`}
        <TextAfter words=", rule " of={rule} />
      </p>
    </>
  )
}

function Vote({ of: { principal, approverId, comment } }: { of: NonNullable<TimelineItem['vote']> }) {
  return (
    <>
      <p>
        <Principal of={principal} />
        {approverId !== principal && (
          <span class="muted">
            {' who claimed to be '}
            <Text of={approverId} />
          </span>
        )}
      </p>
      {comment !== null && (
        <blockquote>
          <LongText of={comment} />
        </blockquote>
      )}
    </>
  )
}
