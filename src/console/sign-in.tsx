import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { GateError } from '../client/errors.ts'
import { failure } from './data/load.ts'
import { type SignedOut, type SignIn, signIn } from './data/session.ts'
import { Button } from './ui/button.tsx'
import { TextField } from './ui/field.tsx'
import { PageHead } from './ui/page-head.tsx'
import { Failure } from './ui/states.tsx'

/** The sign-in page: exchanges an API key for a session, and does not keep the key. */
export function SignInPage({ why, onSignedIn }: { why: SignedOut; onSignedIn: (signedIn: SignIn) => void }) {
  const [key, setKey] = useState('')
  const [error, setError] = useState<GateError | undefined>(why.error)
  const [isBusy, setIsBusy] = useState(false)
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    setIsBusy(true)
    try {
      onSignedIn(await signIn({ key: key.trim() }))
    } catch (cause) {
      setError(failure(cause))
      setIsBusy(false)
    }
  }
  if (!isSecureContext)
    return (
      <main class="sign-in">
        <PageHead title="Sign in to gate-sidecar" tab="Sign in" />
        <p class="notice">
          This page came without TLS from another machine: whoever listens on the way would know your key. Open it by
          https, or on the machine itself.
        </p>
      </main>
    )
  return (
    <main class="sign-in">
      <PageHead title="Sign in to gate-sidecar" tab="Sign in" />
      {why.notice && error === undefined && (
        <p class="notice" role="status">
          {why.notice}
        </p>
      )}
      {error && <Failure error={error} />}
      <form onSubmit={(event) => void submit(event)}>
        <TextField
          label="API key"
          type="password"
          value={key}
          onValue={setKey}
          isRequired
          autoComplete="off"
          hint="It is exchanged for a session of this browser, and not kept. What you see follows from its roles."
        />
        <Button text={isBusy ? 'Signing in…' : 'Sign in'} type="submit" look="primary" disabled={isBusy} />
      </form>
      <p class="muted small">
        On the machine itself, <code>gate-sidecar console</code> prints a link that signs you in.
      </p>
    </main>
  )
}
