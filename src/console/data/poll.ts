import { useCallback, useEffect, useRef } from 'preact/hooks'
import { useChanges } from './live.ts'

/** How often it is looked anew though no event says so. */
const EVERY_MS = 10_000
/** Events may come by the hundred; what they change is fetched so often at most. */
const AT_MOST_EVERY_MS = 2000

/**
 * Calls `look` every ten seconds and after events of these kinds, as long as the page can be seen, and when it is seen again.
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
