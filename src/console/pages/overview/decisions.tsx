import { useState } from 'preact/hooks'
import type { DecisionBucket, Overview } from '../../../client/api.ts'
import { zoneName } from '../../ui/local-time.ts'
import { countText } from '../../ui/numbers.ts'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { KINDS, spanText, totalsOf } from './buckets.ts'
import { Chart } from './chart.tsx'
import { Counted } from './counted.tsx'

/** Decisions by kind and time: as bars, and as a table. */
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
          Complete only from <Time at={completeFrom} />: earlier decisions are counted only in part, or not at all.
        </p>
      )}
      {all === 0 ? (
        <p class="muted quiet-time">No decisions in the last {rangeLabel}.</p>
      ) : (
        <>
          <Legend
            buckets={bucket ? [bucket] : decisions}
            time={bucket ? spanText(bucket.at, of) : `Last ${rangeLabel}, times in ${zoneName()}`}
            span={bucket ? spanOf(bucket, of) : { from }}
          />
          <Chart of={of} chosen={bucket && chosen} onChosen={setChosen} />
          <AsTable of={of} />
        </>
      )}
    </section>
  )
}

interface LegendProps {
  buckets: readonly DecisionBucket[]
  time: string
  /** Time span of the counts. */
  span: { from: string; to?: string }
}

/** The legend of the patterns, with the numbers of the selected bar; else of all. */
function Legend({ buckets, time, span }: LegendProps) {
  const totals = totalsOf(buckets)
  return (
    <div class="legend">
      <span class="legend-time">{time}</span>
      <ul>
        {KINDS.map(({ member, decision, label, class: name }) => (
          <li key={member}>
            <svg class="swatch" viewBox="0 0 12 12" aria-hidden="true">
              <rect class={`bar ${name}`} width="12" height="12" rx="2" />
              <rect fill={`url(#pattern-${name})`} width="12" height="12" rx="2" />
            </svg>
            <Counted in="decisions" query={{ decision, ...span }}>
              {label} <strong>{countText(totals[member])}</strong>
            </Counted>
          </li>
        ))}
      </ul>
    </div>
  )
}

function spanOf({ at }: DecisionBucket, { bucketMs }: Overview): { from: string; to: string } {
  return { from: at, to: new Date(Date.parse(at) + bucketMs).toISOString() }
}

function AsTable({ of }: { of: Overview }) {
  const rows = of.decisions.filter((bucket) => totalsOf([bucket]).all > 0).reverse()
  const when = (bucket: DecisionBucket) => (
    <Counted in="decisions" query={spanOf(bucket, of)}>
      {spanText(bucket.at, of)}
    </Counted>
  )
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
