import type { ComponentChildren } from 'preact'

interface ScrollProps {
  label: string
  class: string
  children: ComponentChildren
}

/** An area that scrolls within the page, by keyboard too. */
export function Scroll({ label, children, ...rest }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it has nothing that takes the focus, and could not be scrolled without
    <section aria-label={label} tabIndex={0} {...rest}>
      {children}
    </section>
  )
}
