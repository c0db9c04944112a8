import { useEffect, useRef, useState } from 'preact/hooks'
import type { AuditEntry } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'

const PORTION = 50
/** Pattern of valid event types. */
const TYPE = /^\w[\w.:/-]{0,127}$/

/** Filters of entries, as the address holds them. */
export interface EntryFilters {
  eventType: string
  /** UTC, in the format of the service. */
  from: string
  to: string
  /** Upper bound of seq, excluded. */
  before: string
}

export function entryFiltersOf(query: URLSearchParams): EntryFilters {
  const text = (name: keyof EntryFilters): string => query.get(name) ?? ''
  const eventType = TYPE.test(text('eventType')) ? text('eventType') : ''
  const before = /^\d{1,15}$/.test(text('before')) ? text('before') : ''
  return { eventType, from: text('from'), to: text('to'), before }
}

interface Listed {
  entries: readonly AuditEntry[]
  isMore: boolean
  isLoading: boolean
  error: GateError | undefined
}

const NOTHING: Listed = { entries: [], isMore: false, isLoading: true, error: undefined }

/** Entries, newest first, in pages by seq, so that concurrent writes cause no duplicates. */
export function useEntries(filters: EntryFilters) {
  const { gate } = useConsole()
  const [listed, setListed] = useState(NOTHING)
  const control = useRef<AbortController | undefined>(undefined)
  const key = JSON.stringify(filters)

  const load = async (behind: readonly AuditEntry[]): Promise<void> => {
    control.current?.abort()
    control.current = new AbortController()
    const { signal } = control.current
    setListed((last) => ({ ...last, entries: behind, isLoading: true, error: undefined }))
    const last = behind.at(-1)?.seq ?? (filters.before === '' ? undefined : Number(filters.before))
    const set = Object.entries({ ...filters, before: '' }).filter(([, value]) => value !== '')
    try {
      const { data, page } = await gate.audit.chain(
        { ...Object.fromEntries(set), limit: PORTION, ...(last !== undefined && { before: last }) },
        { signal },
      )
      const isMore = page.total > data.length
      if (!signal.aborted) setListed({ entries: [...behind, ...data], isMore, isLoading: false, error: undefined })
    } catch (error) {
      if (!signal.aborted) setListed((was) => ({ ...was, isLoading: false, error: failure(error) }))
    }
  }
  useEffect(() => {
    void load([])
    return () => control.current?.abort()
  }, [key])
  return { ...listed, more: () => void load(listed.entries), restart: () => void load([]) }
}
