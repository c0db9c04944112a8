import { useState } from 'preact/hooks'
import { notifyState, turnOff, turnOn } from '../../data/notify.ts'
import { Button } from '../../ui/button.tsx'
import { Link } from '../../ui/link.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { Empty } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { Batch } from './batch.tsx'
import { Decide } from './decide.tsx'
import { Detail } from './detail.tsx'
import { Help } from './help.tsx'
import { Inbox } from './inbox.tsx'
import { type InboxState, useInboxState } from './inbox-state.ts'
import { useInboxKeys, useShortcutChoice } from './keys.ts'
import { Toolbar } from './toolbar.tsx'

/** Pending approvals: an inbox, and the open approval beside it, or on its own page if there is no room. */
export function ApprovalsPage() {
  const inbox = useInboxState()
  const [areLettersOn, setLetters] = useShortcutChoice()
  useInboxKeys(inbox, areLettersOn)
  const { isAlone, isWide, filters, setFilters, mayVote, setQuestion } = inbox
  return (
    <>
      <PageHead title={isAlone ? 'Approval' : 'Approvals'} tab="Approvals">
        {isAlone ? (
          <Link to={inbox.back} class="target">
            Back to the list
          </Link>
        ) : (
          <>
            {mayVote && <NotifyButton />}
            <Button look="small for-keyboards" onClick={() => setQuestion('help')}>
              Keyboard <kbd>?</kbd>
            </Button>
          </>
        )}
      </PageHead>
      <News inbox={inbox} />
      {isAlone ? (
        <Open inbox={inbox} />
      ) : (
        <>
          <Toolbar filters={filters} onFilters={setFilters} mayVote={mayVote} isNarrow={!isWide} />
          <div class={`inbox-frame ${isWide ? 'wide' : ''}`}>
            <Inbox inbox={inbox} />
            {isWide && (
              <section class="beside" aria-label="Open approval">
                <Open inbox={inbox} />
              </section>
            )}
          </div>
        </>
      )}
      <Asking {...{ inbox, areLettersOn, setLetters }} />
    </>
  )
}

const REFUSED = 'This browser does not let the console show notifications. Check its settings for this address.'

/** Turns notifications of new approvals on and off. The browser asks for permission on this click, never before. */
function NotifyButton() {
  const [state, setState] = useState(notifyState)
  const tell = useToast()
  if (state === 'impossible') return null
  const clicked = async (): Promise<void> => {
    const next = state === 'on' ? turnOff() : await turnOn()
    setState(next)
    if (next === 'refused') tell(REFUSED)
    if (next === 'on') tell('You are notified of each new approval while this page is in the background.')
  }
  return (
    <Button look="small" aria-pressed={state === 'on'} onClick={() => void clicked()}>
      {state === 'on' ? 'Notifications on' : 'Notify me'}
    </Button>
  )
}

/** Approvals that appeared and disappeared by themselves. */
function News({ inbox: { selection } }: { inbox: InboxState }) {
  const { fresh, lost } = selection
  return (
    <p class="row small inbox-news" role="status">
      {fresh.size > 0 && <span>{fresh.size} new</span>}
      {lost > 0 && (
        <span>
          {lost === 1 ? 'One selected approval is' : `${lost} selected approvals are`} no longer pending: decided by
          someone else, cancelled, or expired.
        </span>
      )}
    </p>
  )
}

/** The open approval, or a hint how to open one. */
function Open({ inbox: { openId, ask, paneFocus } }: { inbox: InboxState }) {
  if (openId === undefined)
    return (
      <Empty title="No approval is open.">
        Choose one in the list, or press <kbd>j</kbd>.
      </Empty>
    )
  return <Detail id={openId} onVote={(kind) => ask(kind, openId)} wantsFocus={paneFocus.isWanted} key={openId} />
}

interface AskingProps {
  inbox: InboxState
  areLettersOn: boolean
  setLetters: (areOn: boolean) => void
}

function Asking({ inbox, areLettersOn, setLetters }: AskingProps) {
  const { question, setQuestion, selection, voted, mayVote, focus } = inbox
  const close = (): void => setQuestion(undefined)
  if (question === undefined) return null
  if (question === 'help')
    return <Help areLettersOn={areLettersOn} onLetters={setLetters} mayVote={mayVote} onClose={close} />
  const { kind } = question
  if ('several' in question) {
    const closeAll = (): void => {
      close()
      // The focused control disappears with the selection.
      if (selection.selected.size === 0) focus.wish()
    }
    return <Batch kind={kind} approvals={question.several} onVoted={selection.decided} onClose={closeAll} />
  }
  return <Decide id={question.id} kind={kind} onClose={close} onDone={voted} />
}
