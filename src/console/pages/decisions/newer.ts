import { useEffect, useRef, useState } from 'preact/hooks'
import type { DecisionList } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { failure } from '../../data/load.ts'
import { type Filters, queryOf } from './filters.ts'
import type { Search } from './search.ts'

/** What one request gives at most. With more new ones than that, the list begins anew. */
const MOST = 200
const NONE = { items: [], next: null }
/** A busy service decides more often than anybody reads. */
const PAUSE_MS = 2000

/** Decisions that came since the list was read. They are told, not shown, so that what is read does not move. */
export interface Newer {
  count: number
  /** There are more than are counted: between these and the list others may lie. */
  isMore: boolean
  show: () => void
}

/** @param isResumed what is listed was found a while ago */
export function useNewer(filters: Filters, search: Search, isResumed: boolean): Newer {
  const { gate } = useConsole()
  const [newest, setNewest] = useState<Pick<DecisionList, 'items' | 'next'>>(NONE)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const askedMs = useRef(Number.NEGATIVE_INFINITY)
  const key = JSON.stringify(filters)
  const latestKey = useRef(key)
  latestKey.current = key
  const top = search.items[0]?.seq ?? -1

  const ask = async (): Promise<void> => {
    timer.current = undefined
    askedMs.current = performance.now()
    try {
      const found = await gate.decisions.list({ ...queryOf(filters), limit: MOST })
      if (latestKey.current === key) setNewest(found)
    } catch (error) {
      // The list is as good as it was; the next event asks again.
      failure(error)
    }
  }
  useChanges(['gate'], () => {
    const passedMs = performance.now() - askedMs.current
    timer.current ??= setTimeout(() => void ask(), Math.max(0, PAUSE_MS - passedMs))
  })
  useEffect(() => {
    if (isResumed) void ask()
  }, [])
  // What was new for other filters is not for these.
  useEffect(() => {
    setNewest(NONE)
    return () => {
      clearTimeout(timer.current)
      timer.current = undefined
    }
  }, [key])

  const fresh = newest.items.filter(({ seq }) => seq > top)
  const isMore = fresh.length > 0 && newest.next !== null && newest.next > top
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
