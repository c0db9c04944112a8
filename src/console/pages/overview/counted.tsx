import type { ComponentChildren } from 'preact'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'

interface CountedProps {
  /** The page that lists the counted items, and the operation that it needs. */
  path: string
  needs: Parameters<ReturnType<typeof useConsole>['may']>[0]
  query?: Readonly<Record<string, string>>
  /** The link's label, where its number alone is unclear. */
  label?: string
  children: ComponentChildren
}

/** A count, or its label, as a link to the counted items for users with permission to see them. */
export function Counted({ path, needs, query = {}, children, ...rest }: CountedProps) {
  const { may } = useConsole()
  if (!may(needs)) return <>{children}</>
  return (
    <Link to={addressOf([path], query)} class="counted" {...rest}>
      {children}
    </Link>
  )
}
