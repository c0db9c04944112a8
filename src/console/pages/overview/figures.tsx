import type { ComponentChildren } from 'preact'
import type { Overview } from '../../../client/api.ts'
import { DECISIONS } from '../../ui/decision-words.ts'
import { countText, msText, shareText } from '../../ui/numbers.ts'
import { Ago, Countdown } from '../../ui/time.tsx'
import { totalsOf } from './buckets.ts'
import { Counted } from './counted.tsx'

/** Key figures that show at a glance whether all is as usual. */
export function Figures({ of: { decisions, approvals, latency, from } }: { of: Overview }) {
  const { all, deny, requireApproval } = totalsOf(decisions)
  const listed = (text: string, query: Record<string, string>) => (
    <Counted in="decisions" query={{ ...query, from }}>
      {text}
    </Counted>
  )
  return (
    <section aria-label="Figures">
      <dl class="box figures">
        <Figure name="Decisions" value={listed(countText(all), {})} />
        <Figure
          name={DECISIONS.deny}
          value={shareText(deny, all)}
          more={listed(decisionsText(deny), { decision: 'deny' })}
        />
        <Figure
          name={DECISIONS.require_approval}
          value={shareText(requireApproval, all)}
          more={listed(decisionsText(requireApproval), { decision: 'require_approval' })}
        />
        <Pending {...approvals} />
        <Figure
          name="Latency, median"
          value={latency === null ? '–' : msText(latency.p50Ms)}
          more={
            latency === null
              ? 'no check since the start'
              : `99th percentile ${msText(latency.p99Ms)}, of ${countText(latency.count)} checks`
          }
        />
      </dl>
    </section>
  )
}

function decisionsText(count: number): string {
  return `${countText(count)} ${count === 1 ? 'decision' : 'decisions'}`
}

function Pending({ pending, oldestPendingAt, nextDeadlineAt }: Overview['approvals']) {
  const value = <Counted in="approvals">{countText(pending)}</Counted>
  const more = (
    <>
      {oldestPendingAt && (
        <>
          oldest <Ago at={oldestPendingAt} />
        </>
      )}
      {nextDeadlineAt && (
        <>
          , next deadline: <Countdown until={nextDeadlineAt} />
        </>
      )}
    </>
  )
  return <Figure name="Pending approvals" value={value} more={pending === 0 ? 'none waiting' : more} />
}

function Figure({ name, value, more }: { name: string; value: ComponentChildren; more?: ComponentChildren }) {
  return (
    <div class="key-figure">
      <dt>{name}</dt>
      <dd class="key-value">{value}</dd>
      {more !== undefined && <dd class="muted small">{more}</dd>}
    </div>
  )
}
