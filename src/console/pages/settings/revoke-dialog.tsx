import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { ListedKey } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { useToast } from '../../ui/toast.tsx'
import { visibleParts } from '../../ui/visible.ts'
import { useAct } from './act.tsx'
import { KeyName } from './key-name.tsx'

/** Characters of the id to type, where the key has no name that can be typed. */
const TYPED = 6

/** Revokes a key permanently. */
export function RevokeDialog({ of: key, onClose }: { of: ListedKey; onClose: () => void }) {
  const { gate, who } = useConsole()
  const tell = useToast()
  const [typed, setTyped] = useState('')
  const [hasTried, setHasTried] = useState(false)
  const isOwn = key.id === who.keyId
  const words = wordsOf(key)
  const isConfirmed = words.includes(typed.trim())
  const { isBusy, error, run } = useAct(async () => {
    await gate.keys.revoke(key.id)
    tell(isOwn ? 'The key of your session is revoked, so you are signed out.' : `Revoked: ${key.name ?? key.id}`)
    onClose()
  })
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setHasTried(true)
    if (isConfirmed) void run()
  }
  return (
    <Dialog title="Revoke a key" isDangerous onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          <KeyName of={key} /> ends at once and for good. Whatever uses it is refused: agents may do nothing, browsers
          that are signed in with it are signed out, and streams of events end. What was done with it stays on record.
        </p>
        {key.replacedBy !== null && <p>The key that replaces it goes on: {<code>{key.replacedBy}</code>}</p>}
        {isOwn && (
          <p class="notice">
            <strong>You are signed in with this key.</strong> You will be signed out, and need another key to come back.
          </p>
        )}
        <TextField
          label={<ToConfirm words={words} />}
          value={typed}
          onValue={setTyped}
          isRequired
          autoComplete="off"
          fault={hasTried && typed !== '' && !isConfirmed ? 'It does not match.' : undefined}
        />
        {error && <Failure error={error} />}
        <footer>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button danger" disabled={isBusy}>
            {isBusy ? 'Revoking…' : 'Revoke key'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function ToConfirm({ words: [first = '', second] }: { words: readonly string[] }) {
  return (
    <>
      To confirm, type{' '}
      <code class="phrase">
        <Text of={first} />
      </code>
      {second !== undefined && (
        <>
          {' or '}
          <code class="phrase">
            <Text of={second} />
          </code>
        </>
      )}
    </>
  )
}

/** Accepted confirmations: the name, if it can be read and typed, and the end of the id. */
function wordsOf({ id, name }: ListedKey): string[] {
  const end = id.slice(-TYPED)
  const canBeTyped = name !== null && name.trim() !== '' && visibleParts(name).every(({ kind }) => kind === 'plain')
  return canBeTyped ? [name.trim(), end] : [end]
}
