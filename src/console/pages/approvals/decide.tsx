import { useRef, useState } from 'preact/hooks'
import type { Approval } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { failure } from '../../data/load.ts'
import { usePending } from '../../data/pending.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { isPhrase } from '../../ui/phrase.ts'
import { Await } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { useToast } from '../../ui/toast.tsx'
import { Comment, Confirmation, submitByKey } from './answers.tsx'
import { type Asked, useAsked } from './asked.ts'
import { obstacleTo } from './obstacles.ts'
import { Refused } from './refused.tsx'
import { Overtaken, Reviewed } from './reviewed.tsx'
import { confirmationOf, doneText, isHighRisk, sendVote, type VoteKind } from './vote.ts'

interface DecideProps {
  id: string
  kind: VoteKind
  onClose: () => void
  /** Called when the vote counts. */
  onDone: (approval: Approval) => void
}

const TITLES = { approve: 'Approve this action?', reject: 'Reject this action?' }

/** Asks before a vote, with its exact subject. An approval that changes meanwhile is reported, and nothing is sent. */
export function Decide({ id, kind, onClose, onDone }: DecideProps) {
  const asked = useAsked(id)
  const isDangerous = kind === 'approve' && asked.approval.data !== undefined && isHighRisk(asked.approval.data)
  return (
    <Dialog title={TITLES[kind]} isDangerous={isDangerous} onClose={onClose}>
      <Await of={asked.approval} what="the approval">
        {(approval) => <Ballot {...{ approval, asked, kind, onClose, onDone }} />}
      </Await>
    </Dialog>
  )
}

interface BallotProps extends Omit<DecideProps, 'id'> {
  approval: Approval
  asked: Asked
}

function Ballot({ approval, asked, kind, onClose, onDone }: BallotProps) {
  const { who } = useConsole()
  const [text, setText] = useState('')
  const [typed, setTyped] = useState('')
  const { isSending, error, send } = useSending(approval, kind, onDone, asked.approval.reload)
  const [fault, setFault] = useState<string>()
  // During sending, this vote itself changes the status.
  if (approval.status !== 'pending' && !isSending) return <Overtaken approval={approval} onClose={onClose} />
  const isTyped = kind === 'approve' && isHighRisk(approval)
  const obstacle = obstacleTo(kind, { approval, background: asked.background.data, who })
  const submit = (event: Event): void => {
    event.preventDefault()
    if (obstacle !== undefined) return
    const missing = missingInput(kind, text, isTyped ? { typed, word: confirmationOf(approval).word } : undefined)
    setFault(missing)
    if (missing === undefined) void send(text.trim())
  }
  return (
    <form onSubmit={submit} onKeyDown={submitByKey} noValidate>
      <Reviewed approval={approval} kind={kind} />
      {obstacle !== undefined && (
        <div class="notice" role="alert">
          You cannot vote now. <Text of={obstacle} />
        </div>
      )}
      <Comment kind={kind} text={text} onText={setText} fault={fault === NO_REASON ? fault : undefined} />
      {isTyped && (
        <Confirmation
          approval={approval}
          typed={typed}
          onTyped={setTyped}
          fault={fault === OTHER_WORD ? fault : undefined}
        />
      )}
      {error && <Refused error={error} />}
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look={kind === 'reject' || isTyped ? 'danger' : 'primary'}
          disabled={isSending || obstacle !== undefined}
        >
          {isSending ? 'Sending…' : kind === 'approve' ? 'Approve' : 'Reject'}
        </Button>
      </footer>
    </form>
  )
}

const NO_REASON = 'Give a reason: the agent sees it, and the audit trail records it.'
const OTHER_WORD = 'Type it as shown above.'

/** The missing input before sending. */
function missingInput(
  kind: VoteKind,
  text: string,
  confirmation?: { typed: string; word: string },
): string | undefined {
  if (kind === 'reject' && text.trim() === '') return NO_REASON
  if (confirmation !== undefined && !isPhrase(confirmation.typed, confirmation.word)) return OTHER_WORD
  return undefined
}

/** Sends one vote at a time; a repetition counts once. */
function useSending({ id }: Approval, kind: VoteKind, onDone: DecideProps['onDone'], onRefused: () => void) {
  const { gate, who } = useConsole()
  const { note } = usePending()
  const tell = useToast()
  const [isSending, setIsSending] = useState(false)
  const [error, setError] = useState<GateError>()
  const isUnderWay = useRef(false)
  const earlier = useRef<{ text: string; idempotencyKey: string } | undefined>(undefined)
  const send = async (text: string): Promise<void> => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setIsSending(true)
    setError(undefined)
    if (earlier.current?.text !== text) earlier.current = { text, idempotencyKey: crypto.randomUUID() }
    try {
      const voted = await sendVote(gate, who, { kind, id, ...earlier.current })
      note(voted)
      tell(doneText(kind, voted))
      onDone(voted)
    } catch (caught) {
      setError(failure(caught))
      onRefused()
    } finally {
      isUnderWay.current = false
      setIsSending(false)
    }
  }
  return { isSending, error, send }
}
