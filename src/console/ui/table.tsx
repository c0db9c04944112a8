import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import { go } from '../data/place.ts'

export interface Column<T> {
  head: string
  cell: (row: T) => ComponentChildren
  /** Class of the cells, such as `number`. */
  class?: string
}

interface TableProps<T> {
  /** The contents of the table, for screen readers. */
  caption: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** Class of a row. */
  classOf?: (row: T) => string
  /** Target of a click anywhere in a row, the same as its link's. */
  toOf?: (row: T) => string
}

/** A table that becomes a list of cards on a phone, where each cell carries its heading. */
export function Table<T>({ caption, columns, rows, keyOf, classOf, toOf }: TableProps<T>) {
  return (
    <div class="box table-frame">
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, class: name }) => (
              <th key={head} scope="col" class={name}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              class={[classOf?.(row), toOf && 'leads'].filter(Boolean).join(' ')}
              onClick={toOf && ((event) => follow(event, toOf(row)))}
            >
              {columns.map(({ head, cell, class: name }) => (
                <td key={head} data-head={head} class={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A click opens the row, unless it hits a control in it or ends a text selection. */
function follow(event: TargetedMouseEvent<HTMLElement>, to: string): void {
  const isOfControl = event.target instanceof Element && event.target.closest('a, button, summary') !== null
  if (isOfControl || getSelection()?.isCollapsed === false) return
  if (event.ctrlKey || event.metaKey) window.open(to, '_blank', 'noopener')
  else go(to)
}
