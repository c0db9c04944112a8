import type { ComponentChildren } from 'preact'

export interface Column<T> {
  head: string
  cell: (row: T) => ComponentChildren
  /** Of the cells, such as `number`. */
  class?: string
}

interface TableProps<T> {
  /** What the table lists, for screen readers. */
  caption: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** Of a row. */
  classOf?: (row: T) => string
}

/** A table that is a list of cards on a phone, where each cell carries its heading. */
export function Table<T>({ caption, columns, rows, keyOf, classOf }: TableProps<T>) {
  return (
    <div class="table-frame">
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
            <tr key={keyOf(row)} class={classOf?.(row)}>
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
