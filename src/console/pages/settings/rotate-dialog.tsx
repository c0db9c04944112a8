import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { ListedKey, RotatedKey } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice } from '../../ui/field.tsx'
import { useSecret } from '../../ui/secret.tsx'
import { Time } from '../../ui/time.tsx'
import { NoSecret, useAct } from './act.tsx'
import { KeyName } from './key-name.tsx'

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
          <KeyName of={key} /> gets a new secret under a new id, with the same holder, roles and end. Approvals take
          both for the same one.
        </p>
        <Choice
          label="When the old secret ends"
          value={overlap}
          options={OVERLAPS}
          onValue={setOverlap}
          hint={
            overlap === '0'
              ? 'Whoever uses it is refused from then on.'
              : 'Until then both work, so that programs can be given the new one.'
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
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy}>
            {isBusy ? 'Rotating…' : 'Rotate'}
          </button>
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
