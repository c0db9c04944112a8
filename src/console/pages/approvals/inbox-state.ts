import { useEffect, useRef, useState } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { usePending } from '../../data/pending.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { type Filters, filtersOf, queryOf } from './filters.ts'
import { useListed } from './listed.ts'
import { useScrollBack } from './scroll-back.ts'
import { useSelection } from './selection.ts'
import type { VoteKind } from './vote.ts'

/** So many rows are drawn before somebody asks for more: a list of thousands is searched, not read. */
export const SHOWN = 50

/** From this width on, an approval stands beside the list. */
const WIDE = '(min-width: 64rem)'

/** What is asked before everything else. */
export type Question = 'help' | { kind: VoteKind; id: string } | { kind: VoteKind; several: readonly Approval[] }

/** What the parts of the page share: what is listed, where one is in it, and what is asked. */
export function useInboxState() {
  const { may } = useConsole()
  const place = useInboxPlace()
  const { filters, openId, isAlone } = place
  const listed = useListed(filters)
  const [shown, onMore] = useShown(JSON.stringify(filters))
  const selection = useSelection()
  const [cursor, setCursor] = useState(openId)
  // The first key goes to the cursor, not on from it.
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
    // Another list begins at its top, for the keys too.
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

/** What the address says. */
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

/** Whether the row of the cursor is to have the focus once it is drawn; drawn it is in any case. */
function useFocusWish() {
  const wantsFocus = useRef(false)
  const [, draw] = useState(0)
  const takeFocus = (): void => {
    wantsFocus.current = true
    draw((times) => times + 1)
  }
  return { wantsFocus, takeFocus }
}

/** Asks about all that is selected, also where a filter hides some of it; about one alone as about any other. @param listed in order */
function useVoteOnSelected(
  listed: readonly Approval[],
  selected: ReadonlySet<string>,
  setQuestion: (question: Question) => void,
) {
  const { data } = usePending()
  return (kind: VoteKind): void => {
    // In the order of the list; what a filter hides comes last.
    const all = new Map([...listed, ...(data?.items ?? [])].map((approval) => [approval.id, approval]))
    const several = [...all.values()].filter(({ id }) => selected.has(id))
    const [first] = several
    if (first !== undefined) setQuestion(several.length === 1 ? { kind, id: first.id } : { kind, several })
  }
}

/** How many rows are drawn; anew for another list. */
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
