import { Choice, TextField } from '../../ui/field.tsx'
import { localOf, utcOf, zoneName } from '../../ui/local-time.ts'
import { type Filters, SHADOW_CHOICES, STEP_CHOICES } from './filters.ts'

interface MoreFiltersProps {
  filters: Filters
  change: (changed: Partial<Filters>) => void
  faultOf: (name: keyof Filters) => string | undefined
  /** Just opened by the user: the first field takes the focus. */
  isOpened: boolean
}

/** Rarely used filters. */
export function MoreFilters({ filters, change, faultOf, isOpened }: MoreFiltersProps) {
  const zone = zoneName()
  return (
    <>
      <TextField
        label={`From (${zone})`}
        type="datetime-local"
        value={localOf(filters.from)}
        onValue={(from) => change({ from: utcOf(from) })}
        fault={faultOf('from')}
        isFirst={isOpened}
      />
      <TextField
        label={`Before (${zone})`}
        type="datetime-local"
        value={localOf(filters.to)}
        onValue={(to) => change({ to: utcOf(to) })}
        fault={faultOf('to')}
      />
      <TextField
        label="Session"
        value={filters.session}
        onValue={(session) => change({ session })}
        fault={faultOf('session')}
      />
      <Choice
        label="Decided by"
        value={filters.decidedBy}
        options={STEP_CHOICES}
        onValue={(decidedBy) => change({ decidedBy })}
      />
      <Choice
        label="Set in shadow"
        value={filters.shadow}
        options={SHADOW_CHOICES}
        onValue={(shadow) => change({ shadow })}
      />
      <Choice label="Names match" value={filters.whole} options={WHOLE} onValue={(whole) => change({ whole })} />
    </>
  )
}

const WHOLE = [
  ['', 'In part'],
  ['yes', 'Exactly'],
] as const
