import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { KillSwitch, KillSwitchLevel, TriggeredKillSwitch } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { isUnsure, useAct } from '../../data/act.ts'
import { useConsole } from '../../data/console.ts'
import { usePlace } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { ToConfirm } from '../../ui/code.tsx'
import { TextField } from '../../ui/field.tsx'
import { isPhrase } from '../../ui/phrase.ts'
import { Failure } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { Covered } from './covered.tsx'
import { MAX_NAME, MAX_TEXT } from './limits.ts'
import { STOP } from './marked.ts'
import { Preview } from './preview.tsx'
import { ActionScope, DomainScope, LevelChoice, useKnown } from './scope.tsx'
import { phraseOf, StopName } from './stop-name.tsx'

type Target = Pick<KillSwitch, 'level' | 'scope'>
type Done = { target: Target; answer: TriggeredKillSwitch }
type OnDone = (target: Target, answer: TriggeredKillSwitch) => void

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
  const { stops } = useConsole()
  const isThere = stops.data?.switches.some(({ level, scope }) => level === target.level && scope === target.scope)
  const outcome = useRef<HTMLDivElement>(null)
  useEffect(() => outcome.current?.focus(), [])
  return (
    <div class="stack stop-outcome" ref={outcome} tabIndex={-1} role="status" aria-label="Result">
      <p class="stop-outcome-title">
        Stopped: <StopName of={target} />
      </p>
      {stops.isKnown && !isThere && <p class="notice">It has since been ended.</p>}
      {!persisted && (
        <div class="failure">
          <p>
            <strong>In force here, but not on disk yet; retried each second.</strong>
          </p>
          <p>
            This process allows nothing that the stop covers. {warning} It cannot be ended until it is on disk. Check
            the disk of the service; <code>/readyz</code> answers 200 again when it is written.
          </p>
        </div>
      )}
      {warning && persisted ? (
        <p class="notice">
          <strong>It covers no known action.</strong> {warning}
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

/** Suggestions for levels without any: a domain is chosen, and wider scopes have no name. */
const NOTHING_KNOWN = { declared: [], known: [] }

/** The target and the reason. Only the reason and the typed phrase delay the stop. */
function TriggerForm({ onDone }: { onDone: OnDone }) {
  const { tenantId } = useConsole()
  const known = useKnown()
  const [level, setLevel] = useState<KillSwitchLevel>('L1')
  const [action, setAction] = useState('')
  const [domain, setDomain] = useState('')
  const [hasTried, setHasTried] = useState(false)
  const frame = useRef<HTMLDivElement>(null)
  const scope = { L1: action.trim(), L2: domain.trim(), L3: tenantId, L4: 'global' }[level]
  // The pressed button disappears, so the focus goes to the field that it filled.
  const choose = (name: string): void => {
    setAction(name)
    frame.current?.querySelector('input')?.focus()
  }
  return (
    <div class="trigger-form">
      <div class="stack">
        <LevelChoice level={level} onLevel={setLevel} />
        {level === 'L1' && (
          <ActionScope value={action} onValue={setAction} known={known.known} onChosen={choose} frame={frame} />
        )}
        {level === 'L2' && (
          <DomainScope
            value={domain}
            onValue={setDomain}
            domains={known.domains}
            {...(hasTried && domain === '' && { fault: 'Choose what to stop.' })}
          />
        )}
      </div>
      <Preview {...{ level, scope }} {...(level === 'L1' ? known : NOTHING_KNOWN)} onMeant={choose} />
      <Confirmation target={{ level, scope }} onDone={onDone} onTried={() => setHasTried(true)} />
    </div>
  )
}

function Confirmation({ target, onDone, onTried }: { target: Target; onDone: OnDone; onTried: () => void }) {
  const { who, tenantId } = useConsole()
  const [reason, setReason] = useState('')
  const [by, setBy] = useState(who.identity ?? who.name ?? who.keyId)
  const [typed, setTyped] = useState('')
  const [tries, setTries] = useState(0)
  const form = useRef<HTMLFormElement>(null)
  const { run, isBusy, isSlow, error } = useTrigger(onDone)
  const phrase = target.scope === '' ? undefined : phraseOf(target.level, target.scope, tenantId)
  const isConfirmed = phrase !== undefined && isPhrase(typed, phrase)
  useEffect(() => {
    if (tries > 0) form.current?.closest('.trigger')?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [tries])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    onTried()
    setTries(tries + 1)
    if (isConfirmed) void run(target, reason, by)
  }
  return (
    <form ref={form} class="stack" onSubmit={submit}>
      <AlreadyStopped target={target} />
      <TextField label="Reason" value={reason} onValue={setReason} isRequired maxLength={MAX_TEXT} autoComplete="off" />
      <TextField label="Triggered by" value={by} onValue={setBy} isRequired maxLength={MAX_NAME} />
      <TextField
        label={phrase === undefined ? 'To confirm, type what you stop' : <ToConfirm words={[phrase]} />}
        value={typed}
        onValue={setTyped}
        isRequired
        isMono
        autoComplete="off"
        fault={tries > 0 && typed !== '' && !isConfirmed ? 'It does not match the text above.' : undefined}
      />
      {error && <NotStopped error={error} />}
      <Button type="submit" look="danger big" aria-disabled={isBusy}>
        {isBusy ? 'Stopping…' : phrase === undefined ? 'Stop' : <Text of={`S${phrase.slice(1)}`} />}
      </Button>
      {(error ?? isSlow) && (
        <p class="muted small">
          On the host of the service, <code>gate-sidecar killswitch trigger</code> does the same.
        </p>
      )}
    </form>
  )
}

/** Informs without blocking: a second stop changes nothing. */
function AlreadyStopped({ target }: { target: Target }) {
  const { stops } = useConsole()
  // A stop that may have ended does not prevent another one.
  const inForce = (stops.isKnown && stops.data?.switches) || []
  const same = inForce.find(({ level, scope }) => level === target.level && scope === target.scope)
  const wider = inForce.find(({ level }) => level > target.level && level !== 'L2')
  const stop = same ?? wider
  if (stop === undefined) return null
  return (
    <p class="notice" role="status">
      <strong>{same ? 'This is already stopped' : 'A wider stop is already in force'}</strong>: <StopName of={stop} />,
      by <Text of={stop.triggeredBy} />, <Ago at={stop.triggeredAt} />.{same && ' Stopping it again changes nothing.'}
    </p>
  )
}

function NotStopped({ error }: { error: GateError }) {
  return (
    <div class="stack tight">
      <Failure error={error} />
      {isUnsure(error) && (
        <p>
          <strong>It is not known whether the stop is in force.</strong> Press again: stopping twice does no harm.
        </p>
      )}
    </div>
  )
}

/** Delay after which the user is offered another way. */
const SLOW_MS = 3000

function useTrigger(onDone: OnDone) {
  const { gate } = useConsole()
  const [isSlow, setIsSlow] = useState(false)
  const act = useAct(async (target: Target, reason: string, triggeredBy: string) => {
    const slow = setTimeout(() => setIsSlow(true), SLOW_MS)
    try {
      onDone(target, await gate.killSwitch.trigger({ ...target, reason, triggeredBy }))
    } finally {
      clearTimeout(slow)
      setIsSlow(false)
    }
  })
  return { ...act, isSlow }
}
