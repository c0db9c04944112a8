import { useRef } from 'preact/hooks'
import { type AuditEntry, EVENTS } from '../../../client/api.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { localOf, utcOf, zoneName } from '../../ui/local-time.ts'
import { Empty, Failure, Loading } from '../../ui/states.tsx'
import { Entry } from './entry.tsx'
import type { Newest } from './newest.ts'
import { type EntryFilters, entryFiltersOf, useEntries } from './use-entries.ts'

/** The entries, newest first. */
export function Entries({ newest }: { newest: Newest | undefined }) {
  const { query } = usePlace()
  const filters = entryFiltersOf(query)
  const { entries, isMore, isLoading, error, more, restart } = useEntries(filters)
  // Newer entries than the first one listed are announced, so that the text being read does not move.
  const top = entries[0]?.seq
  const isNewer = filters.before === '' && newest?.entry !== undefined && top !== undefined && newest.entry.seq > top
  const change = (changed: Partial<EntryFilters>): void =>
    go(addressOf(['audit'], { ...filters, ...changed }), 'replace')
  return (
    <section class="stack" aria-labelledby="entries">
      <h2 id="entries">Entries</h2>
      <EntryFilterBar filters={filters} change={change} seen={entries} />
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
        <Empty title="No entry fits.">
          {isFiltered(filters) ? (
            <ClearFilters />
          ) : (
            'Everything that is decided, voted on, stopped and managed is written here.'
          )}
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

interface FilterBarProps {
  filters: EntryFilters
  change: (changed: Partial<EntryFilters>) => void
  seen: readonly AuditEntry[]
}

function EntryFilterBar({ filters, change, seen }: FilterBarProps) {
  const { eventType, from, to } = filters
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
