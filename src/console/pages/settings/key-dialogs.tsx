import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { ListedKey, RotatedKey } from '../../../client/api.ts'
import { useAct } from '../../data/act.ts'
import { useConsole } from '../../data/console.ts'
import { Button } from '../../ui/button.tsx'
import { ToConfirm } from '../../ui/code.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { useSecret } from '../../ui/secret.tsx'
import { Failure } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { visibleParts } from '../../ui/visible.ts'
import { NoSecret } from './create-dialog.tsx'

const OVERLAPS = [
  ['0', 'Now'],
  ['60', 'In 1 hour'],
  ['1440', 'In 24 hours'],
  ['10080', 'In 7 days'],
] as const

interface RotateDialogProps {
  of: ListedKey
  onClose: () => void
  /** Called when the new key may or may not exist. */
  onUnsure: () => void
}

/** Gives a key a new secret; the old one stays valid for a while. */
export function RotateDialog({ of: key, onClose, onUnsure }: RotateDialogProps) {
  const { gate, who } = useConsole()
  const show = useSecret()
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number][0]>('1440')
  const isOwn = key.id === who.keyId
  const { isBusy, error, run } = useAct(async () => {
    const made = await gate.keys.rotate(key.id, { overlapMinutes: Number(overlap) })
    onClose()
    show({ made, note: <OldSecret of={made} isNow={overlap === '0'} isOwn={isOwn} /> })
  }, onUnsure)
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void run()
  }
  return (
    <Dialog title="Rotate a key" onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          <KeyName of={key} /> gets a new secret under a new id, with the same holder, roles and expiry. For approvals,
          both count as the same key.
        </p>
        <Choice
          label="When the old secret ends"
          value={overlap}
          options={OVERLAPS}
          onValue={setOverlap}
          hint={
            overlap === '0'
              ? 'Requests with it are refused from then on.'
              : 'Both work until then, so that you can give programs the new one.'
          }
        />
        {isOwn && (
          <p class="notice">
            <strong>You are signed in with this key.</strong>{' '}
            {overlap === '0'
              ? 'You will be signed out at once. The new secret is shown until you have stored it; sign in with that.'
              : 'You will be signed out when the old secret ends; sign in with the new one before.'}
          </p>
        )}
        {error && <NoSecret error={error} />}
        <footer>
          <Button text="Cancel" onClick={onClose} />
          <Button text={isBusy ? 'Rotating…' : 'Rotate'} type="submit" look="primary" disabled={isBusy} />
        </footer>
      </form>
    </Dialog>
  )
}

function OldSecret({ of: { replaces }, isNow, isOwn }: { of: RotatedKey; isNow: boolean; isOwn: boolean }) {
  return (
    <p>
      {isNow || replaces.expiresAt === null ? (
        'The old secret has ended.'
      ) : (
        <>
          The old secret works until <Time at={replaces.expiresAt} />.
        </>
      )}
      {isOwn && isNow && ' You are signed out: store the new one, then sign in with it.'}
    </p>
  )
}

/** Characters of the id to type, if the key has no name that can be typed. */
const TYPED = 6

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
          <KeyName of={key} /> ends at once and for good. Every use of it is refused: agents may do nothing, browsers
          signed in with it are signed out, and event streams end. Its past actions stay on record.
        </p>
        {key.replacedBy !== null && <p>The key that replaces it stays valid: {<code>{key.replacedBy}</code>}</p>}
        {isOwn && (
          <p class="notice">
            <strong>You are signed in with this key.</strong> You will be signed out, and need another key to sign in
            again.
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
          <Button text="Cancel" onClick={onClose} />
          <Button text={isBusy ? 'Revoking…' : 'Revoke key'} type="submit" look="danger" disabled={isBusy} />
        </footer>
      </form>
    </Dialog>
  )
}

/** Accepted confirmations: the name, if it can be read and typed, and the end of the id. */
function wordsOf({ id, name }: ListedKey): string[] {
  const end = id.slice(-TYPED)
  const canBeTyped = name !== null && name.trim() !== '' && visibleParts(name).every(({ kind }) => kind === 'plain')
  return canBeTyped ? [name.trim(), end] : [end]
}

function KeyName({ of: { id, name } }: { of: ListedKey }) {
  return (
    <>
      {name !== null && (
        <>
          <strong>
            <Text of={name} />
          </strong>{' '}
        </>
      )}
      <code class="key-id">{id}</code>
    </>
  )
}
