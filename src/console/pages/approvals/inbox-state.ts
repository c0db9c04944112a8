import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { type Loaded, useLoad } from '../../data/load.ts'
import { type Pending, usePending } from '../../data/pending.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { chosenOf, type Filters, filtersOf, queryOf } from './filters.ts'
import { useScrollBack } from './scroll-back.ts'
import { useSelection } from './selection.ts'
import type { VoteKind } from './vote.ts'

/** Limit of rows drawn before a click on more: a list of thousands is searched, not read. */
export const SHOWN = 50
/** Limit of past approvals in the list: those with the latest deadlines. */
const MOST_PAST = 500

/** Width from which an open approval stands beside the list. */
const WIDE = '(min-width: 64rem)'

/** The open dialog. */
type Question = 'help' | { kind: VoteKind; id: string } | { kind: VoteKind; several: readonly Approval[] }

/** State that the parts of the page share: list, cursor, and open dialog. */
export function useInboxState() {
  const { may } = useConsole()
  const place = useInboxPlace()
  const { filters, openId, isAlone } = place
  const listed = useListed(filters)
  const [shown, onMore] = useShown(JSON.stringify(filters))
  const selection = useSelection()
  const rows = listed.rows.slice(0, shown)
  const focus = useFocusWish()
  const paneFocus = useFocusWish()
  const cursor = useCursor({ place, rows, onMore, focus, onSeen: selection.seen })
  const asking = useAsking(place)
  const mayVote = may('approve')
  useScrollBack(isAlone, openId)
  const goBack = (): void => {
    focus.wish()
    go(place.back)
  }
  const voted = ({ id, status }: Approval): void => {
    selection.decided(id)
    asking.setQuestion(undefined)
    focus.wish()
    if (isAlone) go(place.back)
    else if (status !== 'pending') cursor.leave(id)
  }
  // A new list starts at its top, for the keyboard too.
  const setFilters = (changed: Filters): void => {
    cursor.reset()
    place.setFilters(changed)
  }
  return {
    ...{ ...place, setFilters, listed, rows, onMore, selection, cursor, focus, paneFocus, goBack, voted, mayVote },
    ...{ ...asking, isSelecting: mayVote && filters.status === 'pending' },
    // A question leaves out selected approvals that a filter hides.
    chosen: rows.filter(({ id }) => selection.selected.has(id)),
  }
}

export type InboxState = ReturnType<typeof useInboxState>
type InboxPlace = ReturnType<typeof useInboxPlace>

interface CursorProps {
  place: InboxPlace
  rows: readonly Approval[]
  onMore: () => void
  /** The wish to focus the row of the cursor. */
  focus: FocusWish
  onSeen: (id: string) => void
}

/** The row of the keyboard. Moving it opens the row beside the list, so that the keys vote on the row shown. */
function useCursor({ place: { openId, isWide, toOpen }, rows, onMore, focus, onSeen }: CursorProps) {
  const [id, setId] = useState(openId)
  // The first key press goes to the cursor itself, not to the next row.
  const isUsed = useRef(openId !== undefined)
  const put = (to: string): void => {
    isUsed.current = true
    setId(to)
    onSeen(to)
  }
  const follow = (to: string): void => {
    put(to)
    if (isWide && to !== openId) go(toOpen(to), openId === undefined ? 'push' : 'replace')
  }
  const move = (step: number): void => {
    const at = rows.findIndex((row) => row.id === id)
    const next = rows[isUsed.current ? Math.min(Math.max(at + step, 0), rows.length - 1) : Math.max(at, 0)]
    if (next === undefined) return
    if (at === rows.length - 1 && step > 0) onMore()
    follow(next.id)
    focus.wish()
  }
  /** Goes on to the row after a decided one, which leaves the list; at the end to the one before. */
  const leave = (decided: string): void => {
    const at = rows.findIndex((row) => row.id === decided)
    const next = at === -1 ? undefined : (rows[at + 1] ?? rows[at - 1])
    if (next !== undefined && openId === decided) follow(next.id)
  }
  const reset = (): void => {
    isUsed.current = false
    setId(undefined)
  }
  return { id, isUsed, put, replace: setId, move, leave, reset }
}

