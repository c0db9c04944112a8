import type { TargetedSubmitEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { GateError } from '../client/errors.ts'
import { failure } from './data/load.ts'
import { type SignedOut, type SignIn, signIn } from './data/session.ts'
import { Button } from './ui/button.tsx'
import { TextField } from './ui/field.tsx'
import { PageHead } from './ui/page-head.tsx'
import { Failure } from './ui/states.tsx'
import { Text } from './ui/text.tsx'

type OnSignedIn = (signedIn: SignIn) => void

/** The sign-in page: exchanges an API key for a session, and does not keep the key. */
export function SignInPage({ why, onSignedIn }: { why: SignedOut; onSignedIn: OnSignedIn }) {
  const [key, setKey] = useState('')
  const { error, isBusy, start } = useSignIn(onSignedIn, why.error)
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void start({ key: key.trim() })
  }
  if (!isSecureContext)
    return (
      <main class="sign-in">
        <PageHead title="Sign in to gate-sidecar" tab="Sign in" />
        <p class="notice">
          This page came from another machine without TLS: anyone on the network path can read your key. Open it over
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
      <form onSubmit={submit}>
        <TextField
          label="API key"
          type="password"
          value={key}
          onValue={setKey}
          isRequired
          autoComplete="off"
          hint="It is exchanged for a session of this browser, and not stored. Its roles decide what you see."
        />
        <Button text={isBusy ? 'Signing in…' : 'Sign in'} type="submit" look="primary" disabled={isBusy} />
      </form>
      <p class="muted small">
        On the machine itself, <code>gate-sidecar console</code> prints a link that signs you in.
      </p>
    </main>
  )
}

/** A sign-in link that was opened in a signed-in browser. */
export interface Replacing {
  earlier: SignIn
  code: string
}

/**
 * Asks before a link replaces a session: made by somebody else, it would have the user act with their key unnoticed.
 * The browser has one session, so other tabs lose theirs.
 */
export function OtherSession({ of, onSignedIn }: { of: Replacing; onSignedIn: OnSignedIn }) {
  const { earlier, code } = of
  const { error, isBusy, start } = useSignIn(onSignedIn)
  return (
    <main class="sign-in">
      <PageHead title="You are already signed in" tab="Sign in" />
      <p>
        You are signed in as <Text of={earlier.who.principal} />. This link signs you in with the key that created it,
        here and in your other tabs. Use it only if you created it yourself, or asked for it.
      </p>
      {error && <Failure error={error} />}
      <div class="row">
        <Button text="Stay signed in" look="primary" onClick={() => onSignedIn(earlier)} />
        <Button text="Use the link" disabled={isBusy || error !== undefined} onClick={() => void start({ code })} />
      </div>
    </main>
  )
}

/** Signs in. An earlier error stays until the next one. */
function useSignIn(onSignedIn: OnSignedIn, earlier?: GateError) {
  const [error, setError] = useState(earlier)
  const [isBusy, setIsBusy] = useState(false)
  const start = async (by: Parameters<typeof signIn>[0]): Promise<void> => {
    setIsBusy(true)
    try {
      onSignedIn(await signIn(by))
    } catch (cause) {
      setError(failure(cause))
      setIsBusy(false)
    }
  }
  return { error, isBusy, start }
}
