import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ListedKey } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { isUnsure, useAct } from '../../data/act.ts'
import { useConsole } from '../../data/console.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useSecret } from '../../ui/secret.tsx'
import { Failure } from '../../ui/states.tsx'
import { Fields } from './create-fields.tsx'
import { type Draft, EMPTY, isOfAField, requestOf } from './draft.ts'

interface CreateDialogProps {
  keys: readonly ListedKey[]
  onClose: () => void
  /** Called when the key may or may not exist. */
  onUnsure: () => void
}

/** Creates a key. The input stays until the key exists. */
export function CreateDialog({ keys, onClose, onUnsure }: CreateDialogProps) {
  const { gate, who } = useConsole()
  const show = useSecret()
  const [draft, setDraft] = useState<Draft>({ ...EMPTY, environment: who.environment })
  const [hasTried, setHasTried] = useState(false)
  const change = (changed: Partial<Draft>): void => setDraft((last) => ({ ...last, ...changed }))
  const { isBusy, error, run } = useAct(async () => {
    const made = await gate.keys.create(requestOf(draft))
    onClose()
    show({ made })
  }, onUnsure)
  const form = useRef<HTMLFormElement>(null)
  // The fault may be out of view.
  useEffect(() => {
    form.current?.querySelector('.fault')?.parentElement?.querySelector<HTMLElement>('input, select')?.focus()
  }, [error, hasTried])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setHasTried(true)
    if (draft.roles.length > 0) void run()
  }
  return (
    <Dialog title="Create new key" onClose={onClose}>
      <form ref={form} onSubmit={submit}>
        <Fields draft={draft} onChange={change} error={error} hasTried={hasTried} keys={keys} />
        {error && !isOfAField(error) && <NoSecret error={error} />}
        <footer>
          <Button text="Cancel" onClick={onClose} />
          <Button text={isBusy ? 'Creating…' : 'Create key'} type="submit" look="primary" disabled={isBusy} />
        </footer>
      </form>
    </Dialog>
  )
}

/** The reason for a missing secret; without an answer, also a warning that the key may exist. */
export function NoSecret({ error }: { error: GateError }) {
  return (
    <>
      <Failure error={error} />
      {isUnsure(error) && (
        <p class="notice">
          <strong>The key may have been created anyway.</strong> Then it is in the list, and nobody has its secret:
          check the list before you try again, and revoke that key.
        </p>
      )}
    </>
  )
}