/** The open dialog. It names only the open approval, or all approvals of a batch. */
function useAsking({ openId, isWide, toOpen }: InboxPlace) {
  const [question, setQuestion] = useState<Question>()
  const isOther = typeof question === 'object' && 'id' in question && openId !== undefined && question.id !== openId
  useEffect(() => {
    if (isOther) setQuestion(undefined)
  }, [isOther])
  const ask = (kind: VoteKind, id: string): void => {
    if (isWide && id !== openId) go(toOpen(id), openId === undefined ? 'push' : 'replace')
    setQuestion({ kind, id })
  }
  const askSeveral = (kind: VoteKind, several: readonly Approval[]): void => {
    const [first] = several
    if (first !== undefined && several.length === 1) ask(kind, first.id)
    else if (first !== undefined) setQuestion({ kind, several })
  }
  return { question: isOther ? undefined : question, setQuestion, ask, askSeveral }
}

/** The state in the address. */
function useInboxPlace() {
  const {
    path: [, openId],
    query,
  } = usePlace()
  const isWide = useIsWide()
  const filters = filtersOf(query)
  const toOpen = (id: string): string => addressOf(['approvals', id], queryOf(filters))
  const setFilters = (changed: Filters): void =>
    go(addressOf(openId === undefined ? ['approvals'] : ['approvals', openId], queryOf(changed)), 'replace')
  const back = addressOf(['approvals'], queryOf(filters))
  return { openId, isWide, isAlone: openId !== undefined && !isWide, filters, setFilters, toOpen, back }
}

/** Pending or past approvals that match the filters, in order. */
function useListed(filters: Filters): { loaded: Loaded<Pending>; rows: readonly Approval[] } {
  const { who } = useConsole()
  const pending = usePending()
  const past = usePast(filters.status)
  const loaded = filters.status === 'pending' ? pending : past
  const items = loaded.data?.items
  const key = JSON.stringify(filters)
  const rows = useMemo(() => chosenOf(items ?? [], filters, who), [items, key, who])
  return { loaded, rows }
}

/** Fetches the end of the list, which the service orders by deadline, oldest first. */
function usePast(status: Approval['status']): Loaded<Pending> {
  const { gate } = useConsole()
  const past = useLoad(
    async (signal) => {
      if (status === 'pending') return { items: [], total: 0 }
      const { total } = (await gate.approvals.list({ status, limit: 1 }, { signal })).page
      const offset = Math.max(0, total - MOST_PAST)
      const { data, page } = await gate.approvals.list({ status, limit: MOST_PAST, offset }, { signal })
      return { items: data, total: page.total }
    },
    [status],
  )
  useChanges(['approval', 'killswitch'], () => status !== 'pending' && past.poll())
  return past
}

/** A request to focus something after drawing, unset by the element that takes it; each request forces a draw. */
export interface FocusWish {
  isWanted: { current: boolean }
  wish: () => void
}

function useFocusWish(): FocusWish {
  const isWanted = useRef(false)
  const [, draw] = useState(0)
  const wish = (): void => {
    isWanted.current = true
    draw((times) => times + 1)
  }
  return { isWanted, wish }
}

/** The number of rows to draw; reset for another list. */
function useShown(key: string): [count: number, more: () => void] {
  const [state, setState] = useState({ key, count: SHOWN })
  const count = state.key === key ? state.count : SHOWN
  return [count, () => setState({ key, count: count + SHOWN })]
}

function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(() => matchMedia(WIDE).matches)
  useEffect(() => {
    const media = matchMedia(WIDE)
    const changed = (): void => setIsWide(media.matches)
    media.addEventListener('change', changed)
    return () => media.removeEventListener('change', changed)
  }, [])
  return isWide
}
