import { render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { watchActivity } from './data/activity.ts'
import { failure } from './data/load.ts'
import { forget, resume, type SignedOut, type SignIn, signIn } from './data/session.ts'
import { applyTheme } from './data/theme.ts'
import { Shell } from './shell.tsx'
import { OtherSession, type Replacing, SignInPage } from './sign-in.tsx'
import { Secrets } from './ui/secret.tsx'
import { Loading } from './ui/states.tsx'
import { Toasts } from './ui/toast.tsx'

/** The console for a signed-in user; for others the sign-in page. */
function Root() {
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

/** Signs in by the code of a sign-in link, which leaves the address at once; else resumes an existing session. */
async function begin(): Promise<SignIn | Replacing | SignedOut> {
  // The sign-in page explains why nobody can sign in here.
  if (!isSecureContext) return {}
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return (await resume()) ?? {}
  history.replaceState(null, '', location.pathname + location.search)
  const earlier = await resume()
  return earlier === undefined ? signIn({ code }) : { earlier, code }
}

applyTheme()
watchActivity()
const place = document.getElementById('console')
if (place !== null) render(<Root />, place)
