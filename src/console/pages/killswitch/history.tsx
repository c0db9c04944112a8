import type { PastKillSwitch } from '../../../client/api.ts'
import { type Console, useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { stopAddress } from '../../ui/stop-link.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { durationText, Time } from '../../ui/time.tsx'
import { useArrival, useMarked } from './marked.ts'
import { StopName } from './stop-name.tsx'

const ON_A_PAGE = 20
/** Batch size in the search for the stop in the address: the most that the service returns, in whole pages. */
const LOOKED_THROUGH = 500

/** Stops in force and past, newest first, from the page that holds the stop in the address. */
export function History() {
  const { gate, stops } = useConsole()
  const { query } = usePlace()
  const marked = useMarked()
  const from = Math.max(0, Math.floor(Number(query.get('from') ?? 0)) || 0)
  const past = useLoad(
    async (signal) =>
      (marked !== undefined && (await pageWith(gate, marked, signal))) ||
      gate.killSwitch.history({ limit: ON_A_PAGE, offset: from }, { signal }),
    [from, marked],
  )
  useChanges(['killswitch'], past.reload)
  const isKnown = past.data?.data.some(({ id }) => id === marked) ?? false
  // A stop in force is listed above, where it can be ended.
  const isOver = stops.isKnown && stops.data?.switches.every(({ id }) => id !== marked) === true
  const section = useArrival<HTMLElement>(marked, isKnown && isOver)
  return (
    <section ref={section} class="stack" aria-labelledby="history">
      <h2 id="history">History</h2>
      {marked !== undefined && past.data !== undefined && !isKnown && (
        <p class="notice" role="status">
          The stop in the link is not in this history.
        </p>
      )}
      <Await of={past} what="the history">
        {({ data, page: { offset, total } }) =>
          data.length === 0 && offset === 0 ? (
            <Empty title="No stops yet.">Each stop is listed here, with its end and the comment.</Empty>
          ) : (
            <>
              <Table
                caption="Stops, newest first"
                columns={COLUMNS}
                rows={data}
                keyOf={({ id }) => id}
                classOf={({ id }) => (id === marked ? 'selected' : '')}
              />
              <Pages offset={offset} shown={data.length} total={total} />
            </>
          )
        }
      </Await>
    </section>
  )
}

/** The page with a stop; undefined for an unknown id. */
async function pageWith(gate: Console['gate'], id: string, signal: AbortSignal) {
  for (let offset = 0; ; offset += LOOKED_THROUGH) {
    const { data, page } = await gate.killSwitch.history({ limit: LOOKED_THROUGH, offset }, { signal })
    const index = data.findIndex((stop) => stop.id === id)
    const first = index - (index % ON_A_PAGE)
    if (index >= 0) return { data: data.slice(first, first + ON_A_PAGE), page: { ...page, offset: offset + first } }
    if (offset + data.length >= page.total || data.length === 0) return undefined
  }
}

const COLUMNS: readonly Column<PastKillSwitch>[] = [
  { head: 'Stop', cell: (stop) => <MarkedLink of={stop} /> },
  { head: 'Reason', cell: ({ reason }) => <LongText of={reason} /> },
  { head: 'Triggered', cell: ({ triggeredAt, triggeredBy }) => <When at={triggeredAt} by={triggeredBy} /> },
  { head: 'Ended', cell: (stop) => <End of={stop} /> },
  { head: 'Comment', cell: ({ comment }) => comment !== null && <LongText of={comment} /> },
  {
    head: 'Duration',
    cell: ({ durationMs }) => durationMs !== null && <span class="duration">{durationText(durationMs)}</span>,
  },
]

function MarkedLink({ of: stop }: { of: PastKillSwitch }) {
  const marked = useMarked()
  return (
    <Link to={stopAddress(stop.id)} class="stop-link" current={stop.id === marked}>
      <StopName of={stop} />
    </Link>
  )
}

function End({ of: { recoveredAt, recoveredBy } }: { of: PastKillSwitch }) {
  if (recoveredAt === null)
    return (
      <div>
        <span class="badge deny">in force</span>
      </div>
    )
  return <When at={recoveredAt} by={recoveredBy ?? ''} />
}

function When({ at, by }: { at: string; by: string }) {
  return (
    <div>
      <Time at={at} />
      <div class="muted small">
        by <Text of={by} />
      </div>
    </div>
  )
}

function Pages({ offset, shown, total }: { offset: number; shown: number; total: number }) {
  if (offset === 0 && shown >= total) return null
  const to = (from: number): string => addressOf(['kill-switch'], { from: from <= 0 ? '' : String(from) })
  return (
    <nav class="row" aria-label="Pages of the history">
      {offset > 0 && (
        <Link to={to(offset - ON_A_PAGE)} class="button small">
          Newer
        </Link>
      )}
      <span class="muted small">{`${offset + Math.min(1, shown)}–${offset + shown} of ${total}`}</span>
      {offset + shown < total && (
        <Link to={to(offset + ON_A_PAGE)} class="button small">
          Older
        </Link>
      )}
    </nav>
  )
}
