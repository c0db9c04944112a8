import { useRef, useState } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { usePending } from '../../data/pending.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Comment, submitByKey } from './answers.tsx'
import { BatchItems } from './batch-items.tsx'
import { hasVoted } from './obstacles.ts'
import { adviceFor } from './refused.tsx'
import { countOf, doneText, doneTitle, isHighRisk, type Result, sendVote, type VoteKind } from './vote.ts'

interface BatchProps {
  kind: VoteKind
  approvals: readonly Approval[]
  /** Called after the vote on an approval, which is then deselected. */
  onVoted: (id: string) => void
  onClose: () => void
}

/** Decides several approvals with one reason: one vote each, in sequence, with each result shown. */
export function Batch({ kind, approvals, onVoted, onClose }: BatchProps) {
  // The approvals at opening: the selection shrinks with each vote.
  const [asked] = useState(approvals)
  const [text, setText] = useState('')
  const [isLacking, setIsLacking] = useState(false)
  const { stops } = useConsole()
  const { results, isSending, isOver, send, stop } = useBatch(kind, onVoted)
  const reasons = useSkipped(kind, asked)
  const included = asked.filter(({ id }) => !reasons.has(id) || results.has(id))
  const submit = (event: Event): void => {
    event.preventDefault()
    const lacks = kind === 'reject' && text.trim() === ''
    setIsLacking(lacks)
    if (!lacks) void send(included, text.trim())
  }
  const verb = kind === 'approve' ? 'Approve' : 'Reject'
  const close = (): void => (isSending ? stop() : onClose())
  return (
    <Dialog
      title={isOver ? doneTitle(kind, asked.length, results) : `${verb} ${asked.length} selected?`}
      onClose={close}
    >
      <form onSubmit={submit} onKeyDown={submitByKey} noValidate>
        {stops.data?.active && kind === 'approve' && (
          <p class="notice">A stop is in force. Approvals that it covers cannot be approved, and stay selected.</p>
        )}
        <BatchItems approvals={asked} skipped={reasons} results={results} />
        <Progress results={results} of={included.length} isSending={isSending} />
        {!isOver && !isSending && (
          <Comment
            kind={kind}
            text={text}
            onText={setText}
            fault={isLacking ? 'Give a reason: the agents see it, and the audit trail records it.' : undefined}
          />
        )}
        <footer>
          {!isOver && <Button onClick={close}>{isSending ? 'Stop after this one' : 'Cancel'}</Button>}
          {/* One element, before and after, which keeps the focus. */}
          {isOver ? (
            <Button look="primary" onClick={onClose}>
              Close
            </Button>
          ) : (
            <Button
              type="submit"
              look={kind === 'reject' ? 'danger' : 'primary'}
              disabled={isSending || included.length === 0}
            >
              {isSending ? 'Sending…' : `${verb} ${included.length}`}
            </Button>
          )}
        </footer>
      </form>
    </Dialog>
  )
}

/** The reasons why some selected approvals are left out of the batch. */
function useSkipped(kind: VoteKind, asked: readonly Approval[]): ReadonlyMap<string, string> {
  const { who } = useConsole()
  const { data } = usePending()
  const open = new Map(data?.items.map((approval) => [approval.id, approval]))
  const reasons = new Map<string, string>()
  for (const approval of asked) {
    const now = open.get(approval.id)
    if (now === undefined)
      reasons.set(approval.id, 'No longer pending: decided by someone else, cancelled, or expired.')
    else if (kind === 'approve' && now.stop !== null)
      reasons.set(approval.id, 'A stop covers it: it cannot be approved until the stop ends.')
    else if (kind === 'approve' && isHighRisk(approval))
      reasons.set(approval.id, 'High risk: open it and decide it separately.')
    else if (kind === 'approve' && hasVoted(now, who)) reasons.set(approval.id, 'You have already voted.')
  }
  return reasons
}

function useBatch(kind: VoteKind, onVoted: (id: string) => void) {
  const { gate, who } = useConsole()
  const { note } = usePending()
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map())
  const [phase, setPhase] = useState<'asking' | 'sending' | 'over'>('asking')
  const isStopped = useRef(false)
  const set = (id: string, result: Result): void => setResults((last) => new Map(last).set(id, result))
  const sendOne = async (id: string, text: string): Promise<void> => {
    set(id, { state: 'sending', text: 'Sending…' })
    try {
      const voted = await sendVote(gate, who, { kind, id, text })
      const isDecided = voted.status !== 'pending'
      set(id, { state: isDecided ? 'done' : 'voted', text: doneText(kind, voted) })
      onVoted(id)
      note(voted)
    } catch (caught) {
      const { code, message } = failure(caught)
      set(id, { state: 'refused', text: `${adviceFor(code) ?? ''} ${message}`.trim() })
    }
  }
  const send = async (approvals: readonly Approval[], text: string): Promise<void> => {
    if (phase !== 'asking') return
    setPhase('sending')
    for (const { id } of approvals) if (!isStopped.current) await sendOne(id, text)
    setPhase('over')
  }
  const stop = (): void => {
    isStopped.current = true
  }
  return { results, isSending: phase === 'sending', isOver: phase === 'over', send, stop }
}

interface ProgressProps {
  results: ReadonlyMap<string, Result>
  of: number
  isSending: boolean
}

function Progress({ results, of, isSending }: ProgressProps) {
  if (results.size === 0) return null
  const [done, refused] = [countOf(results, 'done', 'voted'), countOf(results, 'refused')]
  return (
    <div class="batch-progress">
      {isSending && <progress aria-label="Votes sent" max={of} value={done + refused} />}
      <p role="status">{`${done} of ${of} done${refused > 0 ? `, ${refused} refused and still selected` : ''}.`}</p>
    </div>
  )
}
