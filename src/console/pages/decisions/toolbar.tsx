import { useState } from 'preact/hooks'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf, go } from '../../data/place.ts'
import { Button } from '../../ui/button.tsx'
import { AGENT } from '../../ui/decision-words.ts'
import { Choice, TextField } from '../../ui/field.tsx'
import { countOf, DECISION_CHOICES, type Filters, pathOfId } from './filters.ts'
import { MoreFilters } from './more-filters.tsx'
import { TimeShortcuts } from './time-shortcuts.tsx'

interface ToolbarProps {
  filters: Filters
  onFilters: (filters: Filters) => void
  /** Error of the search, which names the invalid filter. */
  error: GateError | undefined
}

/** The filters. An id in the first field opens its record. */
export function Toolbar({ filters, onFilters, error }: ToolbarProps) {
  const { session, decidedBy, whole, from, to } = filters
  const [wide, setWide] = useState<'no' | 'yes' | 'opened'>(
    `${session}${decidedBy}${whole}${from}${to}` === '' ? 'no' : 'yes',
  )
  const change = (changed: Partial<Filters>): void => onFilters({ ...filters, ...changed })
  const faultOf = (name: keyof Filters): string | undefined =>
    error?.details.find(({ path }) => path === `/${name}`)?.message
  return (
    <search class="toolbar decision-filters">
      <SearchField value={filters.action} onValue={(action) => change({ action })} fault={faultOf('action')} />
      <Choice
        label="Decision"
        value={filters.decision}
        options={DECISION_CHOICES}
        onValue={(decision) => change({ decision })}
      />
      <TextField label={AGENT} value={filters.agent} onValue={(agent) => change({ agent })} fault={faultOf('agent')} />
      <TextField label="Rule" value={filters.rule} onValue={(rule) => change({ rule })} fault={faultOf('rule')} />
      <TextField
        label="Risk from"
        type="number"
        placeholder="0 to 100"
        value={filters.minRisk}
        onValue={(minRisk) => change({ minRisk })}
        fault={faultOf('minRisk')}
      />
      {wide !== 'no' && <MoreFilters {...{ filters, change, faultOf }} isOpened={wide === 'opened'} />}
      <div class="row filter-buttons">
        <TimeShortcuts filters={filters} change={change} />
        {wide === 'no' && (
          <Button look="quiet" aria-expanded={false} onClick={() => setWide('opened')}>
            More filters
          </Button>
        )}
        {countOf(filters) > 0 && <ClearFilters />}
      </div>
    </search>
  )
}

export function ClearFilters() {
  return (
    <Button look="quiet" onClick={() => go(addressOf(['decisions']))}>
      Clear filters
    </Button>
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
    setRefused(isHidden ? 'Your key may not see approvals. Their decisions show them in the timeline.' : undefined)
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
