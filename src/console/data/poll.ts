import { useCallback, useEffect, useRef } from 'preact/hooks'
import { useChanges } from './live.ts'

/** Poll interval, with or without events. */
const EVERY_MS = 10_000
/** Shortest interval between fetches, since events may arrive by the hundred. */
const AT_MOST_EVERY_MS = 2000

/**
 * Calls `look` every ten seconds, after events of these kinds, and when the page becomes visible; never while it is hidden.
 *
 * @param kinds first segments of event types
 */
export function usePoll(kinds: readonly string[], look: () => void): void {
  const latest = useRef(look)
  latest.current = look
  const lastMs = useRef(performance.now())
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const lookNow = useCallback(() => {
    clearTimeout(waiting.current)
    waiting.current = undefined
    if (document.visibilityState !== 'visible') return
    lastMs.current = performance.now()
    latest.current()
  }, [])
  useEffect(() => {
    const timer = setInterval(lookNow, EVERY_MS)
    document.addEventListener('visibilitychange', lookNow)
    return () => {
      clearInterval(timer)
      clearTimeout(waiting.current)
      document.removeEventListener('visibilitychange', lookNow)
    }
  }, [lookNow])
  useChanges(kinds, () => {
    waiting.current ??= setTimeout(lookNow, Math.max(0, lastMs.current + AT_MOST_EVERY_MS - performance.now()))
  })
}
