import { useCallback, useEffect, useState } from 'preact/hooks'
import { failure } from './data/load.ts'
import { forget, resume, type SignedOut, type SignIn, signIn } from './data/session.ts'
import { OtherSession, type Replacing } from './other-session.tsx'
import { Shell } from './shell.tsx'
import { SignInPage } from './sign-in.tsx'
import { Secrets } from './ui/secret.tsx'
import { Loading } from './ui/states.tsx'
import { Toasts } from './ui/toast.tsx'

/** Who is signed in decides what is shown: the console, or the way in. */
export function Root() {
  const [state, setState] = useState<SignIn | Replacing | SignedOut | undefined>()
  useEffect(() => {
    begin().then(setState, (error) => setState({ error: failure(error) }))
  }, [])
  const leave = useCallback((notice: string) => {
    forget()
    setState({ notice })
  }, [])
  return (
    <Toasts>
      <Secrets>
        {state === undefined ? (
          <main>
            <h1 class="visually-hidden">gate-sidecar</h1>
            <Loading what="the console" />
          </main>
        ) : 'who' in state ? (
          <Shell key={state.who.session?.id} signIn={state} onLeave={leave} />
        ) : 'earlier' in state ? (
          <OtherSession of={state} onSignedIn={setState} />
        ) : (
          <SignInPage why={state} onSignedIn={setState} />
        )}
      </Secrets>
    </Toasts>
  )
}

/** By the code of a sign-in link, which is taken out of the address at once; else by the session that there is. */
async function begin(): Promise<SignIn | Replacing | SignedOut> {
  // The way in says why nobody signs in here.
  if (!isSecureContext) return {}
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return (await resume()) ?? {}
  history.replaceState(null, '', location.pathname + location.search)
  const earlier = await resume()
  return earlier === undefined ? signIn({ code }) : { earlier, code }
}
