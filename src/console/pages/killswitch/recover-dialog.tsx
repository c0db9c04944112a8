import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { KillSwitch } from '../../../client/api.ts'
import { type Act, useAct } from '../../data/act.ts'
import { useConsole } from '../../data/console.ts'
import { useLoad } from '../../data/load.ts'
import { Button, CloseFooter } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/states.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { MAX_NAME, MAX_TEXT } from './limits.ts'
import { StopName, stopTitle } from './stop-name.tsx'

/** Ends one stop by its id, and never another that replaced it meanwhile. */
export function RecoverDialog({ stop, onClose }: { stop: KillSwitch; onClose: () => void }) {
  const { gate, stops } = useConsole()
  const tell = useToast()
  const recovery = useAct(async (recoveredBy: string, comment: string) => {
    const { id, level, scope } = stop
    try {
      // The id excludes a later stop of the same level and scope, which the user has not seen here.
      stops.replace(await gate.killSwitch.recover({ id, level, scope, recoveredBy, comment }))
      tell(`Recovered: ${stopTitle(stop)}.`)
      onClose()
    } finally {
      stops.reload()
    }
  })
  const others = (stops.data?.switches ?? []).filter(({ id }) => id !== stop.id)
  const isOver = !recovery.isBusy && stops.data?.switches.length === others.length
  return (
    <Dialog title="Recover: let agents act again" onClose={onClose}>
      <p>
        <StopName of={stop} />
        <br />
        <LongText of={stop.reason} />
        <br />
        <span class="muted small">
          by <Text of={stop.triggeredBy} />, <Ago at={stop.triggeredAt} />
        </span>
      </p>
      {isOver ? (
        <EndedMeanwhile stop={stop} onClose={onClose} />
      ) : (
        <>
          <ul class="bullets small">
            <li>From the next request on, the policies decide again.</li>
            <li>Pending approvals continue with their remaining time.</li>
            <li>
              Approvals from before the stop that were not used are cancelled: agents request them again, and nothing
              runs by itself.
            </li>
            {others.length > 0 && (
              <li>
                <strong>{others.length === 1 ? 'Another stop remains' : `${others.length} other stops remain`}</strong>{' '}
                in force.
              </li>
            )}
          </ul>
          <RecoverForm {...recovery} onClose={onClose} />
        </>
      )}
    </Dialog>
  )
}

type RecoverFormProps = Act<[recoveredBy: string, comment: string]> & { onClose: () => void }

function RecoverForm({ isBusy, error, run, onClose }: RecoverFormProps) {
  const { who } = useConsole()
  const [comment, setComment] = useState('')
  const [by, setBy] = useState(who.identity ?? who.name ?? who.keyId)
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void run(by, comment)
  }
  return (
    <form onSubmit={submit}>
      <TextField
        label="Why agents may act again"
        rows={3}
        value={comment}
        onValue={setComment}
        isRequired
        maxLength={MAX_TEXT}
        hint="It is recorded in the audit trail."
      />
      <TextField label="Recovered by" value={by} onValue={setBy} isRequired maxLength={MAX_NAME} />
      {error && <Failure error={error} />}
      <footer>
        <Button text="Keep the stop" onClick={onClose} />
        <Button text={isBusy ? 'Recovering…' : 'Recover'} type="submit" look="primary" aria-disabled={isBusy} />
      </footer>
    </form>
  )
}

/** Limit of newest stops searched for the end of one that was in force a moment ago. */
const NEWEST = 20

/** Shown when somebody else has ended the stop first. */
function EndedMeanwhile({ stop, onClose }: { stop: KillSwitch; onClose: () => void }) {
  const { gate } = useConsole()
  const past = useLoad((signal) => gate.killSwitch.history({ limit: NEWEST }, { signal }), [stop.id])
  const ended = past.data?.data.find(({ id }) => id === stop.id)
  return (
    <>
      <div class="notice" role="status">
        <p>
          <strong>This stop has already been ended</strong>
          {ended?.recoveredBy && (
            <>
              {' by '}
              <Text of={ended.recoveredBy} />
            </>
          )}
          .
        </p>
        {ended?.comment && (
          <p>
            <LongText of={ended.comment} />
          </p>
        )}
      </div>
      <CloseFooter onClose={onClose} />
    </>
  )
}
