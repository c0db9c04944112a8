import type { PastKillSwitch } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { useChanges } from '../../data/live.ts'
import { useLoad } from '../../data/load.ts'
import { addressOf, usePlace } from '../../data/place.ts'
import { Link } from '../../ui/link.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { durationText, Time } from '../../ui/time.tsx'
import { StopName } from './stop-name.tsx'

const ON_A_PAGE = 20

/** Stops that are or were in force, newest first. */
export function History() {
  const { gate } = useConsole()
  const { query } = usePlace()
  const offset = Math.max(0, Math.floor(Number(query.get('from') ?? 0)) || 0)
  const past = useLoad((signal) => gate.killSwitch.history({ limit: ON_A_PAGE, offset }, { signal }), [offset])
  useChanges(['killswitch'], past.reload)
  return (
    <section class="stack" aria-labelledby="history">
      <h2 id="history">History</h2>
      <Await of={past} what="the history">
        {({ data, page }) =>
          data.length === 0 && offset === 0 ? (
            <Empty title="Nothing was ever stopped here.">Each stop is listed here, with who ended it and why.</Empty>
          ) : (
            <>
              <Table caption="Stops, newest first" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
              <Pages offset={offset} shown={data.length} total={page.total} />
            </>
          )
        }
      </Await>
    </section>
  )
}

const COLUMNS: readonly Column<PastKillSwitch>[] = [
  { head: 'Stop', cell: (stop) => <StopName of={stop} /> },
  { head: 'Reason', cell: ({ reason }) => <LongText of={reason} /> },
  { head: 'Triggered', cell: ({ triggeredAt, triggeredBy }) => <When at={triggeredAt} by={triggeredBy} /> },
  { head: 'Ended', cell: (stop) => <End of={stop} /> },
  { head: 'Comment', cell: ({ comment }) => (comment === null ? '–' : <LongText of={comment} />) },
  { head: 'Duration', cell: ({ durationMs }) => (durationMs === null ? '–' : durationText(durationMs)) },
]

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
