import { useEffect, useRef } from 'preact/hooks'
import type { DryRun } from '../../../client/api.ts'
import { DecisionBadge, Risk, RiskFactors } from '../../ui/badges.tsx'
import { Code } from '../../ui/code.tsx'
import { Id } from '../../ui/copy.tsx'
import { DECIDED_BY, RETRIES } from '../../ui/decision-words.ts'
import { Diagnostics } from '../../ui/diagnostics.tsx'
import { Explanation } from '../../ui/explanation.tsx'
import { Facts } from '../../ui/facts.tsx'
import { PolicyDigest } from '../../ui/policy-place.tsx'
import { LongText } from '../../ui/text.tsx'
import type { Asked } from './dry-run-state.ts'

/** The heading of the result, which names the policies that decided. */
export function titleOf({ isDraft, of }: Asked): string {
  if (of.verdict === null) return 'The draft has faults, so it decides nothing'
  return isDraft ? 'Result of the draft' : 'Result of the policies in force'
}

export function Result({ of: asked }: { of: Asked }) {
  const { action, isDraft, of } = asked
  const section = useRef<HTMLElement>(null)
  // On a phone it stands below the input. The focus stays there: authors of drafts ask again and again.
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [asked])
  const { verdict, diagnostics } = of
  return (
    <>
      <section ref={section} class="card result">
        <h2>{titleOf(asked)}</h2>
        {verdict && <Verdict of={verdict} action={action} />}
      </section>
      {diagnostics.length > 0 && (
        <section class="card">
          <h2>{verdict ? 'Warnings about the draft' : 'Faults of the draft'}</h2>
          <Diagnostics of={diagnostics} isInForce={false} />
        </section>
      )}
      {verdict && (
        <section class="card">
          <h2>Why</h2>
          <Grounds of={verdict} digest={of.policyDigest} isDraft={isDraft} />
          <PolicyDigest.Provider value={of.policyDigest ?? ''}>
            <Explanation of={verdict.explanation} />
          </PolicyDigest.Provider>
        </section>
      )}
    </>
  )
}

type Verdict = NonNullable<DryRun['verdict']>

function Verdict({ of: { decision, reason, riskScore, factors }, action }: { of: Verdict; action: string }) {
  return (
    <>
      <p class="would-be">
        <DecisionBadge decision={decision} /> <Code of={action} />
      </p>
      <p>
        <LongText of={reason} />
      </p>
      <div class="row">
        <span class="muted">Risk</span> <Risk score={riskScore} />
      </div>
      <RiskFactors factors={factors} />
    </>
  )
}

function Grounds({ of, digest, isDraft }: { of: Verdict; digest: string | null; isDraft: boolean }) {
  const { rule, decidedBy, retry, decision, unevaluable } = of
  return (
    <Facts
      of={{
        'Decided by': (
          <>
            {DECIDED_BY[decidedBy]}
            {rule !== null && (
              <>
                {' '}
                <code>
                  <LongText of={rule} severalLines={false} />
                </code>
              </>
            )}
          </>
        ),
        'Ask again': decision !== 'allow' && RETRIES[retry],
        'Unknown facts': unevaluable.length > 0 && (
          <ul>
            {unevaluable.map(({ kind, name, facts, overBudget = [] }) => (
              <li key={`${kind} ${name}`}>
                {kind} <Code of={name} />
                {facts.length > 0 && (
                  <>
                    {' '}
                    lacks <Code of={facts.join(', ')} />
                  </>
                )}
                {overBudget.length > 0 && (
                  <>
                    {' '}
                    exceeds the work limit with <Code of={overBudget.join(', ')} />
                  </>
                )}
              </li>
            ))}
          </ul>
        ),
        [isDraft ? 'Digest of the draft' : 'Policies']:
          digest === null ? 'none in force' : <Id of={digest} what="the digest of the policies" />,
      }}
    />
  )
}
