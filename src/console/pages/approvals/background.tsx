import type { ApprovalBackground, PastDecision } from '../../../client/api.ts'
import { addressOf } from '../../data/place.ts'
import { policyAddress } from '../../data/policy-address.ts'
import { DecisionBadge } from '../../ui/badges.tsx'
import { PermittedLink } from '../../ui/link.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

/** Limit of past decisions shown before a click on more. */
const SHOWN = 5

/** The source of the rule that requires approval. */
export function RuleSource({ background: { rule, unshown, policyDigest } }: { background: ApprovalBackground }) {
  if (rule === null) return <p class="muted">Not shown: {unshown?.message ?? 'no rule required the approval'}.</p>
  return (
    <figure class="rule-source">
      <figcaption class="small muted">
        <PermittedLink needs="policySource" to={policyAddress(rule.file, rule.line, policyDigest ?? '')}>
          <Text of={rule.file} />
        </PermittedLink>
        {`, ${rule.line === rule.endLine ? `line ${rule.line}` : `lines ${rule.line}–${rule.endLine}`}`}
      </figcaption>
      <Scroll label="Source of the rule" class="rule-text">
        <pre>
          <LongText of={rule.text} />
        </pre>
      </Scroll>
    </figure>
  )
}

/** Earlier actions of the agent, and those of the same session. */
export function History({ background: { agent, session, searchedTo } }: { background: ApprovalBackground }) {
  const { allow, deny, require_approval: held, complete } = agent.lastDay
  return (
    <div class="stack">
      <p>
        <Text of={agent.principal} />
        {agent.name !== null && agent.name !== agent.principal && (
          <>
            {' ('}
            <Text of={agent.name} />)
          </>
        )}
        {`: ${complete ? '' : 'at least '}in the last 24 hours ${allow} allowed, ${held} needed approval, ${deny} denied.`}
      </p>
      <Past title="Its last decisions" decisions={agent.recent} none="No other decisions." />
      {session.id !== null && (
        <>
          <p class="subhead">
            Session <Text of={session.id} />
          </p>
          <Past title="In the same session" decisions={session.recent} none="No other decisions." />
        </>
      )}
      {searchedTo !== null && (
        <p class="muted small">
          Searched back to <Ago at={searchedTo} />.
        </p>
      )}
    </div>
  )
}

interface PastProps {
  title: string
  decisions: readonly PastDecision[]
  none: string
}

function Past({ title, decisions, none }: PastProps) {
  if (decisions.length === 0) return <p class="muted small">{none}</p>
  const row = ({ id, action, decision, outcome, timestamp }: PastDecision) => (
    <li key={id}>
      <DecisionBadge decision={decision} />
      <PermittedLink needs="getDecision" to={addressOf(['decisions', id])}>
        <Text of={action} />
      </PermittedLink>
      <span class="muted small">
        {outcome !== null && `${outcome} · `}
        <Ago at={timestamp} />
      </span>
    </li>
  )
  return (
    <>
      <ul class="past" aria-label={title}>
        {decisions.slice(0, SHOWN).map(row)}
      </ul>
      {decisions.length > SHOWN && (
        <details>
          <summary class="small">{decisions.length - SHOWN} more</summary>
          <ul class="past" aria-label={`${title}, more`}>
            {decisions.slice(SHOWN).map(row)}
          </ul>
        </details>
      )}
    </>
  )
}
