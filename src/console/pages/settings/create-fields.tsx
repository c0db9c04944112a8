import type { ListedKey } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { useConsole } from '../../data/console.ts'
import { Choice, TextField } from '../../ui/field.tsx'
import { zoneName } from '../../ui/local-time.ts'
import { Text } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { type Draft, EXPIRIES, expiresAtOf, faultOf, groupsOf } from './draft.ts'
import { Roles } from './roles.tsx'

/** Limit of the service, in characters. */
const MAX_LABEL = 128
/** Roles whose keys vote on approvals. */
const VOTING = ['approver', 'owner']
/** Limit of suggested groups. */
const MAX_SUGGESTED = 100

interface FieldsProps {
  draft: Draft
  onChange: (changed: Partial<Draft>) => void
  error: GateError | undefined
  hasTried: boolean
  /** Existing keys, whose groups are suggested. */
  keys: readonly ListedKey[]
}

export function Fields({ draft, onChange, error, hasTried, keys }: FieldsProps) {
  const groups = groupsOf(draft.groups)
  return (
    <>
      <TextField
        label="Name (optional)"
        value={draft.name}
        onValue={(name) => onChange({ name })}
        maxLength={MAX_LABEL}
        autoComplete="off"
        hint="A label to find the key by, such as billing-bot."
        fault={faultOf(error, 'name')}
      />
      <Roles
        value={draft.roles}
        onValue={(roles) => onChange({ roles })}
        fault={hasTried && draft.roles.length === 0 ? 'Choose at least one.' : faultOf(error, 'roles')}
      />
      <EnvironmentField draft={draft} onChange={onChange} />
      <TextField
        label="Identity (optional)"
        value={draft.identity}
        onValue={(identity) => onChange({ identity })}
        maxLength={MAX_LABEL}
        autoComplete="off"
        hint="Holder of the key. Approvals by keys of one identity count once, and an identity cannot approve its own requests."
        fault={faultOf(error, 'identity')}
      />
      {draft.roles.some((role) => VOTING.includes(role)) && draft.identity.trim() === '' && (
        <p class="notice small" role="status">
          <strong>Approvers would be unknown.</strong> Without an identity, votes count for the key alone, and nobody
          checks the name given with them. Enter the name of the person who holds the key.
        </p>
      )}
      <TextField
        label="Groups (optional)"
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
        suggestions={suggestedFor(draft.groups, keys)}
        fault={faultOf(error, 'groups')}
      />
      <ExpiryFields draft={draft} onChange={onChange} error={error} />
    </>
  )
}

const ENVIRONMENTS = [
  ['live', 'live'],
  ['test', 'test'],
] as const

function EnvironmentField({ draft, onChange }: Pick<FieldsProps, 'draft' | 'onChange'>) {
  const isTest = useConsole().who.environment === 'test'
  return (
    <Choice
      label="Environment"
      value={draft.environment}
      options={isTest ? ENVIRONMENTS.slice(1) : ENVIRONMENTS}
      onValue={(environment) => onChange({ environment })}
      hint={
        isTest
          ? 'A test key creates only test keys.'
          : 'Requests of test keys are decided and recorded separately from those of live keys.'
      }
    />
  )
}

function ExpiryFields({ draft, onChange, error }: Pick<FieldsProps, 'draft' | 'onChange' | 'error'>) {
  const fault = faultOf(error, 'expiresAt')
  const end = expiresAtOf(draft)
  const isDate = draft.expiry === 'date'
  return (
    <>
      <Choice
        label="Expires"
        value={draft.expiry}
        options={EXPIRIES}
        onValue={(expiry) => onChange({ expiry })}
        hint={
          end ? (
            <>
              It ends <Time at={end} />.
            </>
          ) : (
            'A forgotten key does no harm once it has expired.'
          )
        }
        fault={isDate ? undefined : fault}
      />
      {isDate && (
        <TextField
          label={`Last day (${zoneName()})`}
          type="date"
          value={draft.lastDay}
          onValue={(lastDay) => onChange({ lastDay })}
          isRequired
          fault={fault}
        />
      )}
    </>
  )
}

/** Groups of other keys, each as the field's full value with it: browsers match suggestions against the whole input. */
function suggestedFor(text: string, keys: readonly ListedKey[]): string[] {
  const before = text.slice(0, text.lastIndexOf(',') + 1)
  const taken = groupsOf(before)
  const known = new Set(keys.flatMap(({ groups }) => groups))
  return [...known]
    .filter((group) => !taken.includes(group) && !group.includes(','))
    .sort()
    .slice(0, MAX_SUGGESTED)
    .map((group) => (before === '' ? group : `${before} ${group}`))
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
