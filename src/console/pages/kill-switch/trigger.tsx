import { useEffect, useRef, useState } from 'preact/hooks'
import type { TriggeredKillSwitch } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { usePlace } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { Covered } from './covered.tsx'
import { STOP } from './marked.ts'
import { StopName } from './stop-name.tsx'
import { type Target, TriggerForm } from './trigger-form.tsx'

type Done = { target: Target; answer: TriggeredKillSwitch }

export function Trigger() {
  const { stops } = useConsole()
  const place = usePlace()
  const [done, setDone] = useState<Done | undefined>()
  const section = useRef<HTMLElement>(null)
  const isCalled = place.path[1] === STOP
  useEffect(() => {
    if (isCalled) setDone(undefined)
  }, [place])
  useEffect(() => {
    if (!isCalled || done !== undefined) return
    section.current?.querySelector<HTMLElement>('input:checked')?.focus({ preventScroll: true })
    section.current?.scrollIntoView({ block: 'start' })
  }, [place, done === undefined])
  const onDone = (target: Target, answer: TriggeredKillSwitch): void => {
    stops.replace(answer)
    stops.reload()
    setDone({ target, answer })
  }
  return (
    <section ref={section} class="card trigger" aria-labelledby="trigger">
      <h2 id="trigger">Stop agents</h2>
      {done ? <Outcome {...done} onMore={() => setDone(undefined)} /> : <TriggerForm onDone={onDone} />}
    </section>
  )
}

/** The result of the trigger: target, coverage, and whether it would outlast the process. */
function Outcome({ target, answer: { covers, warning, persisted }, onMore }: Done & { onMore: () => void }) {
  const outcome = useRef<HTMLDivElement>(null)
  useEffect(() => outcome.current?.focus(), [])
  return (
    <div class="stack stop-outcome" ref={outcome} tabIndex={-1} role="status" aria-label="What came of it">
      <p class="stop-outcome-title">
        Stopped: <StopName of={target} />
      </p>
      {!persisted && (
        <div class="failure">
          <p>
            <strong>In force here, not on disk yet; tried again each second.</strong>
          </p>
          <p>
            Nothing that it covers is allowed by this process. Until it is on disk it would not outlast a restart, and
            it cannot be ended. See to the disk of the service; <code>/readyz</code> answers 200 again when it is
            written.
          </p>
        </div>
      )}
      {warning ? (
        <p class="notice">
          <strong>It covers nothing that is known.</strong> {warning}
        </p>
      ) : (
        <Covered actions={covers} />
      )}
      {target.level === 'L4' && <p>And every action of every other tenant.</p>}
      <div class="row">
        <Button text="Stop something else" onClick={onMore} />
      </div>
    </div>
  )
}
