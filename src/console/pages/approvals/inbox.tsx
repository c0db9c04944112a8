import { useContext } from 'preact/hooks'
import { LiveContext } from '../../data/live.ts'
import { Button } from '../../ui/button.tsx'
import { Await, Empty } from '../../ui/states.tsx'
import { countOf, type Filters } from './filters.ts'
import { type InboxState, SHOWN } from './inbox-state.ts'
import { List } from './list.tsx'

/** The list, with actions on the selection. */
export function Inbox({ inbox }: { inbox: InboxState }) {
  const { listed, rows, filters, selection, isSelecting, onMore, toOpen, cursor, isWide } = inbox
  const found = listed.rows.length
  return (
    <div class="inbox">
      <Await of={listed.loaded} what="approvals">
        {({ items, total }) =>
          found === 0 ? (
            <Nothing filters={filters} isFiltered={items.length > 0} />
          ) : (
            <>
              {isSelecting && <BatchBar inbox={inbox} />}
              <List
                {...{ rows, ...selection }}
                wantsFocus={inbox.focus.isWanted}
                openId={inbox.openId}
                cursor={cursor.id}
                onCursor={cursor.put}
                onPlaced={cursor.replace}
                onOpen={() => isWide && inbox.paneFocus.wish()}
                addressOf={toOpen}
                onSelect={isSelecting ? (id, isSelected) => selection.select([id], isSelected) : undefined}
              />
              <p class="row loose muted small inbox-count">
                {countText({ shown: rows.length, found, known: items.length, total })}
                {rows.length < found && (
                  <Button look="small" onClick={onMore}>
                    Show {Math.min(SHOWN, found - rows.length)} more
                  </Button>
                )}
              </p>
            </>
          )
        }
      </Await>
    </div>
  )
}

interface Counts {
  shown: number
  /** Count after filters. */
  found: number
  /** Count of fetched approvals. */
  known: number
  total: number
}

function countText({ shown, found, known, total }: Counts): string {
  const number = (count: number): string => count.toLocaleString()
  const matching = found < known ? ` of ${number(found)} that match,` : ''
  const unknown = known < total ? `; only ${number(known)} of them are searched and sorted` : ''
  return `${number(shown)} shown${matching} of ${number(total)}${unknown}.`
}

function Nothing({ filters, isFiltered }: { filters: Filters; isFiltered: boolean }) {
  const { isLive } = useContext(LiveContext)
  if (isFiltered && countOf(filters) > 0) return <Empty title="No approvals match.">Remove a filter to see more.</Empty>
  if (filters.status !== 'pending') return <Empty title="No approvals with this status." />
  return (
    <Empty title={isLive ? 'No approvals are waiting.' : 'No approvals were waiting at last contact.'}>
      Actions that need approval appear here automatically, with the request and its requester.
    </Empty>
  )
}

/** Actions on several approvals at once. */
function BatchBar({ inbox: { rows, selection, chosen, askSeveral } }: { inbox: InboxState }) {
  const { selected, select } = selection
  const shownIds = rows.map(({ id }) => id)
  const count = chosen.length
  const hidden = selected.size - count
  const isAll = count === rows.length
  return (
    <div class="batch-bar">
      <label class="inbox-check">
        <input
          type="checkbox"
          checked={isAll}
          indeterminate={count > 0 && !isAll}
          onChange={(event) => select(shownIds, event.currentTarget.checked)}
        />
        {selected.size > 0 ? `${count} selected` : `Select all ${rows.length} shown`}
        {hidden > 0 && `, ${hidden} not shown and not included`}
      </label>
      {selected.size > 0 && (
        <span class="row">
          {count > 0 && (
            <>
              <Button look="small" aria-label="Approve… selected" onClick={() => askSeveral('approve', chosen)}>
                Approve…
              </Button>
              <Button look="small" aria-label="Reject… selected" onClick={() => askSeveral('reject', chosen)}>
                Reject…
              </Button>
            </>
          )}
          <Button look="small quiet" aria-label="Select none" onClick={() => select([...selected], false)}>
            None
          </Button>
        </span>
      )}
    </div>
  )
}
