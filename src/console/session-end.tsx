import { useEffect, useState } from 'preact/hooks'
import { isUntold } from './data/activity.ts'
import { useNow } from './data/clock.ts'
import { useConsole } from './data/console.ts'
import { failure } from './data/load.ts'
import { CloseFooter } from './ui/button.tsx'
import { Dialog } from './ui/dialog.tsx'
import { durationText } from './ui/time.tsx'

/** Interval between reports of activity to the service. */
const REPORT_MS = 60_000
/** Time before the end of the session at which the user is asked to continue (WCAG 2.2.1 asks for 20 s at least). */
const WARNING_MS = 120_000

/** Keeps the session open during activity, warns before it ends, and reports its end. */
export function SessionEnd({ onOver }: { onOver: () => void }) {
  const { who, connection } = useConsole()
  const [session, setSession] = useState(who.session)
  const now = useNow()
  const renew = (): void => {
    connection.call('getSession', {}).then(({ data }) => setSession(data.session), failure)
  }
  useEffect(() => {
    const timer = setInterval(() => isUntold() && renew(), REPORT_MS)
    return () => clearInterval(timer)
  }, [])
  const leftMs = session === null ? Number.POSITIVE_INFINITY : Date.parse(session.idleEndsAt) - now
  useEffect(() => {
    if (leftMs <= 0) onOver()
  }, [leftMs <= 0])
  if (leftMs > WARNING_MS || leftMs <= 0) return null
  const isLast = session?.idleEndsAt === session?.endsAt
  return (
    <Dialog title="You will be signed out soon" onClose={renew}>
      <p>
        In {durationText(leftMs)}
        {isLast ? ', because no session lasts longer. Finish your work, then sign in again.' : ', unless you continue.'}
      </p>
      <CloseFooter onClose={renew} label={isLast ? 'Continue until then' : 'Stay signed in'} />
    </Dialog>
  )
}
