import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { DecisionList, ListedDecision } from '../../../client/api.ts'
import type { Endpoints } from '../../../client/endpoints.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { type Filters, queryOf } from './filters.ts'

/** Results per search step, before a click on more. */
const SCREENFUL = 50
/** Pause in typing before the service is asked. */
const PAUSE_MS = 250

/** Results of a search, and how far back it has reached. */
export interface Found extends DecisionList {
  /** Key of the filters of this search: those in the address may be newer. */
  key: string
  isSearching: boolean
  /** True when everything has been searched. */
  isDone: boolean
  error: GateError | undefined
}

const NOTHING = { items: [], next: null, searchedTo: null, isSearching: true, isDone: false, error: undefined }

/** Equal for equivalent filters. */
export function keyOf(filters: Filters): string {
  return JSON.stringify(filters)
}

export interface Search extends Found {
  /** The whole result, to be kept. */
  found: Found
  /** Continues from the current position. */
  goOn: () => void
  stop: () => void
  /** Starts again from the newest. */
  restart: () => void
  /** Inserts newer decisions before the results. */
  prepend: (newer: readonly ListedDecision[]) => void
}

/**
 * Searches decisions, newest first: page by page, until a screenful is found, none is left, or the user stops it.
 *
 * @param earlier results of these filters from before the user opened one of the decisions
 */
export function useSearch(filters: Filters, earlier: Found | undefined): Search {
  const { gate } = useConsole()
  const resumed = useRef(earlier)
  const running = useRef<AbortController | undefined>(undefined)
  const key = keyOf(filters)
  const nothing: Found = { ...NOTHING, key }
  const [found, setFound] = useState(earlier ?? nothing)

  const stop = useCallback(() => {
    running.current?.abort()
    setFound((last) => ({ ...last, isSearching: false }))
  }, [])
  const run = async (from: Found): Promise<void> => {
    running.current?.abort()
    const control = new AbortController()
    running.current = control
    const show = (next: Found): void => {
      if (running.current === control && !control.signal.aborted) setFound(next)
    }
    show({ ...from, isSearching: true, error: undefined })
    await search(gate, filters, from, control.signal, show)
  }
  const restart = (): void => void run(nothing)

  useEffect(() => {
    const from = resumed.current
    resumed.current = undefined
    if (from !== undefined) return from.isSearching ? void run(from) : undefined
    const timer = setTimeout(restart, running.current === undefined ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [key])
  useEffect(() => () => running.current?.abort(), [])

  return {
    ...found,
    found,
    goOn: () => void run(found.key === key ? found : nothing),
    stop,
    restart,
    prepend: (newer) => setFound((last) => ({ ...last, items: [...newer, ...last.items] })),
  }
}

/** Reports its results after each page. */
async function search(
  gate: Endpoints,
  filters: Filters,
  from: Found,
  signal: AbortSignal,
  show: (found: Found) => void,
): Promise<void> {
  const wanted = from.items.length + SCREENFUL
  const { key } = from
  let { items, next, searchedTo } = from
  try {
    do {
      const query = { ...queryOf(filters), limit: wanted - items.length, ...(next !== null && { before: next }) }
      const { data, page } = await gate.decisions.list(query, { signal })
      items = [...items, ...data]
      next = page.next
      searchedTo = page.searchedTo
      const isSearching = next !== null && items.length < wanted
      show({ key, items, next, searchedTo, isSearching, isDone: next === null, error: undefined })
    } while (next !== null && items.length < wanted)
  } catch (error) {
    if (!signal.aborted)
      show({ key, items, next, searchedTo, isSearching: false, isDone: false, error: failure(error) })
  }
}
