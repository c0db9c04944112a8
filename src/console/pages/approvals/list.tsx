import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { Row, type RowProps } from './row.tsx'

export interface ListProps extends Pick<RowProps, 'onSelect' | 'onCursor'> {
  rows: readonly Approval[]
  /** The row that the keys are at. */
  cursor: string | undefined
  /** Set when the row of the cursor is to have the focus; unset when it has. */
  wantsFocus: { current: boolean }
  selected: ReadonlySet<string>
  fresh: ReadonlySet<string>
  openId: string | undefined
  addressOf: (id: string) => string
  /** The cursor is somewhere else, since its row has gone. */
  onPlaced: (id: string) => void
}

/**
 * The rows. What comes and goes by itself moves neither the focus nor the cursor; where the row of the focus has gone, it is at the one
 * that took its place.
 */
export function List({ rows, cursor, wantsFocus, ...rest }: ListProps) {
  const { selected, fresh, openId, addressOf, onPlaced, onSelect, onCursor } = rest
  const list = useRef<HTMLUListElement>(null)
  const last = useRef<readonly string[]>([])
  // Before the rows change: the browser forgets the focus of what is moved or taken away.
  const focused = focusIn(list.current)
  const ids = rows.map(({ id }) => id)
  const current = placeOf(cursor, last.current, ids)
  useLayoutEffect(() => {
    last.current = ids
    if (current !== undefined && current !== cursor) onPlaced(current)
    const isLost = focused !== undefined && !focused.element.isConnected
    const isMoved = focused !== undefined && document.activeElement !== focused.element
    if (!wantsFocus.current && !isLost && !isMoved) return
    const row = list.current?.querySelector(`[data-id="${CSS.escape(current ?? '')}"]`)
    const target = row?.querySelector<HTMLElement>(focused?.isCheckbox && !wantsFocus.current ? 'input' : 'a')
    if (target === null || target === undefined) return
    wantsFocus.current = false
    target.focus()
  })
  return (
    <ul class="box inbox-list" ref={list}>
      {rows.map((approval) => (
        <Row
          key={approval.id}
          approval={approval}
          to={addressOf(approval.id)}
          isSelected={selected.has(approval.id)}
          isCursor={approval.id === current}
          isOpen={approval.id === openId}
          isNew={fresh.has(approval.id)}
          onSelect={onSelect}
          onCursor={onCursor}
        />
      ))}
    </ul>
  )
}

/** The element of the list that has the focus. */
function focusIn(list: Element | null): { element: Element; isCheckbox: boolean } | undefined {
  const element = document.activeElement
  if (element === null || list === null || !list.contains(element)) return undefined
  return { element, isCheckbox: element instanceof HTMLInputElement }
}

/** The row of the cursor; where it has gone, the one that stands there now; the first where there was none. */
function placeOf(cursor: string | undefined, before: readonly string[], now: readonly string[]): string | undefined {
  if (cursor !== undefined && now.includes(cursor)) return cursor
  const at = cursor === undefined ? -1 : before.indexOf(cursor)
  const next = before.slice(at + 1).find((id) => now.includes(id))
  return at === -1 ? now[0] : (next ?? now.at(-1))
}
