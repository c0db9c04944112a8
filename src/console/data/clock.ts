import { useEffect, useRef, useState } from 'preact/hooks'

/** Offset of the service's clock from this one, which may be wrong. Deadlines follow the service. */
let aheadMs = 0
/** Error of the Date header, which counts whole seconds, plus the response's transit time. */
const EXACT_MS = 2000
const SECOND_MS = 1000

/** @param date header of a response, RFC 9110, 6.6.1 */
export function noteServerTime(date: string | null): void {
  const differenceMs = date === null ? Number.NaN : Date.parse(date) - Date.now()
  if (!Number.isNaN(differenceMs)) aheadMs = Math.abs(differenceMs) > EXACT_MS ? differenceMs : 0
}

/** Milliseconds since 1970, by the clock of the service. */
export function serverNow(): number {
  return Date.now() + aheadMs
}

/** A moment by both clocks of the machine. */
export interface Moment {
  dateMs: number
  uptimeMs: number
}

export function momentNow(): Moment {
  return { dateMs: Date.now(), uptimeMs: performance.now() }
}

/**
 * Milliseconds since then, by the clock that counts more: the uptime of a browser stands still while the machine sleeps,
 * and the time of day can be set back.
 */
export function ageOf({ dateMs, uptimeMs }: Moment): number {
  return Math.max(Date.now() - dateMs, performance.now() - uptimeMs)
}

/** The current time, updated each second. All its users change at once. */
export function useNow(): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), SECOND_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** Delay after a time, so that the service has reached it too; and the longest timer of browsers. */
const AFTER_MS = 500
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Calls `act` when the service's clock has reached the time, soon if that is past; never for undefined.
 *
 * @param known the loaded data; newer data with the same time schedules `act` again
 */
export function useAt(timeMs: number | undefined, known: unknown, act: () => void): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    if (timeMs === undefined) return
    const waitMs = Math.max(timeMs - serverNow(), 0) + AFTER_MS
    // Later times are checked when the page is opened again.
    if (waitMs > LONGEST_TIMER_MS) return
    const timer = setTimeout(() => latest.current(), waitMs)
    return () => clearTimeout(timer)
  }, [timeMs, known])
}
