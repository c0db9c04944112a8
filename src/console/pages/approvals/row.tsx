import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Risk, StatusBadge } from '../../ui/badges.tsx'
import { Link } from '../../ui/link.tsx'
import { Beginning, Text, TextAfter } from '../../ui/text.tsx'
import { Ago, Countdown } from '../../ui/time.tsx'
import { spelledOut } from '../../ui/visible.ts'
import { ArgumentLine } from './arguments.tsx'
import { standingOf } from './filters.ts'
import { isPaused } from './stopped.tsx'
import { countedOf } from './vote.ts'

/** Limit of characters of a reason in a row. */
const REASON = 160
/** Limit of characters of each argument. */
const SHORT = 24

export interface RowProps {
  approval: Approval
  /** Address of the opened approval. */
  to: string
  isSelected: boolean
  /** True for the one row that the Tab key reaches. */
  isCursor: boolean
  isOpen: boolean
  isNew: boolean
  /** Undefined if rows cannot be selected. */
  onSelect: ((id: string, isSelected: boolean) => void) | undefined
  onCursor: (id: string) => void
  /** Called when the user opens one. */
  onOpen: () => void
}

/** One approval in a list: action, requester, reason, and time left. */
export function Row({ approval, to, isSelected, isCursor, isOpen, isNew, onSelect, onCursor, onOpen }: RowProps) {
  const { id, action, requestedBy } = approval
  const tabIndex = isCursor ? 0 : -1
  const state = [isOpen && 'open', isSelected && 'selected', onSelect && 'selectable'].filter(Boolean).join(' ')
  return (
    <li class={`inbox-row ${state}`} data-id={id} onFocusIn={() => onCursor(id)}>
      {onSelect && (
        <label class="inbox-select">
          <input
            type="checkbox"
            aria-label={`Select ${action}, requested by ${spelledOut(requestedBy)}`}
            checked={isSelected}
            tabIndex={tabIndex}
            onChange={(event) => onSelect(id, event.currentTarget.checked)}
          />
        </label>
      )}
      <Link to={to} current={isOpen} tabIndex={tabIndex} class="inbox-link" onFollow={onOpen}>
        <What approval={approval} isNew={isNew} />
        <When approval={approval} />
        <ArgumentLine approval={approval} most={SHORT} />
      </Link>
    </li>
  )
}

function What({ approval, isNew }: { approval: Approval; isNew: boolean }) {
  const { who } = useConsole()
  const { action, reason, requestedBy, rule } = approval
  const standing = standingOf(approval, who)
  return (
    <span class="inbox-what">
      <span class="row inbox-action">
        <Text of={action} />
        {isNew && <span class="badge live">new</span>}
        {standing === 'voted' && <span class="badge">you voted</span>}
        {standing === 'asked' && <span class="badge">requested by you</span>}
      </span>
      <span class="inbox-reason">
        <Beginning of={reason} most={REASON} />
      </span>
      <span class="muted small">
        <Text of={requestedBy} />
        <TextAfter words=" · rule " of={rule} />
      </span>
    </span>
  )
}

function When({ approval }: { approval: Approval }) {
  const { status, expiresAt, decidedAt, riskScore, quorum } = approval
  return (
    <span class="inbox-when">
      {status === 'pending' ? (
        <Countdown until={expiresAt} isPaused={isPaused(approval)} />
      ) : (
        <StatusBadge status={status} />
      )}
      <Risk score={riskScore} isInList />
      <span class="muted small">
        {status !== 'pending' && decidedAt !== null ? (
          <Ago at={decidedAt} />
        ) : (
          `${countedOf(approval)} of ${quorum} ${quorum === 1 ? 'vote' : 'votes'}`
        )}
      </span>
    </span>
  )
}
