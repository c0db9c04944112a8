import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useRef } from 'preact/hooks'
import type { Approval } from '../../client/api.ts'
import type { Endpoints } from '../../client/endpoints.ts'
import type { GateEvent } from '../../client/events.ts'
import { serverNow, useAt } from './clock.ts'
import { ConsoleContext } from './console.ts'
import { LiveContext, useChanges } from './live.ts'
import { type Loaded, useLoad } from './load.ts'

/** So many pending approvals are known at most: those whose deadlines come first. */
const MOST = 1000

/** What waits for people, as far as the key may know of it. */
export interface Pending {
  items: readonly Approval[]
  /** How many there are, known or not. */
  total: number
}

export interface PendingApprovals extends Loaded<Pending> {
  /** Takes what an answer says of an approval before an event does. */
  note(approval: Approval): void
}

export const PendingContext = createContext<PendingApprovals | undefined>(undefined)

/** @throws Error for who may not list approvals */
export function usePending(): PendingApprovals {
  const found = useContext(PendingContext)
  if (found === undefined) throw new Error('there are no approvals to be seen here')
  return found
}

/** How many wait, for who may decide them; 0 for others, and while nothing is known. */
export function useWaiting(): number {
  const mayApprove = useContext(ConsoleContext)?.may('approve') ?? false
  const pending = useContext(PendingContext)
  return mayApprove ? (pending?.data?.total ?? 0) : 0
}

/**
 * Fetches what is pending once, then follows it by the events, which bring each approval as it is: no request is made for them. Again is
 * asked only after a stop, which moves deadlines, and when the stream comes back.
 *
 * @param isStopped a stop is in force: what it covers does not expire
 */
export function usePendingApprovals(gate: Endpoints, isWanted: boolean, isStopped: boolean): PendingApprovals {
  const { isLive } = useContext(LiveContext)
  // What was heard since the last fetch began: the answer may be older.
  const heard = useRef(new Map<string, Approval>())
  const loaded = useLoad(
    async (signal) => {
      const since = new Map<string, Approval>()
      heard.current = since
      return isWanted ? withNews(await everyPending(gate, signal), [...since.values()]) : NONE
    },
    [isWanted],
  )
  const latest = useRef(loaded)
  latest.current = loaded
  const take = useCallback((news: readonly Approval[]) => {
    for (const approval of news) heard.current.set(approval.id, approval)
    const { data, replace } = latest.current
    if (data !== undefined) replace(withNews(data, news))
  }, [])
  useChanges(['approval'], (events) => take(events.flatMap((event) => approvalIn(event) ?? [])))
  useChanges(['killswitch'], loaded.reload)
  const wasLive = useRef(isLive)
  useEffect(() => {
    if (isLive && !wasLive.current) loaded.reload()
    wasLive.current = isLive
  }, [isLive])
  useDeadlines(loaded, isStopped)
  const note = useCallback((approval: Approval) => take([approval]), [take])
  return { ...loaded, note }
}

const NONE: Pending = { items: [], total: 0 }

/** In pages, since the service ends one early where approvals are large. */
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

/** Those that are pending stay where they are, new ones come behind, and what was decided goes. */
function withNews({ items, total }: Pending, news: readonly Approval[]): Pending {
  const known = new Map(items.map((approval) => [approval.id, approval]))
  for (const approval of news) {
    if (approval.status === 'pending') known.set(approval.id, approval)
    else known.delete(approval.id)
  }
  return { items: [...known.values()], total: total + known.size - items.length }
}

/** The approval that an event is about, as it was then; undefined for events about something else. */
export function approvalIn({ eventType, data }: GateEvent): Approval | undefined {
  // Events carry what GET /approvals/:id answers, or null where it has been erased.
  return eventType.startsWith('approval.') && data !== null ? (data as Approval) : undefined
}

/** When a deadline has passed, what expired goes; during a stop the service says what did. */
function useDeadlines({ data, reload, replace }: Loaded<Pending>, isStopped: boolean): void {
  const items = data?.items ?? []
  const next = items.reduce((least, { expiresAt }) => Math.min(least, Date.parse(expiresAt)), Number.POSITIVE_INFINITY)
  useAt(Number.isFinite(next) ? next : undefined, data, () => {
    if (isStopped || data === undefined) return reload()
    const open = items.filter(({ expiresAt }) => Date.parse(expiresAt) > serverNow())
    replace({ items: open, total: data.total - items.length + open.length })
  })
}
