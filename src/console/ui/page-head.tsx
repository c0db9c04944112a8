import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useWaiting } from '../data/pending.ts'

interface PageHeadProps {
  title: string
  /** The tab's title, if it differs. */
  tab?: string
  children?: ComponentChildren
}

/** The address whose heading has had the focus. */
let begun: string | undefined

/** The heading of a page and its actions; the tab's title also counts waiting approvals. The focus starts here, for screen readers. */
export function PageHead({ title, tab = title, children }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // Runs as the page appears, and once an address: later, it would take the focus from a user who already types.
  useLayoutEffect(() => {
    if (begun === location.pathname && document.activeElement !== document.body) return
    begun = location.pathname
    heading.current?.focus({ preventScroll: true })
  }, [title])
  const waiting = useWaiting()
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${tab} · gate-sidecar`
  }, [tab, waiting])
  return (
    <div class="row between page-head">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children && <div class="row">{children}</div>}
    </div>
  )
}
