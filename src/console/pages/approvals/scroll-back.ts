import { useLayoutEffect, useRef } from 'preact/hooks'

/** Where the list was on the screen when one was opened on a page of its own. */
interface Left {
  scrollY: number
  /** The row that was opened, and how far it stood below the top of the screen. */
  id: string | undefined
  top: number | undefined
}

/** Rows have a guessed height until they are near the screen: after so many frames each of them has its own. */
const FRAMES = 4

/** An approval that is opened in place of the list begins at its top; back at the list, one is where one was. */
export function useScrollBack(isAlone: boolean, openId: string | undefined): void {
  const wasAlone = useRef(isAlone)
  const place = useRef<Left>({ scrollY: 0, id: undefined, top: undefined })
  // Before the list goes.
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
