import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ListedKey } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { useSecret } from '../../ui/secret.tsx'
import { NoSecret, useAct } from './act.tsx'
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
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy}>
            {isBusy ? 'Creating…' : 'Create key'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
