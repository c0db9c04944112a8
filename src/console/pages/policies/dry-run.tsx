import { useEffect, useRef } from 'preact/hooks'
import type { PolicyTexts } from '../../../client/api.ts'
import { useConsole } from '../../data/console.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { DECISIONS } from '../../ui/decision-words.ts'
import { Field, TextField } from '../../ui/field.tsx'
import { Link } from '../../ui/link.tsx'
import { Empty, Failure } from '../../ui/states.tsx'
import { Text } from '../../ui/text.tsx'
import { Draft } from './draft.tsx'
import type { DryRunState, TextFault } from './dry-run-state.ts'
import { replayAddress } from './replay-state.ts'
import { Result, titleOf } from './result.tsx'

interface DryRunProps {
  state: DryRunState
  actions: readonly string[]
  texts: PolicyTexts | undefined
}

export function DryRunPage(props: DryRunProps) {
  const { asked, error, isDraft } = props.state
  return (
    <div class={isDraft ? 'dry-run drafting' : 'dry-run'}>
      <Question {...props} />
      <div class="stack">
        <p class="visually-hidden" role="status">
          {asked && `${titleOf(asked)}${asked.of.verdict ? `: ${DECISIONS[asked.of.verdict.decision]}` : ''}`}
        </p>
        {error && (
          <>
            <Failure error={error} />
            <Details of={error.details} />
          </>
        )}
        {asked && <Result of={asked} />}
        {!asked && !error && (
          <Empty title="The result appears here.">
            With the rule, the risk score, and what each condition saw. Nothing is recorded, and nothing runs.
          </Empty>
        )}
      </div>
    </div>
  )
}

/** Faults of the request, beyond the message of the service. */
function Details({ of }: { of: readonly { path: string; message: string }[] }) {
  if (of.length < 2) return null
  return (
    <ul class="bullets">
      {of.map(({ path, message }) => (
        <li key={path + message}>
          <Code of={path} /> <Text of={message} />
        </li>
      ))}
    </ul>
  )
}

function Question({ state, actions, texts }: DryRunProps) {
  const { may } = useConsole()
  const { form, change, ask, faults, isBusy } = state
  const submit = (event: Event): void => {
    event.preventDefault()
    if (!isBusy) void ask()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
  }
  return (
    <form class="card question" onSubmit={submit} onKeyDown={onKeyDown} noValidate>
      <h2>What would be decided?</h2>
      <TextField
        label="Action"
        value={form.action}
        suggestions={actions}
        placeholder={actions[0] ?? 'payment.transfer'}
        maxLength={128}
        autoComplete="off"
        isMono
        fault={faults.action?.text}
        onValue={(action) => change({ action })}
      />
      <JsonField
        label="Context (JSON)"
        value={form.context}
        fault={faults.context}
        rows={7}
        onValue={(context) => change({ context })}
      />
      <JsonField
        label="Plan (JSON, optional)"
        value={form.plan}
        fault={faults.plan}
        rows={3}
        onValue={(plan) => change({ plan })}
      />
      <TextField
        label="Agent (optional)"
        hint="The identity of a key, or the id of a key without one. Its earlier allowed actions count for limits over time."
        value={form.agent}
        maxLength={256}
        autoComplete="off"
        onValue={(agent) => change({ agent })}
      />
      <Draft state={state} texts={texts} />
      <div class="row">
        <Button text={isBusy ? 'Asking…' : 'Ask'} type="submit" look="primary" aria-disabled={isBusy} />
        {state.isDraft && may('replayPolicies') && (
          <Link to={replayAddress()} class="button">
            Try on yesterday
          </Link>
        )}
        <span class="muted small">
          Nothing is recorded.{' '}
          <span class="by-keyboard">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> asks too.
          </span>
        </span>
      </div>
    </form>
  )
}

interface JsonFieldProps {
  label: string
  value: string
  fault: TextFault | undefined
  rows: number
  onValue: (value: string) => void
}

/** A field for JSON. The caret moves to a fault. */
function JsonField({ label, value, fault, rows, onValue }: JsonFieldProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (fault === undefined) return
    area.current?.focus()
    area.current?.setSelectionRange(fault.index, fault.index + 1)
  }, [fault])
  return (
    <Field label={label} fault={fault?.text}>
      {(control) => (
        <textarea
          {...control}
          ref={area}
          class="mono"
          rows={rows}
          value={value}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
