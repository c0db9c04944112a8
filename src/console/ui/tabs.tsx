import { Link } from './link.tsx'

interface TabsProps {
  /** Of what the tabs are parts, for screen readers. */
  label: string
  tabs: readonly { title: string; to: string; isCurrent: boolean }[]
}

/** Links to the parts of a page. Where there is one part only, none. */
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
