import { useConsole } from '../../data/console.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'

/** What the page has, by the segment of the address. */
export const TABS = [
  { segment: '', title: 'In force', needs: 'listPolicies' },
  { segment: 'source', title: 'Source', needs: 'policySource' },
  { segment: 'dry-run', title: 'Dry run', needs: 'dryRun' },
] as const

/** Nothing for those who may see one of them only. */
export function Tabs() {
  const { may } = useConsole()
  const { path } = usePlace()
  const shown = TABS.filter(({ needs }) => may(needs))
  if (shown.length < 2) return null
  return (
    <nav class="tabs" aria-label="Of the policies">
      {shown.map(({ segment, title }) => (
        <Link
          key={segment}
          to={addressOf(['policies', ...(segment === '' ? [] : [segment])])}
          current={(path[1] ?? '') === segment}
        >
          {title}
        </Link>
      ))}
    </nav>
  )
}
