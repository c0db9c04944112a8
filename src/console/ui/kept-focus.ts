import { useEffect } from 'preact/hooks'

/** What had the focus, and what was around it, from the inside. */
interface Focused {
  element: Element
  around: readonly HTMLElement[]
}

/**
 * While a page is shown, the focus is not lost with the control that had it: it stays at its place, with what is left around it, and
 * comes back to a control that was disabled only for a while. A screen reader would begin again at the top of the page otherwise.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    const main = document.querySelector('main')
    if (main === null) return
    let last: Focused | undefined
    const come = ({ target }: FocusEvent): void => {
      if (target instanceof Element) last = { element: target, around: aroundOf(target, main) }
    }
    const leave = ({ target, relatedTarget }: FocusEvent): void => {
      if (relatedTarget !== null) return
      // Somebody left it, unless it is gone or disabled when all that goes on now is done.
      queueMicrotask(() => {
        if (last?.element === target && isUsable(last.element)) last = undefined
      })
    }
    const keep = (): void => {
      if (last === undefined || document.activeElement !== document.body) return
      const { element, around } = last
      if (!element.isConnected) focusOn(around.find((each) => each.isConnected) ?? main.querySelector('h1'))
      else if (isUsable(element) && element instanceof HTMLElement) element.focus({ preventScroll: true })
    }
    const observer = new MutationObserver(keep)
    observer.observe(main, { childList: true, subtree: true, attributeFilter: ['disabled'] })
    main.addEventListener('focusin', come)
    main.addEventListener('focusout', leave)
    return () => {
      observer.disconnect()
      main.removeEventListener('focusin', come)
      main.removeEventListener('focusout', leave)
    }
  }, [])
}

function isUsable(element: Element): boolean {
  return element.isConnected && !element.matches(':disabled')
}

function aroundOf(element: Element, main: Element): HTMLElement[] {
  const around: HTMLElement[] = []
  for (let each = element.parentElement; each !== null && each !== main; each = each.parentElement) around.push(each)
  return around
}

/** What does not take the focus takes it this once. */
function focusOn(place: HTMLElement | null): void {
  if (place === null) return
  if (!place.hasAttribute('tabindex')) {
    place.tabIndex = -1
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true })
  }
  place.focus({ preventScroll: true })
}
