import type { TargetedKeyboardEvent } from 'preact'
import type { Approval } from '../../../client/api.ts'
import { TextField } from '../../ui/field.tsx'
import { Text } from '../../ui/text.tsx'
import { confirmationOf, MAX_COMMENT, REJECT_REASONS, type VoteKind } from './vote.ts'

interface CommentProps {
  kind: VoteKind
  text: string
  onText: (text: string) => void
  fault: string | undefined
}

/** Why: needed to reject, with what is said often at hand. */
export function Comment({ kind, text, onText, fault }: CommentProps) {
  const isRejecting = kind === 'reject'
  return (
    <div class="stack answers">
      {isRejecting && (
        <fieldset class="row picks">
          <legend class="small muted">Said often</legend>
          {REJECT_REASONS.map((reason) => (
            <button
              key={reason}
              type="button"
              class="button small"
              aria-pressed={text === reason}
              onClick={() => onText(reason)}
            >
              {reason}
            </button>
          ))}
        </fieldset>
      )}
      <TextField
        label={isRejecting ? 'Reason' : 'Comment (optional)'}
        hint={isRejecting ? 'The agent is told, and it stands in the trail.' : 'It stands in the trail.'}
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

/** A high risk is approved by typing what it is. */
export function Confirmation({ approval, typed, onTyped, fault }: ConfirmationProps) {
  const { word, isName } = confirmationOf(approval)
  const hint = (
    <>
      High risk: type{' '}
      <code>
        <Text of={word} />
      </code>{' '}
      to approve.
      {!isName && ' The name itself has characters that are not what they look like, or is too long to be typed.'}
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

/** Ctrl+Enter, or Cmd+Enter, presses the button that sends a form, from wherever one is in it but on another button. */
export function submitByKey(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  const { key, ctrlKey, metaKey, repeat, isComposing } = event
  if (key !== 'Enter' || !(ctrlKey || metaKey) || repeat || isComposing) return
  const { target, currentTarget } = event
  if (target instanceof HTMLButtonElement && target.type !== 'submit') return
  event.preventDefault()
  // Not `requestSubmit`, which sends past a button that is disabled.
  currentTarget.querySelector<HTMLButtonElement>('button[type=submit]:enabled')?.click()
}
