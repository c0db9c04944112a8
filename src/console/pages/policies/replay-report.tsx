import type { Replay, ReplayKind } from '../../../client/api.ts'
import { go } from '../../data/place.ts'
import { Code } from '../../ui/code.tsx'
import { DECIDED_BY, DECISIONS } from '../../ui/decision-words.ts'
import { Facts } from '../../ui/facts.tsx'
import { countText, shareText } from '../../ui/numbers.ts'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Matrix } from './matrix.tsx'
import { Changes } from './replay-changes.tsx'
import { type ReplayReport, replayAddress } from './replay-state.ts'

/** Factors, rules and facts that are listed. */
const MAX_LISTED = 50

export function ReplayReportView({ replay, of }: { replay: Replay; of: ReplayReport }) {
  const { id, from, to, history } = replay
  const { decided, changed, kinds } = of
  return (
    <>
      <section class="card">
        <h2>
          {changed === 0
            ? `The draft decides all ${countText(decided)} requests as they were decided`
            : `${countText(changed)} of ${countText(decided)} requests change (${shareText(changed, decided)})`}
        </h2>
        <p class="muted small">
          <Time at={from} /> to {to === null ? 'now' : <Time at={to} />}, counting actions that{' '}
          {history === 'draft' ? 'the draft would have allowed' : 'were allowed then'}.
        </p>
        <Exceptions of={of} />
        <Matrix
          of={of.matrix}
          caption="Requests by recorded decision and by decision of the draft"
          corner="then ↓ draft →"
          changed={(from, to, count) => (
            <button type="button" class="link" onClick={() => go(replayAddress(id, { from, to }), 'replace')}>
              {count}
            </button>
          )}
        />
      </section>
      {kinds.length > 0 && (
        <section class="card">
          <h2>Kinds of change</h2>
          <Kinds id={id} of={kinds} leftOut={of.kindsLeftOut} />
        </section>
      )}
      <Shifts of={of} />
      {changed > 0 && <Changes id={id} leftOut={of.changesLeftOut} />}
    </>
  )
}

/** Requests that are not in the matrix. */
function Exceptions({ of: { stopped, unknown, assumed } }: { of: ReplayReport }) {
  const lines: [count: number, text: string][] = [
    [stopped, 'denied by a stop, which no policy changes'],
    [unknown.erased, 'unknown, since a part of them has been erased'],
    [unknown.pruned, 'unknown, since they count actions of a time that was pruned'],
    [assumed, 'decided by what is left of a session that may have begun before it'],
  ]
  const told = lines.filter(([count]) => count > 0)
  if (told.length === 0) return null
  return (
    <ul class="bullets small">
      {told.map(([count, text]) => (
        <li key={text}>
          {countText(count)} {text}
        </li>
      ))}
    </ul>
  )
}

function Kinds({ id, of, leftOut }: { id: string; of: readonly ReplayKind[]; leftOut: number }) {
  const isOther = ({ from, to }: ReplayKind): boolean => from.decision !== to.decision
  return (
    <>
      <Table
        caption="Kinds of change"
        columns={[
          { head: 'Requests', cell: ({ count }) => countText(count), class: 'number' },
          { head: 'Then', cell: ({ from }) => <Grounds of={from} /> },
          { head: 'Draft', cell: ({ to }) => <Grounds of={to} /> },
          { head: 'First', cell: ({ first }) => <Code of={first.action} /> },
        ]}
        rows={of.slice(0, MAX_LISTED)}
        keyOf={({ from, to }) => JSON.stringify([from, to])}
        classOf={(kind) => (isOther(kind) ? '' : 'muted')}
        toOf={({ from, to }) =>
          replayAddress(id, {
            ...(isOther({ from, to } as ReplayKind) && { from: from.decision, to: to.decision }),
            rule: to.rule ?? from.rule ?? '',
          })
        }
      />
      {of.length + leftOut > MAX_LISTED && <p class="muted small">Further kinds are not listed here.</p>}
    </>
  )
}

function Grounds({ of: { decision, decidedBy, rule } }: { of: ReplayKind['from'] }) {
  if (decision === 'none') return <span class="muted">not decided</span>
  return (
    <span class="row tight">
      <span class={`badge ${decision}`}>{DECISIONS[decision]}</span>
      <span class="small">{rule !== null ? <Code of={rule} /> : decidedBy !== null && DECIDED_BY[decidedBy]}</span>
    </span>
  )
}

/** Changes of rules, factors, scores and facts, without those that stay as they were. */
function Shifts({ of: { rules, factors, scores, unevaluable } }: { of: ReplayReport }) {
  const ofRules = rules.filter(({ before, after }) => before !== after).slice(0, MAX_LISTED)
  const ofFactors = factors.filter(({ changed }) => changed > 0).slice(0, MAX_LISTED)
  const hasScores = scores.higher + scores.lower > 0
  if (ofRules.length + ofFactors.length + unevaluable.facts.length === 0 && !hasScores) return null
  return (
    <section class="card">
      <h2>By rule, factor and fact</h2>
      <Facts
        of={{
          Rules: ofRules.length > 0 && (
            <ul>
              {ofRules.map(({ rule, before, after }) => (
                <li key={rule}>
                  <Code of={rule} /> decides {countText(after)} instead of {countText(before)}
                </li>
              ))}
            </ul>
          ),
          Risk:
            hasScores &&
            `higher in ${countText(scores.higher)}, lower in ${countText(scores.lower)}; mean ${scores.meanAfter} instead of ${scores.meanBefore}`,
          'Risk factors': ofFactors.length > 0 && (
            <ul>
              {ofFactors.map(({ name, changed }) => (
                <li key={name}>
                  <Code of={name} /> adds another number of points in {countText(changed)}
                </li>
              ))}
            </ul>
          ),
          'Missing facts': unevaluable.facts.length > 0 && (
            <ul>
              {unevaluable.facts.slice(0, MAX_LISTED).map(({ fact, of, count }) => (
                <li key={fact}>
                  <Code of={fact} /> in {countText(count)}, for <Code of={of.join(', ')} />
                </li>
              ))}
            </ul>
          ),
        }}
      />
    </section>
  )
}
