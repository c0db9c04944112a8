import type { ComponentChildren } from 'preact'
import type { RecordedDecision } from '../../../client/api.ts'
import { DECISIONS } from '../../ui/decision-words.ts'
import { countText } from '../../ui/numbers.ts'

type Decision = RecordedDecision['decision']

const ORDER: readonly Decision[] = ['allow', 'require_approval', 'deny']

interface MatrixProps {
  of: readonly { from: string; to: string; count: number }[]
  caption: string
  /** Names of the rows and of the columns. */
  corner: string
  /** A number of decisions that differ, which leads to them. */
  changed: (from: Decision, to: Decision, count: string) => ComponentChildren
}

/** Decisions by what was decided, and by what other policies decide. */
export function Matrix({ of, caption, corner, changed }: MatrixProps) {
  const cellOf = (from: Decision, to: Decision): ComponentChildren => {
    const count = of.find((cell) => cell.from === from && cell.to === to)?.count ?? 0
    return from === to || count === 0 ? countText(count) : changed(from, to, countText(count))
  }
  return (
    <table class="matrix">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <td class="muted small">{corner}</td>
          {ORDER.map((to) => (
            <th key={to} scope="col">
              {DECISIONS[to]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ORDER.map((from) => (
          <tr key={from}>
            <th scope="row">{DECISIONS[from]}</th>
            {ORDER.map((to) => (
              <td key={to} class={from === to ? 'same' : 'changed'}>
                {cellOf(from, to)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
