import { Fragment } from 'preact'
import { CloseFooter } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

const KEYS = [
  [['j', '↓'], 'next approval, opened beside the list'],
  [['k', '↑'], 'previous approval'],
  [['Enter'], 'open the approval and move the focus there'],
  [['x'], 'select'],
  [['a'], 'approve the open approval and its selection, or the selection or row if none is open; asks first'],
  [['r'], 'reject, in the same way'],
  [['Ctrl+Enter'], 'in the dialog: send, if nothing is missing (⌘+Enter on a Mac)'],
  [['Esc'], 'back to the list'],
  [['?'], 'this help'],
] as const

interface HelpProps {
  areLettersOn: boolean
  onLetters: (areOn: boolean) => void
  mayVote: boolean
  onClose: () => void
}

/** The keyboard shortcuts, and a switch for single letters. */
export function Help({ areLettersOn, onLetters, mayVote, onClose }: HelpProps) {
  const keys = KEYS.filter(([[key]]) => mayVote || !['x', 'a', 'r', 'Ctrl+Enter'].includes(key))
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="facts shortcuts">
        {keys.map(([names, what]) => (
          <Fragment key={names[0]}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </Fragment>
        ))}
      </dl>
      <label class="inbox-check">
        <input type="checkbox" checked={areLettersOn} onChange={(event) => onLetters(event.currentTarget.checked)} />
        Use single-letter shortcuts
      </label>
      <CloseFooter onClose={onClose} />
    </Dialog>
  )
}
