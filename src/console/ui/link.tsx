import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import { go } from '../data/place.ts'

interface LinkProps {
  /** An address of the console, as `addressOf` makes it. */
  to: string
  class?: string
  current?: boolean
  label?: string
  /** -1 where a list has one row at a time that the Tab key goes to. */
  tabIndex?: number
  children: ComponentChildren
}

/** A link within the console: the page stays, unless it is opened elsewhere. */
export function Link({ to, current, label, children, ...rest }: LinkProps) {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(to)
  }
  return (
    <a href={to} onClick={follow} aria-current={current ? 'page' : undefined} aria-label={label} {...rest}>
      {children}
    </a>
  )
}
