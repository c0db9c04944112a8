import type { Overview } from '../../../client/api.ts'
import { Facts } from '../../ui/facts.tsx'
import { countText } from '../../ui/numbers.ts'
import { Ago } from '../../ui/time.tsx'
import { Counted } from './counted.tsx'

/** The state of the audit trail, and of its proofs. */
export function TrailCard({ of }: { of: Overview['audit'] }) {
  const { entries, newestAt, lastVerified, fault } = of
  return (
    <section class="card">
      <h2>Audit trail</h2>
      <Facts
        of={{
          Entries: <Counted in="audit">{countText(entries)}</Counted>,
          Newest: newestAt === null ? 'none yet' : <Ago at={newestAt} />,
          Writing: <Badge isGood={fault === null} text={fault === null ? 'working' : 'failing'} />,
          'Last verified': <Verified of={lastVerified} />,
          Anchors: <Anchors of={of} />,
        }}
      />
    </section>
  )
}

function Verified({ of }: { of: Overview['audit']['lastVerified'] }) {
  if (of === null) return <span class="muted">not since the service started</span>
  const { valid, at, chains } = of
  return (
    <>
      <Badge isGood={valid} text={valid ? 'valid' : 'not valid'} /> <Ago at={at} />, {countText(chains)}{' '}
      {chains === 1 ? 'chain' : 'chains'}
    </>
  )
}

function Anchors({ of: { unanchoredEntries, sinks } }: { of: Overview['audit'] }) {
  if (sinks.length === 0)
    return (
      <span class="muted">
        No external anchors are configured: only this service vouches that nothing was rewritten or removed.
      </span>
    )
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
