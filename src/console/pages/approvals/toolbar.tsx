import { AGENT } from '../../ui/decision-words.ts'
import { Choice, TextField } from '../../ui/field.tsx'
import { countOf, type Filters, ORDERS, RISKS, STATUSES } from './filters.ts'

interface ToolbarProps {
  filters: Filters
  onFilters: (filters: Filters) => void
  /** True if the key can vote, and so can filter for approvals that need its vote. */
  mayVote: boolean
  /** Folds the filters. */
  isNarrow: boolean
}

/** The filters and order of the list. */
export function Toolbar({ filters, onFilters, mayVote, isNarrow }: ToolbarProps) {
  const set = (changed: Partial<Filters>): void => onFilters({ ...filters, ...changed })
  const search = (
    <TextField
      label="Search"
      type="search"
      placeholder="Action, agent, rule, reason"
      value={filters.text}
      onValue={(text) => set({ text })}
      maxLength={200}
    />
  )
  const rest = <More {...{ filters, set, mayVote }} />
  if (!isNarrow)
    return (
      <search class="toolbar inbox-toolbar" aria-label="Approvals">
        {search}
        {rest}
      </search>
    )
  const count = countOf({ ...filters, text: '' })
  return (
    <search class="inbox-toolbar" aria-label="Approvals">
      {search}
      <details>
        <summary>Filters and order{count > 0 && ` (${count})`}</summary>
        <div class="toolbar">{rest}</div>
      </details>
    </search>
  )
}

interface MoreProps extends Pick<ToolbarProps, 'filters' | 'mayVote'> {
  set: (changed: Partial<Filters>) => void
}

function More({ filters, set, mayVote }: MoreProps) {
  const { agent, action, risk, mine, status, order } = filters
  return (
    <>
      <TextField label={AGENT} value={agent} onValue={(text) => set({ agent: text })} maxLength={256} />
      <TextField
        label="Action begins with"
        value={action}
        onValue={(text) => set({ action: text })}
        maxLength={128}
        isMono
      />
      <Choice label="Risk" value={risk} options={RISKS} onValue={(value) => set({ risk: value })} />
      <Choice label="Status" value={status} options={STATUSES} onValue={(value) => set({ status: value })} />
      <Choice label="Order" value={order} options={ORDERS} onValue={(value) => set({ order: value })} />
      {mayVote && status === 'pending' && (
        <label class="inbox-check">
          <input
            type="checkbox"
            checked={mine === 'yes'}
            onChange={(event) => set({ mine: event.currentTarget.checked ? 'yes' : '' })}
          />
          Needs my vote
        </label>
      )}
    </>
  )
}
