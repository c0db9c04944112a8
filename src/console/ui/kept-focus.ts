import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** So long the page has to give the focus a better place. */
const PATIENCE_MS = 100

/**
 * Where a thing that has the focus is taken away, the heading of the part that it was in gets the focus: else a keyboard would
 * begin at the top of the page again, and a screen reader would say nothing.
 *
 * @returns for the element within which it is so
 */
export function useKeptFocus<T extends HTMLElement>(): RefObject<T | null> {
  const place = useRef<T>(null)
  useEffect(() => {
    const root = place.current
    if (root === null) return
    let around: readonly Element[] = []
    const remember = ({ target }: FocusEvent): void => {
      around = target instanceof Element ? ancestorsOf(target, root) : []
    }
    // Whoever leaves it by themselves has lost nothing.
    const forget = ({ target }: FocusEvent): void =>
      queueMicrotask(() => {
        if (target instanceof Element && target.isConnected && target === around[0]) around = []
      })
    const give = (): void => {
      if (document.activeElement !== document.body || around[0]?.isConnected !== false) return
      const part = around.find((element) => element.isConnected && element.querySelector(HEADINGS) !== null)
      around = []
      focusOn((part ?? document).querySelector<HTMLElement>(HEADINGS))
    }
    const observer = new MutationObserver(() => {
      if (around[0]?.isConnected === false) setTimeout(give, PATIENCE_MS)
    })
    observer.observe(root, { childList: true, subtree: true })
    root.addEventListener('focusin', remember)
    root.addEventListener('focusout', forget)
    return () => {
      observer.disconnect()
      root.removeEventListener('focusin', remember)
      root.removeEventListener('focusout', forget)
    }
  }, [])
  return place
}

const HEADINGS = 'h1, h2, h3'

/** The element itself, then what it is in, up to the root. */
function ancestorsOf(element: Element, root: Element): Element[] {
  const all: Element[] = []
  for (let each: Element | null = element; each !== null; each = each.parentElement) {
    all.push(each)
    if (each === root) break
  }
  return all
}

function focusOn(heading: HTMLElement | null): void {
  if (heading === null) return
  heading.tabIndex = -1
  heading.focus()
}
