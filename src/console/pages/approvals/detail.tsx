import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Risk, RiskFactors, StatusBadge } from '../../ui/badges.tsx'
import { Button } from '../../ui/button.tsx'
import { Id } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { PermittedLink } from '../../ui/link.tsx'
import { Await } from '../../ui/states.tsx'
import { LongText, Text, TextAfter } from '../../ui/text.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { Arguments, ExactJson } from './arguments.tsx'
import { type Asked, useAsked } from './asked.ts'
import { History, RuleSource } from './background.tsx'
import { Covered } from './covered.tsx'
import { obstacleTo } from './obstacles.ts'
import { Meanwhile } from './reviewed.tsx'
import { isPaused, Stopped } from './stopped.tsx'
import type { VoteKind } from './vote.ts'
import { Votes } from './votes.tsx'

interface DetailProps {
  id: string
  onVote: (kind: VoteKind) => void
  /** Set to request the focus for the heading; unset once it has it. */
  wantsFocus: { current: boolean }
}

/** Rest of the cursor on a row before its approval is asked for: a held key runs through many. */
const FOLLOWED_MS = 80

/** All facts for deciding an approval. */
export function Detail({ id, onVote, wantsFocus }: DetailProps) {
  const asked = useAsked(id, FOLLOWED_MS)
  return (
    <Await of={asked.approval} what="the approval">
      {(approval) => <Shown {...{ approval, asked, onVote, wantsFocus }} key={approval.id} />}
    </Await>
  )
}

interface ShownProps extends Omit<DetailProps, 'id'> {
  approval: Approval
  asked: Asked
}

function Shown({ approval, asked, onVote, wantsFocus }: ShownProps) {
  const { background } = asked
  const heading = useRef<HTMLHeadingElement>(null)
  const wasPending = useRef(approval.status === 'pending')
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    wantsFocus.current = false
    heading.current?.focus({ preventScroll: true })
  })
  return (
    <article class="approval stack links">
      <header class="approval-head">
        <h2 ref={heading} tabIndex={-1}>
          <Text of={approval.action} />
        </h2>
        <p class="row">
          <StatusBadge status={approval.status} />
          {approval.status === 'pending' && <Countdown until={approval.expiresAt} isPaused={approval.stop !== null} />}
          <Risk score={approval.riskScore} />
        </p>
        <Why approval={approval} />
        <VoteButtons approval={approval} asked={asked} onVote={onVote} />
      </header>
      {wasPending.current && approval.status !== 'pending' && (
        <div class="notice" role="status">
          <Meanwhile approval={approval} />
        </div>
      )}
      <Stopped approval={approval} />
      <Section title="Arguments" aside={<ExactJson approval={approval} />}>
        <Arguments approval={approval} />
      </Section>
      <Section title="Coverage of an approval">
        <Covered approval={approval} />
      </Section>
      <Section title="Votes">
        <Votes approval={approval} approvers={background.data?.approvers} />
      </Section>
      <Section title="Risk">
        <RiskFactors factors={approval.factors} total={approval.riskScore} />
      </Section>
      <Await of={background} what="the background">
        {(known) =>
          known && (
            <>
              <Section title="Requester">
                <History background={known} />
              </Section>
              <Section title="Rule">
                <RuleSource background={known} />
              </Section>
            </>
          )
        }
      </Await>
      <Section title="On record">
        <Record approval={approval} />
      </Section>
    </article>
  )
}

interface SectionProps {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
}

function Section({ title, aside, children }: SectionProps) {
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <div class="row between card-head">
        <h3 id={id}>{title}</h3>
        {aside}
      </div>
      {children}
    </section>
  )
}

/** The requester, and the reason for the approval. */
function Why({ approval: { reason, rule, requestedBy } }: { approval: Approval }) {
  return (
    <div>
      <p>
        <LongText of={reason} />
      </p>
      <p class="muted small">
        requested by <Text of={requestedBy} />
        <TextAfter words=" · rule " of={rule} />
      </p>
    </div>
  )
}

/** The times and ids of the approval. */
function Record({ approval }: { approval: Approval }) {
  const { id, digest, createdAt, expiresAt, decidedAt, decisionId } = approval
  const deadline = (
    <>
      <Time at={expiresAt} />
      {isPaused(approval) && ', extended by the duration of the stop'}
    </>
  )
  const decision = (
    <PermittedLink needs="getDecision" to={addressOf(['decisions', decisionId])}>
      <code>{decisionId}</code>
    </PermittedLink>
  )
  return (
    <Facts
      of={{
        'Requested at': <Time at={createdAt} />,
        Deadline: deadline,
        'Decided at': decidedAt ? <Time at={decidedAt} /> : undefined,
        Decision: decision,
        Approval: <Id of={id} what="id" />,
        Digest: <Id of={digest} what="digest" />,
      }}
    />
  )
}

/** Both votes, if the key may cast them, or the reason why not. */
function VoteButtons({ approval, asked, onVote }: Omit<ShownProps, 'wantsFocus'>) {
  const { may, who } = useConsole()
  const id = useId()
  if (approval.status !== 'pending' || !may('approve')) return null
  const voting = { approval, background: asked.background.data, who }
  const [noApproval, noRejection] = [obstacleTo('approve', voting), obstacleTo('reject', voting)]
  const obstacles = [...new Set([noApproval, noRejection])].filter((text) => text !== undefined)
  const described = { 'aria-describedby': obstacles.length > 0 ? id : undefined }
  return (
    <div class="row vote-buttons">
      <Button look="primary" disabled={noApproval !== undefined} onClick={() => onVote('approve')} {...described}>
        Approve…
      </Button>
      <Button disabled={noRejection !== undefined} onClick={() => onVote('reject')} {...described}>
        Reject…
      </Button>
      {obstacles.length > 0 && (
        <p id={id} class="small muted">
          <Text of={obstacles.join(' ')} />
        </p>
      )}
    </div>
  )
}
