import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { DecisionList, ListedDecision } from '../../../client/api.ts'
import type { Endpoints } from '../../../client/endpoints.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { type Filters, queryOf } from './filters.ts'

/** So many are found before somebody asks for more. */
export const SCREENFUL = 50
/** Filters are typed: the service is asked when there is a pause. */
const PAUSE_MS = 250

/** What has been found, and how far back was looked. */
export interface Found extends DecisionList {
  /** Of the filters that it was found by: those in the address may be newer. */
  key: string
  isSearching: boolean
  /** Everything was looked at. */
  isDone: boolean
  error: GateError | undefined
}

const NOTHING = { items: [], next: null, searchedTo: null, isSearching: true, isDone: false, error: undefined }

/** The same for filters that ask the same. */
export function keyOf(filters: Filters): string {
  return JSON.stringify(filters)
}

export interface Search extends Found {
  /** All of it, to be kept. */
  found: Found
  /** On from where it is. */
  goOn: () => void
  stop: () => void
  /** From the newest. */
  restart: () => void
  /** Puts newer ones before what was found. */
  prepend: (newer: readonly ListedDecision[]) => void
}

/**
 * Looks for decisions, newest first: page by page, until there is a screenful, or none is left, or somebody stops it.
 *
 * @param earlier what a search by these filters had found before somebody looked at one of the decisions
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

/** Tells what it has found after each page. */
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
      const page = await gate.decisions.list(query, { signal })
      items = [...items, ...page.items]
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
