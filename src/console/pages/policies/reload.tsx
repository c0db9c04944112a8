import { useState } from 'preact/hooks'
import type { PolicyState } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/states.tsx'

/** The result of a reload. */
export type Reloaded = { data: PolicyState } | { error: GateError }

export function ReloadButton({ onDone }: { onDone: (reloaded: Reloaded) => void }) {
  const { gate } = useConsole()
  const [isBusy, setIsBusy] = useState(false)
  const reload = async (): Promise<void> => {
    if (isBusy) return
    setIsBusy(true)
    try {
      onDone({ data: await gate.policies.reload() })
    } catch (error) {
      onDone({ error: failure(error) })
    } finally {
      setIsBusy(false)
    }
  }
  return <Button text={isBusy ? 'Reading the files…' : 'Reload'} aria-disabled={isBusy} onClick={() => void reload()} />
}

export function ReloadNotice({ of, onClose }: { of: Reloaded; onClose: () => void }) {
  if ('error' in of) return <Failure error={of.error} />
  const { current, digest } = of.data
  return (
    <div class={`notice reloaded ${current ? 'good' : ''}`} role="status">
      <p>
        {current ? (
          <>
            The files have been read, and are in force: <code>{digest}</code>
          </>
        ) : digest === null ? (
          'The files have been read. They do not come into force, and no policies are: every action is denied.'
        ) : (
          'The files have been read. They do not come into force: the policies before them still decide.'
        )}
      </p>
      <Button text="✕" look="quiet" aria-label="Close" onClick={onClose} />
    </div>
  )
}
