import { useConsole } from './data/console.ts'
import { addressOf, usePlace } from './data/place.ts'
import { PAGES } from './pages.ts'
import { Icon } from './ui/icons.tsx'
import { Link } from './ui/link.tsx'

/** Links to the pages: at the side, on a phone at the bottom. */
export function Navigation() {
  const { may } = useConsole()
  const { path } = usePlace()
  const pages = PAGES.filter(({ needs }) => may(needs))
  const current = path[0] ?? pages[0]?.path
  return (
    <nav class="navigation" aria-label="Pages">
      {pages.map(({ path: segment, title, icon }) => (
        <Link key={segment} to={addressOf([segment])} current={segment === current}>
          <Icon name={icon} />
          <span>{title}</span>
        </Link>
      ))}
    </nav>
  )
}
