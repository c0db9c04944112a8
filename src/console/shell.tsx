import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { Endpoints } from '../client/endpoints.ts'
import { CurrentPage } from './current-page.tsx'
import { type Console, ConsoleContext, useConsole } from './data/console.ts'
import { LiveContext, useChanges, useLiveEvents } from './data/live.ts'
import { failure, useLoad } from './data/load.ts'
import { notify } from './data/notify.ts'
import { approvalIn, PendingContext, usePendingApprovals } from './data/pending.ts'
import { addressOf, go } from './data/place.ts'
import { answerTabs, type SignIn, sessionConnection } from './data/session.ts'
import { Header, StopBanner } from './header.tsx'
import { Navigation } from './navigation.tsx'
import { SessionEnd } from './session-end.tsx'
import { useKeptFocus } from './ui/kept-focus.ts'

interface ShellProps {
  signIn: SignIn
  /** Called when the session has ended. */
  onLeave: (notice: string) => void
}

/** The console of a signed-in user: header, navigation, and the page that the address names. */
export function Shell({ signIn: { who, token }, onLeave }: ShellProps) {
  const [tenantId, setTenantId] = useState(who.tenants[0] ?? '')
  const connection = useMemo(
    () => sessionConnection(token, tenantId, () => onLeave('Your session has ended. Sign in to go on where you were.')),
    [token, tenantId, onLeave],
  )
  useEffect(() => answerTabs(token), [token])
  const live = useLiveEvents(connection)
  return (
    <LiveContext.Provider value={live}>
      <Signed {...{ who, tenantId, setTenantId, connection, onLeave }} key={tenantId} />
    </LiveContext.Provider>
  )
}

interface SignedProps extends Pick<Console, 'who' | 'tenantId' | 'connection'> {
  setTenantId: (tenantId: string) => void
  onLeave: (notice: string) => void
}

/** The console for one tenant; another tenant remounts it. */
function Signed({ who, tenantId, setTenantId, connection, onLeave }: SignedProps) {
  const gate = useMemo(() => new Endpoints(connection), [connection])
  const may = (operation: (typeof who.may)[number]): boolean => who.may.includes(operation)
  const stops = useLoad(
    async (signal) => (may('killSwitchStatus') ? gate.killSwitch.status({ signal }) : undefined),
    [tenantId],
  )
  useChanges(['killswitch'], stops.reload)
  const main = useKeptFocus()
  const leave = async (): Promise<void> => {
    try {
      await connection.call('endSession', {})
      onLeave('You are signed out.')
    } catch (error) {
      onLeave(`This browser has forgotten the session. The service could not be told: ${failure(error).message}`)
    }
  }
  return (
    <ConsoleContext.Provider value={{ who, tenantId, gate, connection, stops, may }}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header onTenant={setTenantId} onLeave={() => void leave()} />
      <StopBanner />
      <ApprovalAlerts>
        <div class="frame">
          <Navigation />
          <main id="main" tabIndex={-1} ref={main}>
            <CurrentPage />
          </main>
        </div>
      </ApprovalAlerts>
      <SessionEnd onOver={() => onLeave('You were signed out, since nothing was done for long.')} />
    </ConsoleContext.Provider>
  )
}

/** Tracks pending approvals on every page, and notifies approvers of new ones while the page is not in view. */
function ApprovalAlerts({ children }: { children: ComponentChildren }) {
  const { gate, who, may, stops } = useConsole()
  const { listen } = useContext(LiveContext)
  const pending = usePendingApprovals(gate, may('listApprovals'), stops.data?.active ?? false)
  const mayApprove = may('approve')
  useEffect(() => {
    if (!mayApprove) return
    return listen((event) => {
      const approval = event.eventType === 'approval.requested' ? approvalIn(event) : undefined
      if (approval === undefined || !document.hidden || approval.requestedBy === who.principal) return
      notify('An action waits for approval', { id: approval.id, text: approval.action }, () =>
        go(addressOf(['approvals', approval.id])),
      )
    })
  }, [listen, mayApprove, who])
  return (
    <PendingContext.Provider value={may('listApprovals') ? pending : undefined}>{children}</PendingContext.Provider>
  )
}
