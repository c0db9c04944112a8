import { serverNow } from '../../data/clock.ts'
import { zoneName } from '../../ui/local-time.ts'
import { Segments } from '../../ui/segments.tsx'
import type { Filters } from './filters.ts'

/** Starts of ranges, in days from today: from included, to excluded. */
const SHORTCUTS = [
  { name: 'Today', first: 0, end: undefined },
  { name: 'Yesterday', first: -1, end: 0 },
  { name: 'Last 7 days', first: -6, end: undefined },
] as const

interface TimeShortcutsProps {
  filters: Pick<Filters, 'from' | 'to'>
  change: (changed: Pick<Filters, 'from' | 'to'>) => void
}

/** Frequent ranges of days in the viewer's zone. A second click on the chosen one clears it. */
export function TimeShortcuts({ filters, change }: TimeShortcutsProps) {
  return (
    <Segments
      legend="Days"
      title={`Days of the zone ${zoneName()}`}
      options={SHORTCUTS.map(({ name, first, end }) => {
        const from = beginningOf(first)
        const to = end === undefined ? '' : beginningOf(end)
        const isChosen = filters.from === from && filters.to === to
        return { name, isChosen, onChoose: () => change(isChosen ? { from: '', to: '' } : { from, to }) }
      })}
    />
  )
}

/** UTC. @param days from today */
function beginningOf(days: number): string {
  const at = new Date(serverNow())
  at.setHours(0, 0, 0, 0)
  at.setDate(at.getDate() + days)
  return at.toISOString()
}
