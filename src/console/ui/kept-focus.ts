import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Time for the page to move the focus to a better place. */
const PATIENCE_MS = 100
const HEADINGS = 'h1, h2, h3'

/** The focused element, and its ancestors from the inside out. */
interface Focused {
  element: HTMLElement
  around: readonly Element[]
}

/**
 * Keeps the focus when its control disappears: it returns to one that was disabled for a while,
 * else it moves to the heading of the surrounding part. Otherwise the keyboard would start at the top of the page,
 * and a screen reader would say nothing.
 *
 * @returns a ref for the element to watch
 */
export function useKeptFocus(): RefObject<HTMLElement | null> {
  const place = useRef<HTMLElement>(null)
  useEffect(() => {
    const root = place.current
    if (root === null) return
    let last: Focused | undefined
    const onFocusIn = ({ target }: FocusEvent): void => {
      last = target instanceof HTMLElement ? { element: target, around: aroundOf(target, root) } : undefined
    }
    // A user who leaves a control loses nothing; a removed or disabled control shows as such once the change is done.
    const onFocusOut = ({ target }: FocusEvent): void =>
      queueMicrotask(() => {
        if (last?.element === target && isUsable(last.element)) last = undefined
      })
    const restoreFocus = (): void => {
      if (last === undefined || document.activeElement !== document.body) return
      const { element, around } = last
      if (isUsable(element)) element.focus({ preventScroll: true })
      else if (!element.isConnected) focusOnHeading(around.find(hasHeading) ?? root)
    }
    const observer = new MutationObserver(() => {
      if (document.activeElement === document.body && last !== undefined) setTimeout(restoreFocus, PATIENCE_MS)
    })
    observer.observe(root, { childList: true, subtree: true, attributeFilter: ['disabled'] })
    root.addEventListener('focusin', onFocusIn)
    root.addEventListener('focusout', onFocusOut)
    return () => {
      observer.disconnect()
      root.removeEventListener('focusin', onFocusIn)
      root.removeEventListener('focusout', onFocusOut)
    }
  }, [])
  return place
}

function isUsable(element: Element): boolean {
  return element.isConnected && !element.matches(':disabled')
}

/** The element's ancestors, up to the root. */
function aroundOf(element: Element, root: Element): Element[] {
  const around: Element[] = []
  for (let each = element.parentElement; each !== null && each !== root; each = each.parentElement) around.push(each)
  return around
}

function hasHeading(element: Element): boolean {
  return element.isConnected && element.querySelector(HEADINGS) !== null
}

function focusOnHeading(part: Element): void {
  const heading = part.querySelector<HTMLElement>(HEADINGS)
  if (heading === null) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}
