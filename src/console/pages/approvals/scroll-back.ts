import { useLayoutEffect, useRef } from 'preact/hooks'

/** The scroll position of the list when an approval was opened on its own page. */
interface ScrollPosition {
  scrollY: number
  /** The opened row, and its distance from the top of the screen. */
  id: string | undefined
  top: number | undefined
}

/** Frames until each row has its own height: rows off the screen have an estimated one. */
const FRAMES = 4

/** Scrolls to the top for an approval opened in place of the list, and restores the position on return. */
export function useScrollBack(isAlone: boolean, openId: string | undefined): void {
  const wasAlone = useRef(isAlone)
  const place = useRef<ScrollPosition>({ scrollY: 0, id: undefined, top: undefined })
  // Saved before the list disappears.
  if (isAlone && !wasAlone.current) place.current = { scrollY, id: openId, top: topOf(openId) }
  useLayoutEffect(() => {
    if (wasAlone.current === isAlone) return
    wasAlone.current = isAlone
    if (isAlone) return scrollTo(0, 0)
    const { scrollY: before, id, top } = place.current
    const restore = (): void => {
      const now = topOf(id)
      scrollTo(0, now === undefined || top === undefined ? before : scrollY + now - top)
    }
    let left = FRAMES
    let frame = 0
    const settle = (): void => {
      restore()
      left -= 1
      if (left > 0) frame = requestAnimationFrame(settle)
    }
    settle()
    return () => cancelAnimationFrame(frame)
  }, [isAlone])
}

function topOf(id: string | undefined): number | undefined {
  return id === undefined
    ? undefined
    : document.querySelector(`.inbox-row[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect().top
}
