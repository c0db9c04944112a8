import { useEffect, useRef, useState } from 'preact/hooks'
import type { DecisionList } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { failure } from '../../data/load.ts'
import { type Filters, queryOf } from './filters.ts'
import type { Search } from './search.ts'

/** Limit of one request. With more new decisions than that, the list starts again. */
const MOST = 200
const NONE = { items: [], next: null }
/** Pause between checks: a busy service decides more often than anybody reads. */
const PAUSE_MS = 2000

/** Decisions made since the list was loaded. They are counted, not shown, so that the text being read does not move. */
export interface Newer {
  count: number
  /** True if there are more than counted: others may lie between these and the list. */
  isMore: boolean
  show: () => void
}

/** @param isResumed true when the list was loaded a while ago */
export function useNewer(filters: Filters, search: Search, isResumed: boolean): Newer {
  const { gate } = useConsole()
  const [newest, setNewest] = useState<Pick<DecisionList, 'items' | 'next'>>(NONE)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const requestedMs = useRef(Number.NEGATIVE_INFINITY)
  const key = JSON.stringify(filters)
  const latestKey = useRef(key)
  latestKey.current = key
  const top = search.items[0]?.id

  const ask = async (): Promise<void> => {
    timer.current = undefined
    requestedMs.current = performance.now()
    try {
      const { data, page } = await gate.decisions.list({ ...queryOf(filters), limit: MOST })
      if (latestKey.current === key) setNewest({ items: data, next: page.next })
    } catch (error) {
      // The list stays valid; the next event checks again.
      failure(error)
    }
  }
  useChanges(['gate'], () => {
    const passedMs = performance.now() - requestedMs.current
    timer.current ??= setTimeout(() => void ask(), Math.max(0, PAUSE_MS - passedMs))
  })
  useEffect(() => {
    if (isResumed) void ask()
  }, [])
  // Results of other filters do not apply.
  useEffect(() => {
    setNewest(NONE)
    return () => {
      clearTimeout(timer.current)
      timer.current = undefined
    }
  }, [key])

  const known = newest.items.findIndex(({ id }) => id === top)
  const fresh = known < 0 ? newest.items : newest.items.slice(0, known)
  const isMore = fresh.length > 0 && known < 0 && newest.next !== null
  return {
    count: fresh.length,
    isMore,
    show: () => {
      setNewest(NONE)
      if (isMore) search.restart()
      else search.prepend(fresh)
    },
  }
}
