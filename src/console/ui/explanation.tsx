import type { Explanation as Explained, ExplainedFactor, ExplainedRequest, ExplainedRule } from '../../client/api.ts'
import { DecisionBadge } from './badges.tsx'
import { Code } from './code.tsx'
import { Condition, Mark, Seen } from './condition.tsx'
import { Facts } from './facts.tsx'
import { PolicyPlace } from './policy-place.tsx'
import { LongText, Text } from './text.tsx'

/** The facts that each rule and risk factor of an action used. Its headings are of the third level. */
export function Explanation({ of }: { of: Explained }) {
  const { domain, killSwitch, request, thresholds, rules, rulesLeftOut, factors, factorsLeftOut } = of
  return (
    <>
      {killSwitch !== null && (
        <p class="notice">
          A stop covers the action: <Text of={killSwitch} />
        </p>
      )}
      <Facts
        of={{
          Request: <RequestFits of={request} />,
          Domain: domain === null ? <span class="muted">none</span> : <Text of={domain} />,
          'Risk limits': thresholds
            ? `approval from ${thresholds.requireApproval}, denied from ${thresholds.deny}`
            : undefined,
        }}
      />
      <h3>Rules for the action</h3>
      {rules.length === 0 && <p class="muted">No rule covers this action.</p>}
      <ul class="stack tight explained">
        {rules.map((rule) => (
          <Rule key={rule.id} of={rule} />
        ))}
      </ul>
      <LeftOut count={rulesLeftOut} what="rules" />
      {factors.length > 0 && <h3>Risk factors for the action</h3>}
      <ul class="stack tight explained">
        {factors.map((factor) => (
          <Factor key={factor.name} of={factor} />
        ))}
      </ul>
      <LeftOut count={factorsLeftOut} what="risk factors" />
    </>
  )
}

function RequestFits({ of: { declared, validated, fault } }: { of: ExplainedRequest }) {
  if (fault !== null)
    return (
      <>
        does not fit: <LongText of={fault} />
      </>
    )
  if (!declared) return <>not checked, because the action is not declared</>
  return <>fits what the action declares{!validated && ', but the plan names no action'}</>
}

function Rule({ of: { id, effect, outcome, matches, decides, file, line, condition } }: { of: ExplainedRule }) {
  return (
    <li class={decides ? 'box decides' : 'box'}>
      <div class="row baseline explained-head">
        <Mark of={outcome} />
        <strong>
          <Text of={id} />
        </strong>
        <DecisionBadge decision={effect} />
        {decides && <span class="tag">decides</span>}
        {outcome === 'unknown' && <span class="muted">{`counts as ${matches ? 'holding' : 'not holding'}`}</span>}
        <PolicyPlace file={file} line={line} />
      </div>
      {condition ? <Condition of={condition} /> : <p class="muted small">It always holds.</p>}
    </li>
  )
}

function Factor({ of }: { of: ExplainedFactor }) {
  const { name, outcome, weight, contribution, file, line, condition, scale } = of
  return (
    <li class="box">
      <div class="row baseline explained-head">
        <Mark of={outcome} />
        <strong>
          <Text of={name} />
        </strong>
        <span>{`adds ${contribution} of ${weight}`}</span>
        <PolicyPlace file={file} line={line} />
      </div>
      {condition && <Condition of={condition} />}
      {scale !== null && (
        <p class="scale">
          <Code of={scale.fact} />
          {` from ${scale.from} to ${scale.to}`}
          {outcome !== 'false' && <Seen of={scale.seen} isDefault={scale.defaulted === true} />}
        </p>
      )}
    </li>
  )
}

function LeftOut({ count, what }: { count: number; what: string }) {
  if (count === 0) return null
  return <p class="truncated">{`${count.toLocaleString()} more ${what} are not shown.`}</p>
}
