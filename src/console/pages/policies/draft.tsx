import type { PolicyTexts } from '../../../client/api.ts'
import { Choice, TextField } from '../../ui/field.tsx'
import { Text } from '../../ui/text.tsx'
import type { Form } from './dry-run-state.ts'

interface DraftProps {
  form: Form
  change: (part: Partial<Form>) => void
  texts: PolicyTexts | undefined
}

/** A text that is asked in place of policies in force. */
export function Draft({ form, change, texts }: DraftProps) {
  const files = texts?.files ?? []
  const [first] = files
  const begin = (isDraft: boolean): void =>
    change({ isDraft, ...(form.draft === '' && { standsFor: first?.name ?? '' }) })
  return (
    <fieldset class="draft">
      <legend class="visually-hidden">Draft</legend>
      <label class="check">
        <input type="checkbox" checked={form.isDraft} onChange={(event) => begin(event.currentTarget.checked)} />
        Ask a draft, not the policies in force
      </label>
      {form.isDraft && <DraftText form={form} change={change} texts={texts} />}
    </fieldset>
  )
}

function DraftText({ form, change, texts }: DraftProps) {
  const { draft, standsFor } = form
  const { files = [], lists = [] } = texts ?? {}
  const inForce = files.find(({ name }) => name === standsFor)
  const others = standsFor === '' ? 0 : files.filter(({ name }) => name !== standsFor).length
  const hint =
    standsFor === ''
      ? 'The draft is the whole set.'
      : others === 0
        ? 'It is the only file in force.'
        : `${others === 1 ? 'The other file goes' : `The ${others} other files go`} with it as in force.`
  return (
    <>
      <p class="notice small">
        Nothing of a draft is saved: the files of the service stay as they are. Copy it to keep it.
      </p>
      <Choice
        label="In the place of"
        hint={hint}
        value={standsFor}
        options={[...files.map(({ name }) => [name, name] as const), ['', 'all files'] as const]}
        onValue={(value) => change({ standsFor: value })}
      />
      <TextField
        label="Text of the draft"
        value={draft}
        rows={14}
        isMono
        placeholder={'apiVersion: gate-sidecar/v1\ntenant: …\nrules: …'}
        onValue={(text) => change({ draft: text })}
      />
      {inForce?.text != null && (
        <div class="row">
          <button
            type="button"
            class="button small"
            disabled={draft === inForce.text}
            onClick={() => change({ draft: inForce.text ?? '' })}
          >
            {draft === '' ? 'Begin with the text in force' : 'Replace it by the text in force'}
          </button>
        </div>
      )}
      {lists.length > 0 && <Lists form={form} change={change} lists={lists} />}
    </>
  )
}

function Lists({ form, change, lists }: Omit<DraftProps, 'texts'> & { lists: PolicyTexts['lists'] }) {
  return (
    <details>
      <summary>Lists that the draft names</summary>
      <p class="muted small">Their contents are not known here. One value a line.</p>
      {lists.map(({ path }) => (
        <div key={path} class="stack-small">
          <p aria-hidden="true" class="mono small">
            <Text of={path} />
          </p>
          <TextField
            label={`Content of ${path}`}
            value={form.lists[path] ?? ''}
            rows={3}
            isMono
            onValue={(text) => change({ lists: { ...form.lists, [path]: text } })}
          />
        </div>
      ))}
    </details>
  )
}
