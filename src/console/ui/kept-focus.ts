import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** So long the page has to give the focus a better place. */
const PATIENCE_MS = 100
const HEADINGS = 'h1, h2, h3'

/** What had the focus, and what it was in, from the inside. */
interface Focused {
  element: HTMLElement
  around: readonly Element[]
}

/**
 * The focus is not lost with the control that had it: it comes back to one that was disabled for a while, and goes to the heading
 * of the part that it was in where the control is gone. A keyboard would begin at the top of the page again otherwise, and a
 * screen reader would say nothing.
 *
 * @returns for the element within which it is so
 */
export function useKeptFocus(): RefObject<HTMLElement | null> {
  const place = useRef<HTMLElement>(null)
  useEffect(() => {
    const root = place.current
    if (root === null) return
    let last: Focused | undefined
    const come = ({ target }: FocusEvent): void => {
      last = target instanceof HTMLElement ? { element: target, around: aroundOf(target, root) } : undefined
    }
    // Who leaves a control by themselves has lost nothing; what a change takes away is gone, or disabled, when that is done.
    const leave = ({ target }: FocusEvent): void =>
      queueMicrotask(() => {
        if (last?.element === target && isUsable(last.element)) last = undefined
      })
    const giveBack = (): void => {
      if (last === undefined || document.activeElement !== document.body) return
      const { element, around } = last
      if (isUsable(element)) element.focus({ preventScroll: true })
      else if (!element.isConnected) focusOnHeading(around.find(hasHeading) ?? root)
    }
    const observer = new MutationObserver(() => {
      if (document.activeElement === document.body && last !== undefined) setTimeout(giveBack, PATIENCE_MS)
    })
    observer.observe(root, { childList: true, subtree: true, attributeFilter: ['disabled'] })
    root.addEventListener('focusin', come)
    root.addEventListener('focusout', leave)
    return () => {
      observer.disconnect()
      root.removeEventListener('focusin', come)
      root.removeEventListener('focusout', leave)
    }
  }, [])
  return place
}

function isUsable(element: Element): boolean {
  return element.isConnected && !element.matches(':disabled')
}

/** What the element is in, up to the root. */
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
