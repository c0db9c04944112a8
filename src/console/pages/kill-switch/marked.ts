import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { usePlace } from '../../data/place.ts'

/** Where the red button of the header leads, below the page; any other segment is the id of a stop. */
export const STOP = 'stop'

/** The id of the stop that the address names. */
export function useMarked(): string | undefined {
  const segment = usePlace().path[1]
  return segment === STOP ? undefined : segment
}

/**
 * Goes to the marked stop once it is there, and once for each time that the address names another one.
 *
 * @returns for the element within which it is the one with `aria-current`
 */
export function useArrival<T extends HTMLElement>(marked: string | undefined, isThere: boolean): RefObject<T | null> {
  const place = useRef<T>(null)
  const arrived = useRef<string>(undefined)
  useEffect(() => {
    if (marked !== arrived.current) arrived.current = undefined
    if (marked === undefined || !isThere || arrived.current === marked) return
    arrived.current = marked
    // Who does something else by now is not led away from it.
    const { activeElement } = document
    if (activeElement !== document.body && activeElement?.matches('h1, main, .stop-link') !== true) return
    const stop = place.current?.querySelector<HTMLElement>('[aria-current]')
    stop?.scrollIntoView({ block: 'center' })
    stop?.focus({ preventScroll: true })
  }, [marked, isThere])
  return place
}
