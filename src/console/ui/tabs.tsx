import { Link } from './link.tsx'

interface TabsProps {
  /** The name of the whole, for screen readers. */
  label: string
  tabs: readonly { title: string; to: string; isCurrent: boolean }[]
}

/** Links to the parts of a page; none for a single part. */
export function Tabs({ label, tabs }: TabsProps) {
  if (tabs.length < 2) return null
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ title, to, isCurrent }) => (
        <Link key={to} to={to} current={isCurrent}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
