import { useConsole } from './data/console.ts'
import { useWaiting } from './data/pending.ts'
import { addressOf, usePlace } from './data/place.ts'
import { PAGES } from './pages.ts'
import { Icon } from './ui/icons.tsx'
import { Link } from './ui/link.tsx'

/** Links to the pages: at the side, on a phone at the bottom. */
export function Navigation() {
  const { may } = useConsole()
  const { path } = usePlace()
  const waiting = useWaiting()
  const pages = PAGES.filter(({ needs }) => may(needs))
  const current = path[0] ?? pages[0]?.path
  return (
    <nav class="navigation" aria-label="Pages">
      {pages.map(({ path: segment, title, icon }) => (
        <Link key={segment} to={addressOf([segment])} current={segment === current}>
          <Icon name={icon} />
          <span>{title}</span>
          {segment === 'approvals' && waiting > 0 && (
            <span class="badge require_approval">
              {waiting.toLocaleString()}
              <span class="visually-hidden"> waiting</span>
            </span>
          )}
        </Link>
      ))}
    </nav>
  )
}
