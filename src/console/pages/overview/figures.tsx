import type { ComponentChildren } from 'preact'
import type { Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'
import { countText, msText, shareText } from '../../ui/numbers.ts'
import { Ago, Countdown } from '../../ui/time.tsx'
import { totalsOf } from './buckets.ts'

/** The numbers that tell at a glance whether all is as it was. */
export function Figures({ of: { decisions, approvals, latency } }: { of: Overview }) {
  const { all, deny, requireApproval } = totalsOf(decisions)
  return (
    <section aria-label="Figures">
      <dl class="figures">
        <Figure name="Decisions" value={countText(all)} />
        <Figure name="Denied" value={shareText(deny, all)} more={countText(deny)} />
        <Figure name="Held for approval" value={shareText(requireApproval, all)} more={countText(requireApproval)} />
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

function Pending({ pending, oldestPendingAt, nextDeadlineAt }: Overview['approvals']) {
  const { may } = useConsole()
  const count = countText(pending)
  const value = may('listApprovals') ? <Link to={addressOf(['approvals'])}>{count}</Link> : count
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
  return <Figure name="Pending approvals" value={value} more={pending === 0 ? 'nobody waits' : more} />
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
