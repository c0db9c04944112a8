import { Fragment } from 'preact'
import { CloseFooter } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

const KEYS = [
  [['j', '↓'], 'next, open beside the list'],
  [['k', '↑'], 'the one before'],
  [['Enter'], 'open, and go there'],
  [['x'], 'select'],
  [
    ['a'],
    'approve what is open, with the selection that it is in; where none is open, the selection or the row: asks first',
  ],
  [['r'], 'reject, in the same way'],
  [['Ctrl+Enter'], 'in the question: send it, if nothing is missing (⌘+Enter on a Mac)'],
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
        Single letters do this
      </label>
      <CloseFooter onClose={onClose} />
    </Dialog>
  )
}
