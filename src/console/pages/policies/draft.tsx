import { useEffect, useRef } from 'preact/hooks'
import type { PolicyTexts } from '../../../client/api.ts'
import { addressOf, go } from '../../data/place.ts'
import { draftAddress } from '../../data/policy-address.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { Text } from '../../ui/text.tsx'
import { type DryRunState, type Form, textOf } from './dry-run-state.ts'

interface DraftProps {
  state: DryRunState
  texts: PolicyTexts | undefined
}

/** A text that is evaluated in place of policies in force. */
export function Draft({ state, texts }: DraftProps) {
  const { isDraft, form } = state
  const choose = (isWanted: boolean): void =>
    go(isWanted ? draftAddress(form.standsFor) : addressOf(['policies', 'dry-run']), 'replace')
  return (
    <fieldset class="draft">
      <legend class="visually-hidden">Draft</legend>
      <label class="check">
        <input type="checkbox" checked={isDraft} onChange={(event) => choose(event.currentTarget.checked)} />
        Use a draft instead of the policies in force
      </label>
      {isDraft && <DraftText state={state} texts={texts} />}
    </fieldset>
  )
}

/** Elements with the focus before the user has gone anywhere on the page. */
const NOWHERE = 'body, main, h1, h2, h3, a'

function DraftText({ state, texts }: DraftProps) {
  const { form, change, isComing, arrived } = state
  const { draft, standsFor, isEdited } = form
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isComing) return
    arrived()
    // A user who already types in another field keeps the focus.
    if (!document.activeElement?.matches(NOWHERE)) return
    const text = frame.current?.querySelector('textarea')
    text?.focus({ preventScroll: true })
    text?.setSelectionRange(0, 0)
    frame.current?.closest('fieldset')?.scrollIntoView({ block: 'start' })
  }, [isComing])
  const { files = [], lists = [] } = texts ?? {}
  const inForce = textOf(texts, standsFor)
  const choose = (name: string): void => {
    const isFree = draft === '' || !isEdited
    const chosen = textOf(texts, name)
    change({ standsFor: name, ...(isFree && chosen !== undefined && { draft: chosen, isEdited: false }) })
    go(draftAddress(name), 'replace')
  }
  return (
    <>
      <p class="notice small">A draft is not saved. Copy it to keep it.</p>
      <Instead state={state} />
      <Choice
        label="Replaces"
        hint={hintOf(form, files.length, lists.length)}
        value={standsFor}
        options={[...files.map(({ name }) => [name, name] as const), ['', 'all files'] as const]}
        onValue={choose}
      />
      <div ref={frame}>
        <TextField
          label="Text of the draft"
          value={draft}
          rows={18}
          isMono
          placeholder={'apiVersion: gate-sidecar/v1\ntenant: …\nrules: …'}
          onValue={(text) => change({ draft: text, isEdited: true })}
        />
      </div>
      <div class="row between">
        {inForce === undefined ? (
          <span />
        ) : (
          <Button
            text={draft === inForce ? 'This is the text in force' : 'Back to the text in force'}
            look="small"
            aria-disabled={draft === inForce}
            onClick={() => draft !== inForce && change({ draft: inForce, isEdited: false })}
          />
        )}
        <CopyButton text={draft} label="Copy the draft" />
      </div>
      {lists.length > 0 && <Lists state={state} lists={lists} />}
    </>
  )
}

/** A choice for a user who wanted a draft of one file, and has an edited draft of another. */
function Instead({ state: { form, instead, begin } }: { state: DryRunState }) {
  const { standsFor } = form
  return (
    <div role="status">
      {instead !== undefined && (
        <div class="notice row between">
          <span>This is your draft, which replaces {standsFor === '' ? 'all files' : <Text of={standsFor} />}.</span>
          <Button look="small" onClick={() => begin(instead)}>
            Start from <Text of={instead} /> instead
          </Button>
        </div>
      )}
    </div>
  )
}

/** A hint about the other files and lists that accompany the draft. */
function hintOf({ standsFor }: Form, files: number, lists: number): string {
  const withLists = lists === 0 ? '' : ' Lists are used as in force, too.'
  if (standsFor === '') return `The draft is the whole set.${withLists}`
  if (files === 1) return `It is the only file in force.${withLists}`
  return `${files === 2 ? 'The other file is' : `The ${files - 1} other files are`} used as in force.${withLists}`
}

function Lists({ state, lists }: { state: DryRunState; lists: PolicyTexts['lists'] }) {
  const { form, change } = state
  return (
    <details>
      <summary>{lists.length === 1 ? 'The list' : `The ${lists.length} lists`}</summary>
      <div class="stack">
        <p class="muted small">A list is used as in force, unless you enter other content here: one value per line.</p>
        {lists.map(({ path }) => (
          <TextField
            key={path}
            label={
              <>
                Content of <Code of={path} />
              </>
            }
            value={form.lists[path] ?? ''}
            rows={3}
            isMono
            placeholder="as in force"
            onValue={(text) => change({ lists: { ...form.lists, [path]: text } })}
          />
        ))}
      </div>
    </details>
  )
}
