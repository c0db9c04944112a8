import { createContext } from 'preact'
import { useCallback, useContext, useRef } from 'preact/hooks'
import type { Approval } from '../../client/api.ts'
import type { Endpoints } from '../../client/endpoints.ts'
import type { GateEvent } from '../../client/events.ts'
import { serverNow, useAt } from './clock.ts'
import { ConsoleContext } from './console.ts'
import { useChanges } from './live.ts'
import { type Loaded, useLoad } from './load.ts'

/** Limit of loaded pending approvals: those with the earliest deadlines. */
const MOST = 1000

/** Pending approvals, as far as the key may see them. */
export interface Pending {
  items: readonly Approval[]
  /** Count of all, loaded or not. */
  total: number
}

export interface PendingApprovals extends Loaded<Pending> {
  /** Applies the approval in a response before its event arrives. */
  note(approval: Approval): void
}

export const PendingContext = createContext<PendingApprovals | undefined>(undefined)

/** @throws Error without permission to list approvals */
export function usePending(): PendingApprovals {
  const found = useContext(PendingContext)
  if (found === undefined) throw new Error('there are no approvals to be seen here')
  return found
}

/** The number of pending approvals for a key that may decide them; 0 for others, and before loading. */
export function useWaiting(): number {
  const mayApprove = useContext(ConsoleContext)?.may('approve') ?? false
  const pending = useContext(PendingContext)
  return mayApprove ? (pending?.data?.total ?? 0) : 0
}

/**
 * Fetches pending approvals once, then follows them by events, which carry the whole approval and need no request.
 * Fetches again only after a stop, which moves deadlines, and when events may have been missed.
 *
 * @param isStopped true while a stop is in force: covered approvals do not expire
 */
export function usePendingApprovals(gate: Endpoints, isWanted: boolean, isStopped: boolean): PendingApprovals {
  // Events since the start of the last fetch, whose response may be older.
  const received = useRef(new Map<string, Approval>())
  const loaded = useLoad(
    async (signal) => {
      const since = new Map<string, Approval>()
      received.current = since
      return isWanted ? withNews(await everyPending(gate, signal), [...since.values()]) : NONE
    },
    [isWanted],
  )
  const latest = useRef(loaded)
  latest.current = loaded
  const take = useCallback((news: readonly Approval[]) => {
    for (const approval of news) received.current.set(approval.id, approval)
    const { data, replace } = latest.current
    if (data !== undefined) replace(withNews(data, news))
  }, [])
  useChanges(['approval'], (events) => take(events.flatMap((event) => approvalIn(event) ?? [])))
  useChanges(['killswitch'], loaded.reload)
  useDeadlines(loaded, isStopped)
  const note = useCallback((approval: Approval) => take([approval]), [take])
  return { ...loaded, note }
}

const NONE: Pending = { items: [], total: 0 }

/** Fetches by pages, since the service ends one early if approvals are large. */
async function everyPending(gate: Endpoints, signal: AbortSignal): Promise<Pending> {
  const items = new Map<string, Approval>()
  for (let offset = 0; ; ) {
    const { data, page } = await gate.approvals.list({ limit: MOST, offset }, { signal })
    for (const approval of data) items.set(approval.id, approval)
    offset += page.limit
    if (offset >= Math.min(page.total, MOST) || data.length === 0)
      return { items: [...items.values()], total: page.total }
  }
}

/** Pending approvals keep their places, new ones follow, and decided ones are removed. */
function withNews({ items, total }: Pending, news: readonly Approval[]): Pending {
  const known = new Map(items.map((approval) => [approval.id, approval]))
  for (const approval of news) {
    if (approval.status === 'pending') known.set(approval.id, approval)
    else known.delete(approval.id)
  }
  return { items: [...known.values()], total: total + known.size - items.length }
}

/** The approval of an event, as it was then; undefined for other events. */
export function approvalIn({ eventType, data }: GateEvent): Approval | undefined {
  // Events carry the body of GET /approvals/:id, or null after erasure.
  return eventType.startsWith('approval.') && data !== null ? (data as Approval) : undefined
}

/** Removes approvals whose deadlines have passed; during a stop it asks the service instead. */
function useDeadlines({ data, reload, replace }: Loaded<Pending>, isStopped: boolean): void {
  const items = data?.items ?? []
  const next = items.reduce((least, { expiresAt }) => Math.min(least, Date.parse(expiresAt)), Number.POSITIVE_INFINITY)
  useAt(Number.isFinite(next) ? next : undefined, data, () => {
    if (isStopped || data === undefined) return reload()
    const open = items.filter(({ expiresAt }) => Date.parse(expiresAt) > serverNow())
    replace({ items: open, total: data.total - items.length + open.length })
  })
}
