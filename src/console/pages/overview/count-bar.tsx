import type { ComponentChildren } from 'preact'
import { countText } from '../../ui/numbers.ts'

interface CountBarProps {
  count: number
  /** The count of a full bar. */
  most: number
  /** Class of the bar's colour. */
  class: string
  /** The label. */
  children: ComponentChildren
}

/** A count with its label in a list, as a number and as a bar. */
export function CountBar({ count, most, class: name, children }: CountBarProps) {
  return (
    <li>
      <span class="bar-name">{children}</span>
      <span class="bar-row">
        <span class="meter" aria-hidden="true">
          <span class={name} style={{ width: `${(count / most) * 100}%` }} />
        </span>
        <span class="number">{countText(count)}</span>
      </span>
    </li>
  )
}
