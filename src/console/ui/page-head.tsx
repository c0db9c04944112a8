import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useWaiting } from '../data/pending.ts'

interface PageHeadProps {
  title: string
  /** What is shown of it in the title of the tab, where that differs. */
  tab?: string
  children?: ComponentChildren
}

/** Heading of a page, beside it what can be done there; in the title of the tab also how many approvals wait. The focus begins here, so that a screen reader says where one has come. */
export function PageHead({ title, tab = title, children }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus({ preventScroll: true }), [title])
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
