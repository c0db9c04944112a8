import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useLayoutEffect, useMemo } from 'preact/hooks'
import { Endpoints } from '../client/endpoints.ts'
import { CurrentPage } from './current-page.tsx'
import { type Console, ConsoleContext, useConsole } from './data/console.ts'
import { LiveContext, useLiveEvents } from './data/live.ts'
import { failure } from './data/load.ts'
import { notify } from './data/notify.ts'
import { approvalIn, PendingContext, usePendingApprovals } from './data/pending.ts'
import { addressOf, go, usePlace } from './data/place.ts'
import { answerTabs, type SignIn, sessionConnection } from './data/session.ts'
import { useStops } from './data/stops.ts'
import { Header, NotLive, StopBanner } from './header.tsx'
import { Navigation } from './navigation.tsx'
import { SessionEnd } from './session-end.tsx'
import { useKeptFocus } from './ui/kept-focus.ts'
import { Link } from './ui/link.tsx'
import { PageHead } from './ui/page-head.tsx'
import { Text } from './ui/text.tsx'

interface ShellProps {
  signIn: SignIn
  /** Called when the session has ended. */
  onLeave: (notice: string) => void
}

/** The console of a signed-in user, for the tenant in the address. An address without one gets that of the key. */
export function Shell({ signIn: { who, token }, onLeave }: ShellProps) {
  const { tenantId, path } = usePlace()
  const [own = ''] = who.tenants
  useEffect(() => answerTabs(token), [token])
  useLayoutEffect(() => {
    if (tenantId === undefined) go(addressOf(path, {}, own) + location.search, 'replace')
  }, [tenantId])
  if (tenantId === undefined) return null
  if (!who.tenants.includes(tenantId)) return <OtherTenant named={tenantId} own={own} />
  return <Signed {...{ who, token, tenantId, onLeave }} key={tenantId} />
}

/** Nothing of one tenant is shown or done by an address that names another. */
function OtherTenant({ named, own }: { named: string; own: string }) {
  return (
    <main class="sign-in">
      <PageHead title="Another tenant" />
      <p>
        This address belongs to the tenant <Text of={named} />, which does not exist, or which your key may not see.
      </p>
      <p>
        <Link to={addressOf([], {}, own)}>
          Go to <Text of={own} />
        </Link>
      </p>
    </main>
  )
}

interface SignedProps extends Pick<Console, 'who' | 'tenantId'> {
  token: string
  onLeave: (notice: string) => void
}

/** Header, navigation, and the page that the address names, for one tenant; another tenant remounts it. */
function Signed({ who, token, tenantId, onLeave }: SignedProps) {
  const connection = useMemo(
    () =>
      sessionConnection(token, tenantId, () => onLeave('Your session has ended. Sign in to continue where you were.')),
    [token, tenantId, onLeave],
  )
  const live = useLiveEvents(connection)
  const leave = async (): Promise<void> => {
    try {
      await connection.call('endSession', {})
      onLeave('You are signed out.')
    } catch (error) {
      onLeave(`You are signed out in this browser, but the service could not be told: ${failure(error).message}`)
    }
  }
  const main = useKeptFocus()
  return (
    <LiveContext.Provider value={live}>
      <Known {...{ who, tenantId, connection }}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Header onLeave={() => void leave()} />
        <StopBanner />
        <NotLive />
        <ApprovalAlerts>
          <div class="frame">
            <Navigation />
            <main id="main" tabIndex={-1} ref={main}>
              <CurrentPage />
            </main>
          </div>
        </ApprovalAlerts>
        <SessionEnd onOver={() => onLeave('You were signed out after a long time without activity.')} />
      </Known>
    </LiveContext.Provider>
  )
}

type KnownProps = Pick<Console, 'who' | 'tenantId' | 'connection'> & { children: ComponentChildren }

/** Provides the facts that all parts of the console share. */
function Known({ children, ...known }: KnownProps) {
  const { who, connection } = known
  const gate = useMemo(() => new Endpoints(connection), [connection])
  const may = (operation: (typeof who.may)[number]): boolean => who.may.includes(operation)
  const stops = useStops(connection, may('killSwitchStatus'))
  return <ConsoleContext.Provider value={{ ...known, gate, stops, may }}>{children}</ConsoleContext.Provider>
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
      // The current address: another tenant may be on display when the notification is clicked.
      const address = addressOf(['approvals', approval.id])
      notify('An action waits for approval', { id: approval.id, text: approval.action }, () => go(address))
    })
  }, [listen, mayApprove, who])
  return (
    <PendingContext.Provider value={may('listApprovals') ? pending : undefined}>{children}</PendingContext.Provider>
  )
}
