import { useEffect } from 'preact/hooks'
import type { Usage } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { Facts } from '../../ui/facts.tsx'
import { Await } from '../../ui/states.tsx'

/** Poll interval: remaining usage changes each second. */
const POLL_MS = 5000

export function PlanAndUsage() {
  const { gate } = useConsole()
  const usage = useLoad((signal) => gate.service.usage({ signal }), [])
  const { poll } = usage
  useEffect(() => {
    const timer = setInterval(() => document.hidden || poll(), POLL_MS)
    return () => clearInterval(timer)
  }, [poll])
  return (
    <section class="stack" aria-labelledby="usage">
      <h2 id="usage">Plan and usage</h2>
      <Await of={usage} what="the usage">
        {(data) => <Shown usage={data} />}
      </Await>
    </section>
  )
}

function Shown({ usage }: { usage: Usage }) {
  const { plan, environment, requestsPerMinute, remaining, statusRequestsPerMinute, keys } = usage
  return (
    <>
      <div role="status">
        {remaining === 0 && requestsPerMinute !== null && <UsedUp perMinute={requestsPerMinute} />}
      </div>
      <div class="columns">
        <div class="card">
          <h3>Requests</h3>
          <Left remaining={remaining} of={requestsPerMinute} />
          <p class="muted small">
            {remaining === null
              ? `The plan does not limit ${environment} keys.`
              : `Counted by this process, for ${environment} keys. It refills evenly over a minute.`}
          </p>
        </div>
        <div class="card">
          <h3>Plan</h3>
          <Facts
            of={{
              Plan: <strong>{plan}</strong>,
              Requests: requestsPerMinute === null ? 'no limit' : `${requestsPerMinute} per minute`,
              'Status reads': `${statusRequestsPerMinute} per minute for each key, in addition to the plan`,
              Keys: `${keys.active} active, ${keys.ended} ended (${environment})`,
            }}
          />
        </div>
      </div>
      <div class="card">
        <h3>When the plan is used up</h3>
        <p>
          Requests for decisions are refused with <code>rate_limited</code> until the plan has refilled. A refused agent
          may not act. Stopping, recovering, approving, rejecting and revoking keys still work: they do not count
          against the plan.
        </p>
      </div>
    </>
  )
}

/** The quota refills evenly, one request at a time. */
function UsedUp({ perMinute }: { perMinute: number }) {
  const perSecond = Math.floor(perMinute / 60)
  const seconds = Math.ceil(60 / perMinute)
  return (
    <p class="notice">
      <strong>The plan is used up now.</strong> Agents that ask are refused, and may not act.{' '}
      {perSecond > 1
        ? `It refills by ${perSecond} requests every second.`
        : `It refills by one request every ${seconds === 1 ? 'second' : `${seconds} seconds`}.`}
    </p>
  )
}

function Left({ remaining, of }: { remaining: number | null; of: number | null }) {
  if (remaining === null || of === null)
    return (
      <p class="usage-figure">
        No limit <span class="muted small">on requests</span>
      </p>
    )
  const share = Math.max(0, Math.min(1, remaining / of))
  return (
    <>
      <p class="usage-figure">
        {remaining} <span class="muted small">of {of} left now</span>
      </p>
      <span class={`meter wide ${share === 0 ? 'none' : ''}`} aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
    </>
  )
}
