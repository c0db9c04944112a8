import type { ComponentChildren } from 'preact'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'

interface CountedProps {
  /** The page that lists what is counted, and the operation without which it does not. */
  path: string
  needs: Parameters<ReturnType<typeof useConsole>['may']>[0]
  query?: Readonly<Record<string, string>>
  /** What the link is called, where its number alone does not say it. */
  label?: string
  children: ComponentChildren
}

/** A number, or what it counts, which leads to those that are counted: for who may see them. */
export function Counted({ path, needs, query = {}, children, ...rest }: CountedProps) {
  const { may } = useConsole()
  if (!may(needs)) return <>{children}</>
  return (
    <Link to={addressOf([path], query)} class="counted" {...rest}>
      {children}
    </Link>
  )
}
