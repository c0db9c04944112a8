import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import type { CreatedKey } from '../../client/api.ts'
import { Button, CloseFooter } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Text } from './text.tsx'

/** A newly created key's secret, with details of the key. */
export interface NewSecret {
  made: Pick<CreatedKey, 'id' | 'name' | 'key'>
  note?: ComponentChildren
}

const SecretContext = createContext<(secret: NewSecret) => void>(() => undefined)

/** Shows a secret, once. */
export function useSecret(): (secret: NewSecret) => void {
  return useContext(SecretContext)
}

/**
 * Displays secrets outside every page and the session: replacing the session's own key may end the session,
 * and an unsaved secret would be lost.
 */
export function Secrets({ children }: { children: ComponentChildren }) {
  const [shown, setShown] = useState<NewSecret | undefined>()
  return (
    <SecretContext.Provider value={setShown}>
      {children}
      {shown && <SecretDialog {...shown} onClose={() => setShown(undefined)} />}
    </SecretContext.Provider>
  )
}

function SecretDialog({ made: { id, name, key }, note, onClose }: NewSecret & { onClose: () => void }) {
  const [isAsking, setIsAsking] = useState(false)
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [])
  return (
    <Dialog title="Store the secret now" onClose={() => setIsAsking(true)}>
      <p>
        This is the secret of <strong>{name === null ? 'the key' : <Text of={name} />}</strong> <code>{id}</code>. It is
        shown only once: nobody can look it up later, not even this service.
      </p>
      <Line label="Secret" text={key} />
      <Line label="For the environment of a program" text={`GATE_SIDECAR_KEY=${key}`} />
      {note}
      {isAsking ? (
        <div class="notice stack" role="alert">
          <p>
            <strong>Close without having stored it?</strong> The key still exists, but is useless without its secret:
            revoke it, and create another.
          </p>
          <div class="row">
            <Button look="primary" onClick={() => setIsAsking(false)}>
              Back to the secret
            </Button>
            <Button onClick={onClose}>Close anyway</Button>
          </div>
        </div>
      ) : (
        <CloseFooter onClose={onClose} label="I have stored it" />
      )}
    </Dialog>
  )
}

function Line({ label, text }: { label: string; text: string }) {
  return (
    <div class="secret">
      <span class="small muted">{label}</span>
      <code>{text}</code>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  )
}
