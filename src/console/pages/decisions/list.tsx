import { useLayoutEffect, useState } from 'preact/hooks'
import type { ListedDecision } from '../../../client/api.ts'
import { addressOf, go, usePlace } from '../../data/place.ts'
import { DecisionBadge, Risk } from '../../ui/badges.tsx'
import { Button } from '../../ui/button.tsx'
import { AGENT, DECIDED_BY } from '../../ui/decision-words.ts'
import { Link } from '../../ui/link.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { Principal } from '../../ui/principal.tsx'
import { Empty, Failure } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { countOf, type Filters, filtersOf } from './filters.ts'
import { type Newer, useNewer } from './newer.ts'
import { type Found, keyOf, type Search, useSearch } from './search.ts'
import { ClearFilters, Toolbar } from './toolbar.tsx'

/** The state of the list when the user left it. */
export interface Left {
  address: string
  found: Found
  scrollY: number
}

/** Decisions by the filters in the address, newest first; restored on return from one of them. */
export function DecisionList({ left }: { left: { current: Left | undefined } }) {
  const filters = filtersOf(usePlace().query)
  const address = addressOf(['decisions'], { ...filters })
  const [earlier] = useState(left.current?.found.key === keyOf(filters) ? left.current : undefined)
  const search = useSearch(filters, earlier?.found)
  const newer = useNewer(filters, search, earlier !== undefined)
  useLayoutEffect(() => {
    left.current = { address, found: search.found, scrollY: 0 }
  })
  useLayoutEffect(() => {
    if (earlier !== undefined) scrollTo(0, earlier.scrollY)
    return () => {
      if (left.current !== undefined) left.current.scrollY = scrollY
    }
  }, [])
  const change = (changed: Filters): void => go(addressOf(['decisions'], { ...changed }), 'replace')
  return (
    <>
      <PageHead title="Decisions" />
      <Toolbar filters={filters} onFilters={change} error={search.error} />
      <div class="stack">
        <NewerNotice {...newer} />
        {search.items.length > 0 && (
          <div class="decision-table">
            <Table
              caption="Decisions, newest first"
              columns={COLUMNS}
              rows={search.items}
              keyOf={({ id }) => id}
              classOf={({ decision }) => decision ?? 'erased'}
              toOf={({ id }) => addressOf(['decisions', id])}
            />
          </div>
        )}
        <Progress search={search} isFiltered={countOf(filters) > 0} />
      </div>
    </>
  )
}

const COLUMNS: readonly Column<ListedDecision>[] = [
  { head: 'Time', cell: ({ timestamp }) => <Time at={timestamp} />, class: 'when' },
  {
    head: 'Decision',
    cell: ({ decision, observed, shadow }) =>
      decision === null ? 'erased' : <DecisionBadge decision={decision} observed={observed} shadow={shadow} />,
  },
  { head: 'Action', cell: actionCell, class: 'action' },
  {
    head: AGENT,
    cell: ({ agent }) => (agent === null ? <span class="muted">–</span> : <Principal of={agent} />),
    class: 'named',
  },
  {
    head: 'Rule',
    cell: ({ rule }) => (rule === null ? <span class="muted">–</span> : <Text of={rule} />),
    class: 'named',
  },
  { head: 'Decided by', cell: ({ decidedBy }) => (decidedBy === null ? '–' : DECIDED_BY[decidedBy]) },
  { head: 'Risk', cell: ({ riskScore }) => (riskScore === null ? '–' : <Risk score={riskScore} isInList />) },
]

function actionCell({ id, action }: ListedDecision) {
  return (
    <Link to={addressOf(['decisions', id])}>
      {action === null ? 'Content no longer in the file' : <Text of={action} />}
    </Link>
  )
}

/** Announced to screen readers too, whenever the number changes. */
function NewerNotice({ count, isMore, show }: Newer) {
  return (
    <div role="status">
      {count > 0 && (
        <Button look="newer" onClick={show}>
          {`${count}${isMore ? ' or more' : ''} new ${count === 1 ? 'decision' : 'decisions'} — show`}
        </Button>
      )}
    </div>
  )
}

/** The time that the search has reached, and the next steps. */
function Progress({ search, isFiltered }: { search: Search; isFiltered: boolean }) {
  const { items, searchedTo, isSearching, isDone, error, goOn, stop } = search
  if (error) return <Failure error={error} retry={goOn} />
  const back = searchedTo !== null && (
    <>
      {' back to '}
      <Time at={searchedTo} />
    </>
  )
  if (isSearching)
    return (
      <div class="row between searching">
        <div class="row" role="status">
          <span class="spinner" aria-hidden="true" />
          <span>Searching{back}…</span>
        </div>
        <Button onClick={stop}>Stop</Button>
      </div>
    )
  if (isDone && items.length === 0) return <NoDecisions isFiltered={isFiltered} />
  return (
    <div class="row between searching">
      <span role="status" class="muted">
        {`${items.length} ${items.length === 1 ? 'decision' : 'decisions'}`}
        {isDone ? ', all there are' : searchedTo === null ? ', search stopped' : <>, searched{back}</>}
        {'.'}
      </span>
      {!isDone && <Button onClick={goOn}>Load older</Button>}
    </div>
  )
}

function NoDecisions({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No decisions match these filters.">
        <ClearFilters />
      </Empty>
    )
  return (
    <Empty title="No decisions yet.">
      Each check of an agent by <code>POST /gate/check</code> is listed here, with its reason.
    </Empty>
  )
}
