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
export type Question = 'help' | { kind: VoteKind; id: string } | { kind: VoteKind; several: readonly Approval[] }

/** State that the parts of the page share: list, cursor, and open dialog. */
export function useInboxState() {
  const { may } = useConsole()
  const place = useInboxPlace()
  const { filters, openId, isAlone } = place
  const listed = useListed(filters)
  const [shown, onMore] = useShown(JSON.stringify(filters))
  const selection = useSelection()
  const [cursor, setCursor] = useState(openId)
  // The first key press goes to the cursor itself, not to the next row.
  const isUsed = useRef(openId !== undefined)
  const { wantsFocus, takeFocus } = useFocusWish()
  const [question, setQuestion] = useState<Question>()
  const rows = listed.rows.slice(0, shown)
  const mayVote = may('approve')
  const onCursor = (id: string): void => {
    isUsed.current = true
    setCursor(id)
    selection.seen(id)
  }
  const move = (step: number): void => {
    const at = rows.findIndex(({ id }) => id === cursor)
    const next = rows[isUsed.current ? Math.min(Math.max(at + step, 0), rows.length - 1) : Math.max(at, 0)]
    if (next === undefined) return
    if (at === rows.length - 1 && step > 0) onMore()
    onCursor(next.id)
    takeFocus()
  }
  const voteOnSelected = useVoteOnSelected(listed.rows, selection.selected, setQuestion)
  useScrollBack(isAlone, openId)
  const goBack = (): void => {
    takeFocus()
    go(place.back)
  }
  const voted = (id: string): void => {
    selection.decided(id)
    setQuestion(undefined)
    if (isAlone) goBack()
    else takeFocus()
  }
  return {
    ...place,
    // A new list starts at its top, for the keyboard too.
    setFilters: (changed: Filters): void => {
      isUsed.current = false
      setCursor(undefined)
      place.setFilters(changed)
    },
    ...{ listed, rows, onMore, selection, cursor, onCursor, onPlaced: setCursor, isUsed, wantsFocus, move, goBack },
    ...{
      mayVote,
      isSelecting: mayVote && filters.status === 'pending',
      question,
      setQuestion,
      voteOnSelected,
      voted,
      takeFocus,
    },
  }
}

export type InboxState = ReturnType<typeof useInboxState>

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
  useChanges(['approval', 'killswitch'], () => status !== 'pending' && !past.isLoading && past.reload())
  return past
}

/** A request to focus the cursor's row after drawing; each request forces a draw. */
function useFocusWish() {
  const wantsFocus = useRef(false)
  const [, draw] = useState(0)
  const takeFocus = (): void => {
    wantsFocus.current = true
    draw((times) => times + 1)
  }
  return { wantsFocus, takeFocus }
}

/** Opens the vote on the whole selection, even where a filter hides some of it. @param listed in order */
function useVoteOnSelected(
  listed: readonly Approval[],
  selected: ReadonlySet<string>,
  setQuestion: (question: Question) => void,
) {
  const { data } = usePending()
  return (kind: VoteKind): void => {
    // Follows the order of the list; hidden approvals come last.
    const all = new Map([...listed, ...(data?.items ?? [])].map((approval) => [approval.id, approval]))
    const several = [...all.values()].filter(({ id }) => selected.has(id))
    const [first] = several
    if (first !== undefined) setQuestion(several.length === 1 ? { kind, id: first.id } : { kind, several })
  }
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
