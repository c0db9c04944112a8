import { useContext, useEffect, useRef } from 'preact/hooks'
import type { KillSwitchStatus } from '../../client/api.ts'
import type { Connection } from '../../client/connection.ts'
import { ageOf, momentNow } from './clock.ts'
import { LiveContext, SILENT_MS, useChanges } from './live.ts'
import { type Loaded, useLoad } from './load.ts'

/** The stops as last reported by the service; without data for roles without access. */
export interface Stops extends Loaded<KillSwitchStatus | undefined> {
  /** True if the service reported them within two heartbeats; others may be in force by now. */
  isReported: boolean
  /**
   * True if they are in force now, and no others: the service is heard, it reported them within two heartbeats, and nothing
   * has changed since.
   */
  isKnown: boolean
  /** True while that is looked up: at first, and after a change. */
  isLooking: boolean
}

/** Poll interval, with time for an answer within two heartbeats. A stop that could not be written has no event. */
const POLL_MS = 10_000
const TIMEOUT_MS = 15_000

export function useStops(connection: Connection, isWanted: boolean): Stops {
  const { isLive } = useContext(LiveContext)
  const changes = useRef(0)
  const loaded = useLoad(
    async (signal) => {
      const asOf = { moment: momentNow(), changes: changes.current }
      if (!isWanted) return { status: undefined, asOf }
      const { data } = await connection.call('killSwitchStatus', {}, { signal, timeout: TIMEOUT_MS })
      return { status: data, asOf }
    },
    [isWanted],
  )
  const { data, error, reload, poll } = loaded
  useChanges(['killswitch'], () => {
    changes.current += 1
    reload()
  })
  useEffect(() => {
    const timer = setInterval(poll, POLL_MS)
    document.addEventListener('visibilitychange', poll)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', poll)
    }
  }, [])
  const { status, asOf } = data ?? {}
  const isRecent = asOf !== undefined && ageOf(asOf.moment) < SILENT_MS
  const isReported = error === undefined && isRecent && status !== undefined
  const isKnown = isLive && isReported && asOf.changes === changes.current
  return {
    ...loaded,
    data: status,
    replace: (told) => loaded.replace({ status: told, asOf: { moment: momentNow(), changes: changes.current } }),
    isReported,
    isKnown,
    isLooking: isLive && error === undefined && !isKnown && loaded.isLoading,
  }
}
