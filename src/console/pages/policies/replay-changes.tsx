import { useState } from 'preact/hooks'
import type { Explanation as Explained, ReplayChange } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf, go } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { DECISIONS } from '../../ui/decision-words.ts'
import { Explanation } from '../../ui/explanation.tsx'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { PolicyDigest } from '../../ui/policy-place.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { type ChangeFilter, replayAddress, useReplayPlace } from './replay-state.ts'

/** Changed decisions of one page. */
const PAGE = 20

/** The changed decisions, chosen in the address, with both explanations of each. */
export function Changes({ id, leftOut }: { id: string; leftOut: number }) {
  const { filter } = useReplayPlace()
  return (
    <section class="card">
      <h2>Changed decisions</h2>
      <Chosen id={id} filter={filter} />
      <List key={JSON.stringify(filter)} id={id} filter={filter} />
      {leftOut > 0 && <p class="muted small">{countText(leftOut)} more are counted, and not listed.</p>}
    </section>
  )
}

/** The choice, with a way back to all. */
function Chosen({ id, filter: { from, to, rule } }: { id: string; filter: ChangeFilter }) {
  if (from === '' && to === '' && rule === '') return null
  const wordOf = (decision: string): string => (isDecision(decision) ? DECISIONS[decision] : decision)
  return (
    <p class="row" role="status">
      <span>
        {from !== '' && `${wordOf(from)} → ${wordOf(to)}`}
        {rule !== '' && (
          <>
            {' by rule '}
            <Code of={rule} />
          </>
        )}
      </span>
      <Button text="Show all" look="small" onClick={() => go(replayAddress(id), 'replace')} />
    </p>
  )
}

function List({ id, filter: { from, to, rule } }: { id: string; filter: ChangeFilter }) {
  const { gate } = useConsole()
  const [offset, setOffset] = useState(0)
  const query = {
    ...(isDecision(from) && { from }),
    ...(isDecision(to) && { to }),
    ...(rule !== '' && { rule }),
    ...{ limit: PAGE, offset },
  }
  const changes = useLoad((signal) => gate.replays.changes(id, query, { signal }), [id, query])
  return (
    <Await of={changes} what="the changed decisions">
      {({ data, page: { total } }) => {
        const [isFirst, isLast] = [offset === 0, offset + PAGE >= total]
        return (
          <>
            {data.length === 0 && <Empty title="No changed decision matches." />}
            <ol class="stack tight replay-changes">
              {data.map((change) => (
                <li key={change.id}>
                  <Item of={change} />
                </li>
              ))}
            </ol>
            {total > PAGE && (
              <div class="row">
                <Button
                  text="Earlier"
                  look="small"
                  aria-disabled={isFirst}
                  onClick={() => isFirst || setOffset(offset - PAGE)}
                />
                <span class="small muted">
                  {countText(offset + 1)} to {countText(Math.min(total, offset + PAGE))} of {countText(total)}
                </span>
                <Button
                  text="Later"
                  look="small"
                  aria-disabled={isLast}
                  onClick={() => isLast || setOffset(offset + PAGE)}
                />
              </div>
            )}
          </>
        )
      }}
    </Await>
  )
}

function isDecision(text: string): text is keyof typeof DECISIONS {
  return Object.hasOwn(DECISIONS, text)
}

/** A changed decision in a line; opened, the explanations side by side. */
function Item({ of }: { of: ReplayChange }) {
  const { timestamp, action, agent, from, to } = of
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details class="box" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        <span class={`badge ${from.decision}`}>
          {isDecision(from.decision) ? DECISIONS[from.decision] : 'Not decided'}
        </span>
        {' → '}
        <span class={`badge ${to.decision}`}>{isDecision(to.decision) ? DECISIONS[to.decision] : ''}</span>{' '}
        <Code of={action} />{' '}
        <span class="muted small">
          <Text of={agent} />, <Time at={timestamp} />
        </span>
      </summary>
      {isOpen && <SideBySide of={of} />}
    </details>
  )
}

function SideBySide({ of: { id, from, to, after, assumed } }: { of: ReplayChange }) {
  const { gate } = useConsole()
  const recorded = useLoad((signal) => gate.decisions.get(id, { signal }), [id])
  return (
    <>
      {assumed && <p class="notice small">The session may have begun before what the trail still has.</p>}
      <div class="side-by-side">
        <section>
          <h3>
            As it was decided <Link to={addressOf(['decisions', id])}>Decision</Link>
          </h3>
          <Side of={from} />
          <Await of={recorded} what="the decision">
            {({ explanation, policyDigest, unexplained }) => (
              <PolicyDigest.Provider value={policyDigest ?? ''}>
                <Why of={explanation} instead={unexplained?.message} />
              </PolicyDigest.Provider>
            )}
          </Await>
        </section>
        <section>
          <h3>By the draft</h3>
          <Side of={to} />
          <Why of={after} instead="Beyond the limit of explanations; choose a shorter range." />
        </section>
      </div>
    </>
  )
}

function Side({ of: { reason, riskScore } }: { of: ReplayChange['from'] }) {
  return (
    <p>
      <LongText of={reason ?? ''} /> {riskScore !== null && <span class="muted">Risk {riskScore}.</span>}
    </p>
  )
}

function Why({ of, instead }: { of: Explained | null; instead: string | undefined }) {
  if (of !== null) return <Explanation of={of} />
  return (
    <p class="muted">
      <Text of={instead ?? 'It cannot be explained any more.'} />
    </p>
  )
}
