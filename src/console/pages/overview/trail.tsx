import type { Overview } from '../../../client/api.ts'
import { countText } from '../../ui/numbers.ts'
import { Ago } from '../../ui/time.tsx'
import { Counted } from './counted.tsx'

/** The state of the audit trail, and of its proofs. */
export function TrailCard({ of }: { of: Overview['audit'] }) {
  const { entries, newestAt, lastVerified, unanchoredEntries, sinks, fault } = of
  return (
    <section class="card">
      <h2>Audit trail</h2>
      <dl class="facts">
        <dt>Entries</dt>
        <dd>
          <Counted path="audit" needs="auditChain">
            {countText(entries)}
          </Counted>
        </dd>
        <dt>Newest</dt>
        <dd>{newestAt === null ? 'none yet' : <Ago at={newestAt} />}</dd>
        <dt>Writing</dt>
        <dd>{fault === null ? <Badge isGood text="working" /> : <Badge text="failing" />}</dd>
        <dt>Last verified</dt>
        <dd>
          {lastVerified === null ? (
            <span class="muted">not since the service started</span>
          ) : (
            <>
              <Badge isGood={lastVerified.valid} text={lastVerified.valid ? 'valid' : 'not valid'} />{' '}
              <Ago at={lastVerified.at} />, {countText(lastVerified.chains)}{' '}
              {lastVerified.chains === 1 ? 'chain' : 'chains'}
            </>
          )}
        </dd>
        <dt>Anchors</dt>
        <dd>
          <Anchors {...{ unanchoredEntries, sinks }} />
        </dd>
      </dl>
    </section>
  )
}

function Anchors({ unanchoredEntries, sinks }: Pick<Overview['audit'], 'unanchoredEntries' | 'sinks'>) {
  if (sinks.length === 0) {
    return (
      <span class="muted">
        No external anchors are configured: only this service vouches that nothing was rewritten or taken away.
      </span>
    )
  }
  return (
    <ul class="stack tight">
      {sinks.map(({ sink, ok, lastAt }) => (
        <li key={sink}>
          {sink} <Badge isGood={ok} text={ok ? 'working' : 'failing'} />{' '}
          {lastAt === null ? <span class="muted">none yet</span> : <Ago at={lastAt} />}
        </li>
      ))}
      {unanchoredEntries !== null && (
        <li>
          {countText(unanchoredEntries)} {unanchoredEntries === 1 ? 'entry' : 'entries'} in no anchor yet
        </li>
      )}
    </ul>
  )
}

export function Badge({ isGood = false, text }: { isGood?: boolean; text: string }) {
  return <span class={`badge ${isGood ? 'allow' : 'deny'}`}>{text}</span>
}
