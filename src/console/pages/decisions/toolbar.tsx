import { useState } from 'preact/hooks'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf, go } from '../../data/place.ts'
import { Choice, TextField } from '../../ui/field.tsx'
import { localOf, utcOf } from '../../ui/local-time.ts'
import { countOf, DECISIONS, type Filters, pathOfId } from './filters.ts'

interface ToolbarProps {
  filters: Filters
  onFilters: (filters: Filters) => void
  /** Of the search: it says which filter cannot be used. */
  error: GateError | undefined
}

/** What is looked for. An id in the first field leads to what it names. */
export function Toolbar({ filters, onFilters, error }: ToolbarProps) {
  const [isWide, setIsWide] = useState(filters.session + filters.from + filters.to !== '')
  const change = (changed: Partial<Filters>): void => onFilters({ ...filters, ...changed })
  const faultOf = (name: keyof Filters): string | undefined =>
    error?.details.find(({ path }) => path === `/${name}`)?.message
  return (
    <search class="toolbar decision-filters">
      <SearchField value={filters.action} onValue={(action) => change({ action })} fault={faultOf('action')} />
      <Choice
        label="Decision"
        value={filters.decision}
        options={DECISIONS}
        onValue={(decision) => change({ decision })}
      />
      <TextField label="Agent" value={filters.agent} onValue={(agent) => change({ agent })} fault={faultOf('agent')} />
      <TextField label="Rule" value={filters.rule} onValue={(rule) => change({ rule })} fault={faultOf('rule')} />
      <TextField
        label="Risk from"
        type="number"
        placeholder="0 to 100"
        value={filters.minRisk}
        onValue={(minRisk) => change({ minRisk })}
        fault={faultOf('minRisk')}
      />
      {isWide && <MoreFilters {...{ filters, change, faultOf }} />}
      <div class="row">
        {!isWide && (
          <button type="button" class="button quiet" aria-expanded={false} onClick={() => setIsWide(true)}>
            More filters
          </button>
        )}
        {countOf(filters) > 0 && (
          <button type="button" class="button quiet" onClick={() => go(addressOf(['decisions']))}>
            Clear filters
          </button>
        )}
      </div>
    </search>
  )
}

interface MoreProps {
  filters: Filters
  change: (changed: Partial<Filters>) => void
  faultOf: (name: keyof Filters) => string | undefined
}

function MoreFilters({ filters, change, faultOf }: MoreProps) {
  return (
    <>
      <TextField
        label="Session"
        value={filters.session}
        onValue={(session) => change({ session })}
        fault={faultOf('session')}
      />
      <TextField
        label="From"
        type="datetime-local"
        value={localOf(filters.from)}
        onValue={(from) => change({ from: utcOf(from) })}
        fault={faultOf('from')}
      />
      <TextField
        label="Before"
        type="datetime-local"
        value={localOf(filters.to)}
        onValue={(to) => change({ to: utcOf(to) })}
        fault={faultOf('to')}
      />
    </>
  )
}

interface SearchFieldProps {
  value: string
  onValue: (value: string) => void
  fault: string | undefined
}

function SearchField({ value, onValue, fault }: SearchFieldProps) {
  const { may } = useConsole()
  const [refused, setRefused] = useState<string | undefined>()
  const search = (text: string): void => {
    const path = pathOfId(text)
    const isHidden = path?.[0] === 'approvals' && !may('getApproval')
    setRefused(isHidden ? 'Your key may not see approvals. Their decisions have them in the timeline.' : undefined)
    if (isHidden) return
    if (path === undefined) onValue(text)
    else go(addressOf(path))
  }
  return (
    <TextField
      label="Action or id"
      type="search"
      placeholder="payment.* or dec_…"
      value={value}
      onValue={search}
      fault={refused ?? fault}
      maxLength={128}
    />
  )
}
