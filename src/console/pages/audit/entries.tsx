import { useEffect, useRef, useState } from 'preact/hooks'
import { type AuditEntry, EVENTS } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { localOf, utcOf, zoneName } from '../../ui/local-time.ts'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Entry } from './entry.tsx'

const PORTION = 50
/** Pattern of valid event types. */
const TYPE = /^\w[\w.:/-]{0,127}$/
/** Pattern of places in a trail. */
const PLACE = /^(?:aud_[0-9a-z]{26}|[\w~/-]{1,80}:\d{1,15})$/

/** Filters of entries, as the address holds them. */
interface EntryFilters {
  eventType: string
  /** UTC, in the format of the service. */
  from: string
  to: string
  /** Place before which entries are listed. */
  before: string
}

function entryFiltersOf(query: URLSearchParams): EntryFilters {
  const text = (name: keyof EntryFilters): string => query.get(name) ?? ''
  const eventType = TYPE.test(text('eventType')) ? text('eventType') : ''
  const before = PLACE.test(text('before')) ? text('before') : ''
  return { eventType, from: text('from'), to: text('to'), before }
}

export function Entries({ newestId }: { newestId: string | undefined }) {
  const { query } = usePlace()
  const filters = entryFiltersOf(query)
  const { entries, isMore, isLoading, error, more, restart } = useEntries(filters)
  // Newer entries than the first one listed are announced, so that the text being read does not move.
  const top = entries[0]?.id
  const isNewer = !isFiltered(filters) && newestId !== undefined && top !== undefined && newestId !== top
  return (
    <section class="stack" aria-labelledby="entries">
      <h2 id="entries">Entries</h2>
      <EntryFilterBar filters={filters} seen={entries} />
      <div role="status">
        {isNewer && <Button text="Newer entries have been written — show" look="newer" onClick={restart} />}
      </div>
      {entries.length > 0 && (
        <ol class="box entries">
          {entries.map((entry) => (
            <li key={entry.id}>
              <Entry of={entry} />
            </li>
          ))}
        </ol>
      )}
      {error ? (
        <Failure error={error} retry={more} />
      ) : isLoading ? (
        <Loading what="entries" />
      ) : entries.length === 0 ? (
        <Empty title="No entries match.">
          {isFiltered(filters) ? <ClearFilters /> : 'Every decision, vote, stop and change is recorded here.'}
        </Empty>
      ) : (
        <div class="row between searching">
          <span class="muted" role="status">
            {`${entries.length.toLocaleString()} ${entries.length === 1 ? 'entry' : 'entries'}${isMore ? '' : ', all there are'}.`}
          </span>
          {isMore && <Button text="Load older" onClick={more} />}
        </div>
      )}
    </section>
  )
}

function EntryFilterBar({ filters, seen }: { filters: EntryFilters; seen: readonly AuditEntry[] }) {
  const { eventType, from, to } = filters
  const change = (changed: Partial<EntryFilters>): void =>
    go(addressOf(['audit'], { ...filters, ...changed }), 'replace')
  const zone = zoneName()
  // Callers define types of their own; those seen once are offered from then on.
  const own = useRef(new Set<string>())
  for (const type of [...seen.map((entry) => entry.eventType), eventType])
    if (type !== '' && !Object.hasOwn(EVENTS, type)) own.current.add(type)
  const types = [...Object.keys(EVENTS), ...[...own.current].sort()]
  return (
    <search class="toolbar">
      <Choice
        label="Type"
        value={eventType}
        options={[['', 'Any'], ...types.map((type) => [type, type] as const)]}
        onValue={(type) => change({ eventType: type })}
      />
      <TextField
        label={`From (${zone})`}
        type="datetime-local"
        value={localOf(from)}
        onValue={(local) => change({ from: utcOf(local) })}
      />
      <TextField
        label={`Before (${zone})`}
        type="datetime-local"
        value={localOf(to)}
        onValue={(local) => change({ to: utcOf(local) })}
      />
      {isFiltered(filters) && <ClearFilters />}
    </search>
  )
}

function isFiltered(filters: EntryFilters): boolean {
  return Object.values(filters).some((value) => value !== '')
}

function ClearFilters() {
  return <Button text="Clear filters" look="quiet" onClick={() => go(addressOf(['audit']))} />
}

interface Listed {
  entries: readonly AuditEntry[]
  isMore: boolean
  isLoading: boolean
  error: GateError | undefined
}

const NOTHING: Listed = { entries: [], isMore: false, isLoading: true, error: undefined }

/** Entries, newest first, each page before the last entry of the other, so that concurrent writes cause no duplicates. */
function useEntries(filters: EntryFilters) {
  const { gate } = useConsole()
  const [listed, setListed] = useState(NOTHING)
  const control = useRef<AbortController | undefined>(undefined)
  const key = JSON.stringify(filters)

  const load = async (behind: readonly AuditEntry[]): Promise<void> => {
    control.current?.abort()
    control.current = new AbortController()
    const { signal } = control.current
    setListed((last) => ({ ...last, entries: behind, isLoading: true, error: undefined }))
    const last = behind.at(-1)?.id ?? (filters.before === '' ? undefined : filters.before)
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
