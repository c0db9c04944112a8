import { useState } from 'preact/hooks'
import type { DecisionBucket, Overview } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { addressOf } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'
import { countText } from '../../ui/numbers.ts'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { KINDS, spanText, totalsOf } from './buckets.ts'
import { Chart } from './chart.tsx'

/** What was decided, by kind and time: as bars, and as a table. */
export function DecisionsCard({ of, rangeLabel }: { of: Overview; rangeLabel: string }) {
  const [chosen, setChosen] = useState<number | undefined>()
  const { decisions, from, completeFrom } = of
  // Another range has other buckets.
  const bucket = chosen === undefined ? undefined : decisions[chosen]
  const { all } = totalsOf(decisions)
  return (
    <section class="card">
      <h2>Decisions over time</h2>
      {completeFrom > from && (
        <p class="small">
          Complete only from <Time at={completeFrom} /> on: what was before is not counted, or not all of it.
        </p>
      )}
      {all === 0 ? (
        <p class="muted quiet-time">Nothing was decided in the last {rangeLabel}.</p>
      ) : (
        <>
          <Legend
            buckets={bucket ? [bucket] : decisions}
            time={bucket ? spanText(bucket.at, of) : `Last ${rangeLabel}`}
          />
          <Chart of={of} chosen={bucket && chosen} onChosen={setChosen} />
          <AsTable of={of} />
        </>
      )}
    </section>
  )
}

/** What the patterns mean, and the numbers of the bar that is pointed at; else of all. */
function Legend({ buckets, time }: { buckets: readonly DecisionBucket[]; time: string }) {
  const totals = totalsOf(buckets)
  return (
    <div class="legend">
      <span class="legend-time">{time}</span>
      <ul>
        {KINDS.map(({ member, label, class: name }) => (
          <li key={member}>
            <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
              <rect class={`bar-${name}`} width="12" height="12" rx="2" />
              <rect fill={`url(#pattern-${name})`} width="12" height="12" rx="2" />
            </svg>
            {label} <strong>{countText(totals[member])}</strong>
          </li>
        ))}
      </ul>
    </div>
  )
}

function AsTable({ of }: { of: Overview }) {
  const { may } = useConsole()
  const rows = of.decisions.filter((bucket) => totalsOf([bucket]).all > 0).reverse()
  const when = ({ at }: DecisionBucket) => {
    const span = spanText(at, of)
    const to = new Date(Date.parse(at) + of.bucketMs).toISOString()
    return may('listDecisions') ? <Link to={addressOf(['decisions'], { from: at, to })}>{span}</Link> : span
  }
  const columns: Column<DecisionBucket>[] = [
    { head: 'Time', cell: when },
    ...KINDS.map(({ member, label }) => ({
      head: label,
      class: 'number',
      cell: (bucket: DecisionBucket) => countText(bucket[member]),
    })),
  ]
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <Table caption="Decisions by time and kind" columns={columns} rows={rows} keyOf={({ at }) => at} />
      {rows.length < of.decisions.length && <p class="muted small">Times without decisions are left out.</p>}
    </details>
  )
}
