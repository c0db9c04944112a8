import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { Row, type RowProps } from './row.tsx'

export interface ListProps extends Pick<RowProps, 'onSelect' | 'onCursor' | 'onOpen'> {
  rows: readonly Approval[]
  /** The row of the keyboard cursor. */
  cursor: string | undefined
  /** Set to request the focus for the cursor's row; unset once it has it. */
  wantsFocus: { current: boolean }
  selected: ReadonlySet<string>
  fresh: ReadonlySet<string>
  openId: string | undefined
  addressOf: (id: string) => string
  /** Called when the cursor has moved because its row is gone. */
  onPlaced: (id: string) => void
}

/**
 * The rows. Arrivals and departures move neither focus nor cursor;
 * if the focused row is gone, the focus goes to the row in its place.
 */
export function List({ rows, cursor, wantsFocus, ...rest }: ListProps) {
  const { selected, fresh, openId, addressOf, onPlaced, onSelect, onCursor, onOpen } = rest
  const list = useRef<HTMLUListElement>(null)
  const last = useRef<readonly string[]>([])
  // Read before the rows change: browsers drop the focus of moved and removed elements.
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
          onOpen={onOpen}
        />
      ))}
    </ul>
  )
}

/** The focused element of the list. */
function focusIn(list: Element | null): { element: Element; isCheckbox: boolean } | undefined {
  const element = document.activeElement
  if (element === null || list === null || !list.contains(element)) return undefined
  return { element, isCheckbox: element instanceof HTMLInputElement }
}

/** The row of the cursor; if it is gone, the row in its place; the first without a cursor. */
function placeOf(cursor: string | undefined, before: readonly string[], now: readonly string[]): string | undefined {
  if (cursor !== undefined && now.includes(cursor)) return cursor
  const at = cursor === undefined ? -1 : before.indexOf(cursor)
  const next = before.slice(at + 1).find((id) => now.includes(id))
  return at === -1 ? now[0] : (next ?? now.at(-1))
}
