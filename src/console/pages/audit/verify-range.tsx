import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RangeVerification } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { serverNow } from '../../data/clock.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { zoneName } from '../../ui/local-time.ts'
import { Failure } from '../../ui/states.tsx'
import { RangeVerdict } from './range-verdict.tsx'

const DAY_MS = 86_400_000
/** A day before the first entry of any trail. */
const FIRST_DAY = '1970-01-01'

/** Days in UTC, both included, as the service verifies them. */
interface DayRange {
  startDate: string
  endDate: string
}

const QUICK_PICKS = [
  ['Today', 1],
  ['7 days', 7],
  ['30 days', 30],
  ['All', Number.POSITIVE_INFINITY],
] as const

/** The state of a verification: `idle` before one, and after a cancelled one. */
type Run =
  | { state: 'idle' | 'cancelled' }
  | { state: 'running'; checked: number; of: number }
  | { state: 'done'; verification: RangeVerification }
  | { state: 'failed'; error: GateError }

/** Has the service recompute the chain over some days, and shows the result. */
export function VerifyRange() {
  const [days, setDays] = useState(() => lastDays(7, serverNow()))
  const [shown, setShown] = useState('')
  const { run, start, cancel } = useVerification()
  const fault = faultOf(days)
  const zone = zoneName()
  const section = useRef<HTMLElement>(null)
  // The focused button has been replaced: the verdict gets the focus, else the new button.
  useLayoutEffect(() => {
    if (run.state === 'idle' || document.activeElement !== document.body) return
    const [button, title = button] = section.current?.querySelectorAll<HTMLElement>('.run, .verdict-title') ?? []
    title?.focus()
  }, [run.state])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    if (fault !== undefined) return
    setShown(`${days.startDate} to ${days.endDate}, UTC`)
    start(days)
  }
  return (
    <section ref={section} class="card" aria-labelledby="verify-days">
      <h2 id="verify-days">Verify the trail</h2>
      <p class="muted small">
        The service recomputes every hash of these days, and compares them with its signatures and its anchors. Days
        begin and end at midnight UTC{zone === 'UTC' ? '' : `; other times on this page are in ${zone}`}.
      </p>
      <form class="toolbar flush" onSubmit={submit}>
        <TextField
          label="From day (UTC)"
          type="date"
          value={days.startDate}
          onValue={(startDate) => setDays({ ...days, startDate })}
          fault={fault}
        />
        <TextField
          label="To day (UTC)"
          type="date"
          value={days.endDate}
          onValue={(endDate) => setDays({ ...days, endDate })}
        />
        <fieldset class="row">
          <legend class="visually-hidden">Quick picks, days in UTC</legend>
          {QUICK_PICKS.map(([name, count]) => (
            <Button key={name} look="quiet" onClick={() => setDays(lastDays(count, serverNow()))}>
              {name}
            </Button>
          ))}
        </fieldset>
        {run.state === 'running' ? (
          // Keys make these two buttons: one reused during a click would submit the run that it just cancelled.
          <Button key="cancel" text="Cancel" look="run" onClick={cancel} />
        ) : (
          <Button key="verify" text="Verify" type="submit" look="primary run" disabled={fault !== undefined} />
        )}
      </form>
      {run.state === 'running' && <Progress checked={run.checked} of={run.of} />}
      <div role="status">
        {run.state === 'cancelled' && <p class="muted">Cancelled, without a result.</p>}
        {run.state === 'done' && run.verification.valid && <RangeVerdict of={run.verification} days={shown} />}
      </div>
      {run.state === 'done' && !run.verification.valid && (
        <div role="alert">
          <RangeVerdict of={run.verification} days={shown} />
        </div>
      )}
      {run.state === 'failed' && <Failure error={run.error} />}
    </section>
  )
}

function useVerification() {
  const { gate } = useConsole()
  const [run, setRun] = useState<Run>({ state: 'idle' })
  const control = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => control.current?.abort(), [])

  const follow = async (days: Parameters<typeof gate.audit.verifyLive>[0], signal: AbortSignal): Promise<void> => {
    try {
      for await (const event of gate.audit.verifyLive(days, { signal })) {
        // Responses that arrived before a cancellation can still be delivered after it.
        if (signal.aborted) return
        setRun(event.type === 'progress' ? { state: 'running', ...event } : { state: 'done', ...event })
      }
    } catch (error) {
      if (!signal.aborted) setRun({ state: 'failed', error: failure(error) })
    }
  }
  return {
    run,
    start: (days: Parameters<typeof follow>[0]) => {
      control.current = new AbortController()
      setRun({ state: 'running', checked: 0, of: 0 })
      void follow(days, control.current.signal)
    },
    cancel: () => {
      control.current?.abort()
      setRun({ state: 'cancelled' })
    },
  }
}

function Progress({ checked, of }: { checked: number; of: number }) {
  return (
    <div class="row loose verify-progress">
      <label>
        Verifying
        <progress {...(of > 0 && { value: checked, max: of })} />
      </label>
      <span class="muted number">
        {of > 0 ? `${checked.toLocaleString()} of ${of.toLocaleString()} entries` : 'starting…'}
      </span>
    </div>
  )
}

/** The last `count` days, today included. */
function lastDays(count: number, nowMs: number): DayRange {
  const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  return {
    startDate: Number.isFinite(count) ? dayOf(nowMs - (count - 1) * DAY_MS) : FIRST_DAY,
    endDate: dayOf(nowMs),
  }
}

function faultOf({ startDate, endDate }: DayRange): string | undefined {
  if (startDate === '' || endDate === '') return 'Choose both days.'
  return startDate > endDate ? 'The first day is after the last one.' : undefined
}
