import { useEffect, useRef, useState } from 'preact/hooks'

/** How far the clock of the service is ahead of this one. Deadlines are told by that one, and this one may be wrong. */
let aheadMs = 0
/** What the header Date can be off by, since it counts in seconds, and the way of the answer takes time. */
const EXACT_MS = 2000
const SECOND_MS = 1000

/** @param date of an answer, RFC 9110, 6.6.1 */
export function noteServerTime(date: string | null): void {
  const differenceMs = date === null ? Number.NaN : Date.parse(date) - Date.now()
  if (!Number.isNaN(differenceMs)) aheadMs = Math.abs(differenceMs) > EXACT_MS ? differenceMs : 0
}

/** Milliseconds since 1970, by the clock of the service. */
export function serverNow(): number {
  return Date.now() + aheadMs
}

/** The time, anew each second. All that shows it changes at once. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** How long after a time it is acted on, so that the service has reached it too, and how long a timer of a browser can be. */
const AFTER_MS = 500
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Calls `act` when the service's clock has reached the time, soon where that is past; never for undefined.
 *
 * @param known what is known; where the time is still the same in something newer, it is acted on again
 */
export function useAt(timeMs: number | undefined, known: unknown, act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (timeMs === undefined) return
    const waitMs = Math.max(timeMs - serverNow(), 0) + AFTER_MS
    // What is further away is looked at when the page is opened again.
    if (waitMs > LONGEST_TIMER_MS) return
    const timer = setTimeout(() => latest.current(), waitMs)
    return () => clearTimeout(timer)
  }, [timeMs, known])
}
