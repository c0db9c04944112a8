import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useConsole } from './data/console.ts'
import { useWaiting } from './data/pending.ts'
import { addressOf, usePlace } from './data/place.ts'
import { PAGES, type Page } from './pages.ts'
import { Icon } from './ui/icons.tsx'
import { Link } from './ui/link.tsx'

/** Room at the bottom of a phone: this many pages, or one fewer and a button for the others. */
const ROOM = 5

/** Links to the pages: at the side, on a phone at the bottom. */
export function Navigation() {
  const { may } = useConsole()
  const { path } = usePlace()
  const pages = PAGES.filter(({ needs }) => may(needs))
  const current = path[0] ?? pages[0]?.path
  const inFront = pages.length > ROOM ? pages.slice(0, ROOM - 1) : pages
  const behind = pages.slice(inFront.length)
  const link = (page: Page) => <PageLink key={page.path} page={page} isCurrent={page.path === current} />
  return (
    <nav class="navigation" aria-label="Pages">
      {inFront.map(link)}
      {behind.length > 0 && (
        <More address={path.join()} isCurrent={behind.some((page) => page.path === current)}>
          {behind.map(link)}
        </More>
      )}
    </nav>
  )
}

function PageLink({ page: { path, title, icon }, isCurrent }: { page: Page; isCurrent: boolean }) {
  const waiting = useWaiting()
  return (
    <Link to={addressOf([path])} current={isCurrent}>
      <Icon name={icon} />
      <span>{title}</span>
      {path === 'approvals' && waiting > 0 && (
        <span class="badge require_approval">
          {waiting.toLocaleString()}
          <span class="visually-hidden"> waiting</span>
        </span>
      )}
    </Link>
  )
}

interface MoreProps {
  /** The current address; a change closes the menu. */
  address: string
  isCurrent: boolean
  children: ComponentChildren
}

/** Pages that do not fit on a phone, opened by a button; elsewhere they stand with the others. */
function More({ address, isCurrent, children }: MoreProps) {
  const [isOpen, setIsOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => setIsOpen(false), [address])
  const closeByKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !isOpen) return
    // The page must not handle the key as well, and perhaps go back.
    event.preventDefault()
    setIsOpen(false)
    button.current?.focus()
  }
  return (
    <fieldset class="more-pages" aria-label="More pages" onKeyDown={closeByKey}>
      <button
        ref={button}
        type="button"
        class="more"
        aria-current={isCurrent}
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="more" />
        <span>More</span>
      </button>
      <div class={`pages-behind ${isOpen ? 'open' : ''}`}>{children}</div>
    </fieldset>
  )
}
