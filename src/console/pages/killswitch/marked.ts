import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { usePlace } from '../../data/place.ts'

/** Segment that the header's red button leads to; any other segment is the id of a stop. */
export const STOP = 'stop'

export function useMarked(): string | undefined {
  const segment = usePlace().path[1]
  return segment === STOP ? undefined : segment
}

/**
 * Scrolls to the marked stop when it appears, once for each new address.
 *
 * @returns a ref for the element that contains it, with `aria-current`
 */
export function useArrival<T extends HTMLElement>(marked: string | undefined, isThere: boolean): RefObject<T | null> {
  const place = useRef<T>(null)
  const arrived = useRef<string>(undefined)
  useEffect(() => {
    if (marked !== arrived.current) arrived.current = undefined
    if (marked === undefined || !isThere || arrived.current === marked) return
    arrived.current = marked
    // A user who has moved on to something else stays there.
    const { activeElement } = document
    if (activeElement !== document.body && activeElement?.matches('h1, main, .stop-link') !== true) return
    const stop = place.current?.querySelector<HTMLElement>('[aria-current]')
    stop?.scrollIntoView({ block: 'center' })
    stop?.focus({ preventScroll: true })
  }, [marked, isThere])
  return place
}
