import type { TargetedKeyboardEvent } from 'preact'
import type { Approval } from '../../../client/api.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { TextField } from '../../ui/field.tsx'
import { confirmationOf, MAX_COMMENT, REJECT_REASONS, type VoteKind } from './vote.ts'

interface CommentProps {
  kind: VoteKind
  text: string
  onText: (text: string) => void
  fault: string | undefined
}

/** The reason, required to reject, with frequent reasons to choose from. */
export function Comment({ kind, text, onText, fault }: CommentProps) {
  const isRejecting = kind === 'reject'
  return (
    <div class="stack answers">
      {isRejecting && (
        <fieldset class="row picks">
          <legend class="small muted">Frequent reasons</legend>
          {REJECT_REASONS.map((reason) => (
            <Button key={reason} look="small" aria-pressed={text === reason} onClick={() => onText(reason)}>
              {reason}
            </Button>
          ))}
        </fieldset>
      )}
      <TextField
        label={isRejecting ? 'Reason' : 'Comment (optional)'}
        hint={isRejecting ? 'The agent sees it, and the audit trail records it.' : 'The audit trail records it.'}
        fault={fault}
        value={text}
        onValue={onText}
        rows={2}
        maxLength={MAX_COMMENT}
        isRequired={isRejecting}
        isFirst
      />
    </div>
  )
}

interface ConfirmationProps {
  approval: Approval
  typed: string
  onTyped: (typed: string) => void
  fault: string | undefined
}

/** High risk is approved by typing the given word. */
export function Confirmation({ approval, typed, onTyped, fault }: ConfirmationProps) {
  const { word, isName } = confirmationOf(approval)
  const hint = (
    <>
      High risk: type <Code of={word} /> to approve.
      {!isName && ' The name itself is too long to type, or has look-alike characters.'}
    </>
  )
  return (
    <TextField
      label={isName ? 'Name of the action' : 'Confirmation'}
      hint={hint}
      fault={fault}
      value={typed}
      onValue={onTyped}
      isRequired
      isMono
      autoComplete="off"
    />
  )
}

/** Ctrl+Enter, or Cmd+Enter, presses the submit button, from anywhere in the form but on another button. */
export function submitByKey(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  const { key, ctrlKey, metaKey, repeat, isComposing } = event
  if (key !== 'Enter' || !(ctrlKey || metaKey) || repeat || isComposing) return
  const { target, currentTarget } = event
  if (target instanceof HTMLButtonElement && target.type !== 'submit') return
  event.preventDefault()
  // `requestSubmit` would ignore that a button is disabled.
  currentTarget.querySelector<HTMLButtonElement>('button[type=submit]:enabled')?.click()
}
