import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Risk, RiskFactors, StatusBadge } from '../../ui/badges.tsx'
import { Id } from '../../ui/copy.tsx'
import { Link } from '../../ui/link.tsx'
import { Await } from '../../ui/states.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { Arguments, ExactJson } from './arguments.tsx'
import { type Asked, obstacleTo, useAsked } from './asked.ts'
import { History, RuleSource } from './background.tsx'
import { Covered } from './covered.tsx'
import { Meanwhile } from './reviewed.tsx'
import type { VoteKind } from './vote.ts'
import { Votes } from './votes.tsx'

interface DetailProps {
  id: string
  onVote: (kind: VoteKind) => void
  /** The focus goes to its heading when it comes, since somebody opened it here. */
  takesFocus: boolean
}

/** Everything that one decides an approval by. */
export function Detail({ id, onVote, takesFocus }: DetailProps) {
  const asked = useAsked(id)
  return (
    <Await of={asked.approval} what="the approval">
      {(approval) => <Shown {...{ approval, asked, onVote, takesFocus }} key={approval.id} />}
    </Await>
  )
}

interface ShownProps extends Omit<DetailProps, 'id'> {
  approval: Approval
  asked: Asked
}

function Shown({ approval, asked, onVote, takesFocus }: ShownProps) {
  const { background } = asked
  const heading = useRef<HTMLHeadingElement>(null)
  const wasPending = useRef(approval.status === 'pending')
  useEffect(() => {
    if (takesFocus) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <article class="approval stack">
      <header class="approval-head">
        <h2 ref={heading} tabIndex={-1}>
          <Text of={approval.action} />
        </h2>
        <p class="row">
          <StatusBadge status={approval.status} />
          {approval.status === 'pending' && <Countdown until={approval.expiresAt} />}
          <Risk score={approval.riskScore} />
        </p>
        <VoteButtons approval={approval} asked={asked} onVote={onVote} />
      </header>
      {wasPending.current && approval.status !== 'pending' && (
        <div class="notice" role="status">
          <Meanwhile approval={approval} />
        </div>
      )}
      <Section title="Why it waits">
        <Why approval={approval} />
      </Section>
      <Section title="Arguments" aside={<ExactJson approval={approval} />}>
        <Arguments approval={approval} />
      </Section>
      <Section title="What an approval covers">
        <Covered approval={approval} />
        <Id of={approval.digest} what="digest" />
      </Section>
      <Section title="Votes">
        <Votes approval={approval} approvers={background.data?.approvers} />
      </Section>
      <Section title="Risk">
        <RiskFactors factors={approval.factors} />
      </Section>
      <Await of={background} what="the background">
        {(known) =>
          known && (
            <>
              <Section title="Rule">
                <RuleSource {...known} />
              </Section>
              <Section title="Who asks">
                <History background={known} />
              </Section>
            </>
          )
        }
      </Await>
    </article>
  )
}

function Section({
  title,
  aside,
  children,
}: {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h3 id={id}>{title}</h3>
        {aside}
      </div>
      {children}
    </section>
  )
}

function Why({
  approval: { id, reason, rule, requestedBy, createdAt, expiresAt, decisionId },
}: {
  approval: Approval
}) {
  const { may } = useConsole()
  return (
    <dl class="facts">
      <dt>Reason</dt>
      <dd>
        <LongText of={reason} />
      </dd>
      {rule !== null && (
        <>
          <dt>Rule</dt>
          <dd>
            <Text of={rule} />
          </dd>
        </>
      )}
      <dt>Asked by</dt>
      <dd>
        <Text of={requestedBy} />
      </dd>
      <dt>Asked at</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      <dt>Deadline</dt>
      <dd>
        <Time at={expiresAt} />
      </dd>
      <dt>Decision</dt>
      <dd>
        {may('getDecision') ? (
          <Link to={addressOf(['decisions', decisionId])}>
            <code>{decisionId}</code>
          </Link>
        ) : (
          <code>{decisionId}</code>
        )}
      </dd>
      <dt>Approval</dt>
      <dd>
        <Id of={id} what="id" />
      </dd>
    </dl>
  )
}

interface VoteButtonsProps extends Pick<ShownProps, 'approval' | 'asked' | 'onVote'> {}

/** Both answers, where the key may give them, and why it may not. */
function VoteButtons({ approval, asked, onVote }: VoteButtonsProps) {
  const { may } = useConsole()
  const id = useId()
  if (approval.status !== 'pending' || !may('approve')) return null
  const [noApproval, noRejection] = [obstacleTo('approve', asked), obstacleTo('reject', asked)]
  const obstacles = [...new Set([noApproval, noRejection])].filter((text) => text !== undefined)
  const described = obstacles.length > 0 ? id : undefined
  return (
    <div class="vote-buttons">
      <button
        type="button"
        class="button primary"
        disabled={noApproval !== undefined}
        aria-describedby={described}
        onClick={() => onVote('approve')}
      >
        Approve…
      </button>
      <button
        type="button"
        class="button"
        disabled={noRejection !== undefined}
        aria-describedby={described}
        onClick={() => onVote('reject')}
      >
        Reject…
      </button>
      {obstacles.length > 0 && (
        <p id={id} class="small muted">
          <Text of={obstacles.join(' ')} />
        </p>
      )}
    </div>
  )
}
