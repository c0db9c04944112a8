import type { ComponentChildren, TargetedMouseEvent } from 'preact'
import { type Console, useConsole } from '../data/console.ts'
import { go } from '../data/place.ts'

interface LinkProps {
  /** An address of the console, from `addressOf`. */
  to: string
  class?: string
  current?: boolean
  label?: string
  /** -1 in lists where the Tab key reaches one row at a time. */
  tabIndex?: number
  /** Called before the place is shown, when it is not opened elsewhere. */
  onFollow?: () => void
  children: ComponentChildren
}

/** A link within the console: it does not reload the page, unless opened elsewhere. */
export function Link({ to, current, label, onFollow, children, ...rest }: LinkProps) {
  const follow = (event: TargetedMouseEvent<HTMLAnchorElement>): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    onFollow?.()
    go(to)
  }
  return (
    <a href={to} onClick={follow} aria-current={current ? 'page' : undefined} aria-label={label} {...rest}>
      {children}
    </a>
  )
}

interface PermittedLinkProps extends LinkProps {
  /** The operation that the linked page needs. */
  needs: Parameters<Console['may']>[0]
}

/** A link for users with permission to see its page; its text alone for others. */
export function PermittedLink({ needs, children, ...rest }: PermittedLinkProps) {
  const { may } = useConsole()
  if (!may(needs)) return <>{children}</>
  return <Link {...rest}>{children}</Link>
}
