import type { ComponentChildren } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import { useConsole } from './data/console.ts'
import { LiveContext } from './data/live.ts'
import { notify } from './data/notify.ts'
import { approvalIn, PendingContext, usePendingApprovals } from './data/pending.ts'
import { addressOf, go } from './data/place.ts'

/** Tracks pending approvals on every page, and notifies approvers of new ones while the page is not in view. */
export function ApprovalAlerts({ children }: { children: ComponentChildren }) {
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
