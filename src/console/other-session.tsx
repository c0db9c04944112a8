import { useState } from 'preact/hooks'
import type { GateError } from '../client/errors.ts'
import { failure } from './data/load.ts'
import { type SignIn, signIn } from './data/session.ts'
import { Button } from './ui/button.tsx'
import { PageHead } from './ui/page-head.tsx'
import { Failure } from './ui/states.tsx'
import { Text } from './ui/text.tsx'

/** A sign-in link that was opened in a signed-in browser. */
export interface Replacing {
  earlier: SignIn
  code: string
}

/**
 * Asks before a link replaces a session: made by somebody else, it would have the user act with their key unnoticed.
 * The browser has one session, so other tabs lose theirs.
 */
export function OtherSession({ of, onSignedIn }: { of: Replacing; onSignedIn: (signedIn: SignIn) => void }) {
  const { earlier, code } = of
  const [error, setError] = useState<GateError>()
  const [isBusy, setIsBusy] = useState(false)
  const replace = async (): Promise<void> => {
    setIsBusy(true)
    try {
      onSignedIn(await signIn({ code }))
    } catch (cause) {
      setError(failure(cause))
      setIsBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <PageHead title="You are signed in already" tab="Sign in" />
      <p>
        You are signed in as <Text of={earlier.who.principal} />. This link signs you in with the key that it was made
        with, here and in your other tabs. Use it only if you made it yourself, or asked for it.
      </p>
      {error && <Failure error={error} />}
      <div class="row">
        <Button text="Stay signed in" look="primary" onClick={() => onSignedIn(earlier)} />
        <Button text="Use the link" disabled={isBusy || error !== undefined} onClick={() => void replace()} />
      </div>
    </main>
  )
}
