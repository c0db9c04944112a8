import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Environment, Role } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, TextField } from '../../ui/field.tsx'
import { useSecret } from '../../ui/secret.tsx'
import { Text } from '../../ui/text.tsx'
import { NoSecret, useAct } from './act.tsx'
import { type Expiry, ExpiryFields, expiresAtOf } from './expiry.tsx'
import { Roles } from './roles.tsx'

/** What the service takes, in characters. */
const MAX_LABEL = 128

interface CreateDialogProps {
  onClose: () => void
  /** There may be a key, and there may be none. */
  onUnsure: () => void
}

/** Makes a key. What was entered stays until there is one. */
export function CreateDialog({ onClose, onUnsure }: CreateDialogProps) {
  const { gate, who } = useConsole()
  const show = useSecret()
  const [draft, setDraft] = useState<Draft>({ ...EMPTY, environment: who.environment })
  const [hasTried, setHasTried] = useState(false)
  const change = (changed: Partial<Draft>): void => setDraft((last) => ({ ...last, ...changed }))
  const { isBusy, error, run } = useAct(async () => {
    const made = await gate.keys.create(requestOf(draft))
    onClose()
    show({ made })
  }, onUnsure)
  const form = useRef<HTMLFormElement>(null)
  // Where something is wrong may be out of sight.
  useEffect(() => {
    form.current?.querySelector('.fault')?.parentElement?.querySelector<HTMLElement>('input, select')?.focus()
  }, [error, hasTried])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setHasTried(true)
    if (draft.roles.length > 0) void run()
  }
  return (
    <Dialog title="Create new key" onClose={onClose}>
      <form ref={form} onSubmit={submit}>
        <Fields draft={draft} onChange={change} error={error} hasTried={hasTried} />
        {error && !isOfAField(error) && <NoSecret error={error} />}
        <footer>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={isBusy}>
            {isBusy ? 'Creating…' : 'Create key'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

interface Draft {
  name: string
  roles: readonly Role[]
  environment: Environment
  identity: string
  /** Separated by commas. */
  groups: string
  expiry: Expiry
}

const EMPTY: Omit<Draft, 'environment'> = {
  name: '',
  roles: [],
  identity: '',
  groups: '',
  expiry: { kind: 'none', date: '' },
}

function requestOf({ name, roles, environment, identity, groups, expiry }: Draft) {
  const expiresAt = expiresAtOf(expiry)
  const named = groupsOf(groups)
  return {
    roles: [...roles],
    environment,
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(identity.trim() !== '' && { identity: identity.trim() }),
    ...(named.length > 0 && { groups: named }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

function groupsOf(text: string): string[] {
  return [...new Set(text.split(',').map((group) => group.trim()))].filter((group) => group !== '')
}

interface FieldsProps {
  draft: Draft
  onChange: (changed: Partial<Draft>) => void
  error: GateError | undefined
  hasTried: boolean
}

function Fields({ draft, onChange, error, hasTried }: FieldsProps) {
  const groups = groupsOf(draft.groups)
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onValue={(name) => onChange({ name })}
        maxLength={MAX_LABEL}
        autoComplete="off"
        hint="By which it is found again, such as billing-bot."
        fault={faultOf(error, 'name')}
      />
      <Roles
        value={draft.roles}
        onValue={(roles) => onChange({ roles })}
        fault={hasTried && draft.roles.length === 0 ? 'Choose one at least.' : faultOf(error, 'roles')}
      />
      <EnvironmentField {...{ draft, onChange }} />
      <TextField
        label="Identity"
        value={draft.identity}
        onValue={(identity) => onChange({ identity })}
        maxLength={MAX_LABEL}
        autoComplete="off"
        hint="Who holds it. Approvals by keys of one identity count once, and nobody approves what one's own identity asked for."
        fault={faultOf(error, 'identity')}
      />
      <TextField
        label="Groups"
        value={draft.groups}
        onValue={(text) => onChange({ groups: text })}
        autoComplete="off"
        hint={
          groups.length === 0 ? (
            'Separated by commas. Policies can ask for approvers of a group.'
          ) : (
            <Groups of={groups} />
          )
        }
        fault={faultOf(error, 'groups')}
      />
      <ExpiryFields
        value={draft.expiry}
        onValue={(expiry) => onChange({ expiry })}
        fault={faultOf(error, 'expiresAt')}
      />
    </>
  )
}

function EnvironmentField({ draft, onChange }: Pick<FieldsProps, 'draft' | 'onChange'>) {
  const { who } = useConsole()
  const options = [
    ['live', 'live'],
    ['test', 'test'],
  ] as const
  return (
    <Choice
      label="Environment"
      value={draft.environment}
      options={who.environment === 'test' ? options.slice(1) : options}
      onValue={(environment) => onChange({ environment })}
      hint={
        who.environment === 'test'
          ? 'A test key makes test keys only.'
          : 'What test keys do is decided and recorded apart from what live keys do.'
      }
    />
  )
}

function Groups({ of }: { of: readonly string[] }) {
  return (
    <span class="row tight">
      {of.map((group) => (
        <span key={group} class="badge">
          <Text of={group} />
        </span>
      ))}
    </span>
  )
}

const FIELDS = ['name', 'roles', 'identity', 'groups', 'expiresAt'] as const

function isOfAField(error: GateError): boolean {
  return FIELDS.some((field) => faultOf(error, field) !== undefined)
}

/** What the service has against a field. */
function faultOf(error: GateError | undefined, field: (typeof FIELDS)[number]): string | undefined {
  const found = error?.details.find(({ path }) => path === `/${field}` || path.startsWith(`/${field}/`))
  return found && `It ${found.message}.`
}
