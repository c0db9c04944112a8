import { useLayoutEffect } from 'preact/hooks'
import type { RecordedDecision } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf } from '../../data/place.ts'
import { RiskFactors } from '../../ui/badges.tsx'
import { Code } from '../../ui/code.tsx'
import { Explanation } from '../../ui/explanation.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { Link } from '../../ui/link.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { PolicyDigest } from '../../ui/policy-place.tsx'
import { Shown } from '../../ui/shown.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { EvidenceActions } from './evidence.tsx'
import { Caller, ChainPlace, Summary } from './facts.tsx'
import { Timeline } from './timeline.tsx'

interface DecisionDetailProps {
  /** Id of the decision, or of its audit entry. */
  id: string
  /** The address of the list that the user came from, with its filters. */
  list: string | undefined
}

/** The full record of one decision. */
export function DecisionDetail({ id, list }: DecisionDetailProps) {
  const { gate } = useConsole()
  const decision = useLoad((signal) => gate.decisions.get(id, { signal }), [id])
  const timeline = useLoad((signal) => gate.decisions.timeline(id, { signal }), [id])
  const data = decision.data
  // The list may have been scrolled far down.
  useLayoutEffect(() => scrollTo(0, 0), [])
  // Outcome and approval arrive later.
  useChanges(['approval', 'outcome'], () => {
    decision.reload()
    timeline.reload()
  })
  return (
    <>
      <p class="back links">
        <Link to={list ?? addressOf(['decisions'])}>{list?.includes('?') ? 'Back to the list' : 'All decisions'}</Link>
      </p>
      <PageHead title="Decision">{data && <EvidenceActions id={data.id} />}</PageHead>
      {decision.error && isGone(decision.error) && data === undefined ? (
        <Gone id={id} error={decision.error} />
      ) : (
        <Await of={decision} what="the decision">
          {(found) => (
            <div class="stack">
              <Doubts of={found} />
              <Summary of={found} />
              <div class="columns">
                <Request of={found} />
                <div class="stack">
                  <section class="card">
                    <h2>Risk</h2>
                    <RiskFactors factors={found.factors} />
                    <Unevaluable of={found} />
                  </section>
                  <Caller of={found} />
                </div>
              </div>
              <Why of={found} />
              <section class="card">
                <h2>History</h2>
                <Await of={timeline} what="what happened">
                  {(told) => <Timeline of={told} />}
                </Await>
              </section>
              <ChainPlace of={found} />
            </div>
          )}
        </Await>
      )}
    </>
  )
}

function isGone({ code }: GateError): boolean {
  return code === 'not_found' || code === 'redacted'
}

function Gone({ id, error }: { id: string; error: GateError }) {
  if (error.code === 'redacted')
    return (
      <Empty title="The content of this decision is no longer in the data file.">
        Its entry is still in the chain: <Link to={addressOf(['audit'], { entry: entryIdOf(id) })}>show it</Link>.
      </Empty>
    )
  return (
    <Empty title="There is no such decision.">
      <Code of={id} /> is not the id of a decision of this tenant and environment.
      {id.startsWith('aud_') && (
        <>
          {' '}
          It may be another entry: <Link to={addressOf(['audit'], { entry: id })}>look in the audit trail</Link>.
        </>
      )}
    </Empty>
  )
}

/** The entry of `dec_X` is `aud_X`. */
function entryIdOf(id: string): string {
  return `aud${id.slice(id.indexOf('_'))}`
}

/** Evidence against the record, first on the page. */
function Doubts({ of: { verified, fault, reproduced, differences } }: { of: RecordedDecision }) {
  return (
    <>
      {!verified && (
        <div class="failure" role="alert">
          <p>
            <strong>This record was altered.</strong> <Text of={fault ?? 'It does not verify.'} />
          </p>
          <p>
            Do not rely on this record. Verify the whole trail, keep the data file as it is, and compare with anchors,
            exports and backups. <Link to={addressOf(['audit'])}>Verify the trail</Link>
          </p>
        </div>
      )}
      {reproduced === false && (
        <div class="notice" role="alert">
          <p>
            <strong>The same policies decide differently now.</strong> The record stands. Differences:
          </p>
          <ul class="bullets">
            {differences.map(({ member, recorded, again }) => (
              <li key={member}>
                <Text of={member} />: recorded <Shown of={recorded} />, again <Shown of={again} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

function Request({ of: { request } }: { of: RecordedDecision }) {
  return (
    <section class="card">
      <h2>Request</h2>
      {request === null ? (
        <p class="muted">It was erased. The chain still commits to its content.</p>
      ) : (
        <JsonTree value={request} path="request" />
      )}
    </section>
  )
}

/** Rules and risk factors that counted as restrictive because they could not be evaluated. */
function Unevaluable({ of: { unevaluable } }: { of: RecordedDecision }) {
  if (unevaluable.length === 0) return null
  return (
    <div class="small">
      <p>Could not be evaluated, and counted as true where that is stricter:</p>
      <ul class="bullets">
        {unevaluable.map(({ kind, name, facts, overBudget = [] }) => (
          <li key={`${kind} ${name}`}>
            {kind} <Text of={name} />
            {facts.length > 0 && (
              <>
                , because of missing facts: <Text of={facts.join(', ')} />
              </>
            )}
            {overBudget.length > 0 && (
              <>
                , because comparing <Text of={overBudget.join(', ')} /> exceeds the work limit of a check
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The explanation by the deciding policies; or the reason why there is none. */
function Why({ of: { explanation, unexplained, reproduced, policyDigest } }: { of: RecordedDecision }) {
  return (
    <section class="card">
      <h2>Why</h2>
      {explanation === null ? (
        <p>
          It cannot be explained: <Text of={unexplained?.message ?? 'the policies give no reason.'} />
        </p>
      ) : (
        <>
          {reproduced === true && (
            <p class="small">
              <span class="badge allow">reproduced</span> The same policies decide the same again.
            </p>
          )}
          <PolicyDigest.Provider value={policyDigest ?? ''}>
            <Explanation of={explanation} />
          </PolicyDigest.Provider>
        </>
      )}
    </section>
  )
}
