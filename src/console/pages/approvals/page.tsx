import { useContext } from 'preact/hooks'
import { LiveContext } from '../../data/live.ts'
import { Link } from '../../ui/link.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { Empty } from '../../ui/states.tsx'
import { Batch } from './batch.tsx'
import { Decide } from './decide.tsx'
import { Detail } from './detail.tsx'
import { Help } from './help.tsx'
import { Inbox } from './inbox.tsx'
import { type InboxState, useInboxState } from './inbox-state.ts'
import { useInboxKeys } from './keys.ts'
import { NotifyButton } from './notify-button.tsx'
import { useShortcutChoice } from './shortcuts.ts'
import { Toolbar } from './toolbar.tsx'

/** Pending approvals: an inbox, and the open approval beside it, or on its own page where there is no room. */
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
            <button type="button" class="button small for-keyboards" onClick={() => setQuestion('help')}>
              Keyboard <kbd>?</kbd>
            </button>
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

/** Approvals that appeared and disappeared by themselves, and whether the list is live. */
function News({ inbox: { selection, listed } }: { inbox: InboxState }) {
  const { isLive } = useContext(LiveContext)
  const { fresh, lost } = selection
  return (
    <>
      {!isLive && (
        <div class="notice line inbox-notice">
          <p>Not live: the service cannot be heard now, and what is shown may be old.</p>
          <button type="button" class="button small" onClick={listed.loaded.reload}>
            Load again
          </button>
        </div>
      )}
      <p class="row small inbox-news" role="status">
        {fresh.size > 0 && <span>{fresh.size} new</span>}
        {lost > 0 && (
          <span>
            {lost === 1 ? 'One that you had selected is' : `${lost} that you had selected are`} pending no longer:
            decided by somebody else, cancelled, or expired.
          </span>
        )}
      </p>
    </>
  )
}

/** The open approval, or a hint how to open one. */
function Open({ inbox: { openId, isAlone, setQuestion, isUsed } }: { inbox: InboxState }) {
  if (openId === undefined)
    return (
      <Empty title="None is open.">
        Choose one in the list, or press <kbd>j</kbd> and <kbd>Enter</kbd>.
      </Empty>
    )
  return (
    <Detail
      id={openId}
      onVote={(kind) => setQuestion({ kind, id: openId })}
      takesFocus={!isAlone && isUsed.current}
      key={openId}
    />
  )
}

interface AskingProps {
  inbox: InboxState
  areLettersOn: boolean
  setLetters: (areOn: boolean) => void
}

function Asking({ inbox, areLettersOn, setLetters }: AskingProps) {
  const { question, setQuestion, selection, voted, mayVote, takeFocus } = inbox
  const close = (): void => setQuestion(undefined)
  if (question === undefined) return null
  if (question === 'help')
    return <Help areLettersOn={areLettersOn} onLetters={setLetters} mayVote={mayVote} onClose={close} />
  const { kind } = question
  if ('several' in question) {
    const closeAll = (): void => {
      close()
      // The focused control disappears with the selection.
      if (selection.selected.size === 0) takeFocus()
    }
    return <Batch kind={kind} approvals={question.several} onVoted={selection.decided} onClose={closeAll} />
  }
  return <Decide id={question.id} kind={kind} onClose={close} onDone={({ id }) => voted(id)} />
}
