import type { ComponentChildren } from 'preact'
import type { Explanation as Explained, ExplainedFactor, ExplainedRule } from '../../client/api.ts'
import { DecisionBadge } from './badges.tsx'
import { Condition, Outcome, Seen } from './condition.tsx'
import { PolicyPlace } from './policy-place.tsx'
import { LongText, Text } from './text.tsx'

/** What each rule and risk factor about an action saw. Its headings are of the third order. */
export function Explanation({ of }: { of: Explained }) {
  const { rules, rulesLeftOut, factors, factorsLeftOut } = of
  return (
    <div class="explanation">
      <Grounds of={of} />
      <h3>Rules about this action</h3>
      {rules.length === 0 && <p class="muted">None: the default decides, unless the risk score does.</p>}
      {rules.map((rule) => (
        <Rule key={rule.id} of={rule} />
      ))}
      <LeftOut count={rulesLeftOut} />
      <h3>Risk factors about this action</h3>
      {factors.length === 0 && <p class="muted">None: nothing adds to the risk score.</p>}
      {factors.map((factor) => (
        <Factor key={factor.name} of={factor} />
      ))}
      <LeftOut count={factorsLeftOut} />
    </div>
  )
}

/** What stands beside rules and factors. */
function Grounds({ of: { domain, killSwitch, request, thresholds } }: { of: Explained }) {
  const { declared, validated, fault } = request
  return (
    <dl class="facts">
      <dt>Domain</dt>
      <dd>{domain === null ? <span class="muted">none</span> : <Text of={domain} />}</dd>
      <dt>Stop</dt>
      <dd>{killSwitch === null ? <span class="muted">none covers it</span> : <LongText of={killSwitch} />}</dd>
      <dt>Request</dt>
      <dd>
        {!declared ? (
          'the action is not declared: context and plan are not checked'
        ) : validated ? (
          'as the action declares it'
        ) : (
          <>
            <span class="badge deny">not as declared</span> <LongText of={fault ?? ''} />
          </>
        )}
      </dd>
      {thresholds && (
        <>
          <dt>Risk thresholds</dt>
          <dd>
            approval from {thresholds.requireApproval}, denied from {thresholds.deny}
          </dd>
        </>
      )}
    </dl>
  )
}

interface PartProps {
  head: ComponentChildren
  isOpen: boolean
  children: ComponentChildren
}

function Part({ head, isOpen, children }: PartProps) {
  return (
    <details class="explained" open={isOpen}>
      <summary>{head}</summary>
      <div class="explained-body">{children}</div>
    </details>
  )
}

function Rule({ of: { id, effect, outcome, matches, decides, file, line, condition } }: { of: ExplainedRule }) {
  const head = (
    <>
      <Outcome of={outcome} />
      <span class="explained-name">
        <LongText of={id} severalLines={false} />
      </span>
      <DecisionBadge decision={effect} />
      {decides && <span class="badge live">decides</span>}
      {matches && outcome === 'unknown' && <span class="badge require_approval">applies, to be safe</span>}
    </>
  )
  return (
    <Part head={head} isOpen={decides}>
      <p>
        <PolicyPlace file={file} line={line} />
      </p>
      {condition === undefined ? (
        <p class="muted">Without a condition: it always holds.</p>
      ) : (
        <Condition of={condition} />
      )}
    </Part>
  )
}

function Factor({
  of: { name, outcome, weight, contribution, file, line, condition, scale },
}: {
  of: ExplainedFactor
}) {
  const head = (
    <>
      <Outcome of={outcome} />
      <span class="explained-name">
        <LongText of={name} severalLines={false} />
      </span>
      <span class="number">
        {contribution > 0 && '+'}
        {contribution} <span class="muted">of {weight}</span>
      </span>
    </>
  )
  return (
    <Part head={head} isOpen={false}>
      <p>
        <PolicyPlace file={file} line={line} />
      </p>
      {scale && (
        <p>
          <code>
            <Text of={scale.fact} />
          </code>{' '}
          from {scale.from} (nothing) to {scale.to} (all of {weight}):{' '}
          <Seen of={scale.seen} isDefault={scale.defaulted} />
        </p>
      )}
      {condition && <Condition of={condition} />}
      {!scale && !condition && <p class="muted">Without a condition: it always adds its weight.</p>}
    </Part>
  )
}

function LeftOut({ count }: { count: number }) {
  return count === 0 ? null : <p class="muted small">{count.toLocaleString()} more are not shown.</p>
}
