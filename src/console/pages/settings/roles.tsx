import type { Role } from '../../../client/api.ts'

/** Roles for keys of a tenant, least powerful first. */
export const ROLES = ['agent', 'approver', 'auditor', 'operator', 'owner'] as const satisfies readonly Role[]

const MAY: Record<(typeof ROLES)[number], string> = {
  agent: 'asks whether it may act, reports outcomes, and sees its own approvals',
  approver: 'sees all held requests, and approves or rejects them',
  auditor: 'reads decisions, the audit trail, evidence, policies, keys and usage; changes nothing',
  operator: 'triggers and ends stops, and reloads policies',
  owner: 'may do everything in the tenant, and creates and revokes keys',
}

interface RolesProps {
  value: readonly Role[]
  onValue: (roles: Role[]) => void
  fault: string | undefined
}

export function Roles({ value, onValue, fault }: RolesProps) {
  const toggle = (role: Role): void =>
    onValue(value.includes(role) ? value.filter((each) => each !== role) : [...value, role])
  return (
    <fieldset class="roles" aria-describedby={fault && 'roles-fault'}>
      <legend>Roles</legend>
      {ROLES.map((role) => (
        <label key={role}>
          <input type="checkbox" checked={value.includes(role)} onChange={() => toggle(role)} />
          <span>
            <strong>{role}</strong> <span class="muted">{MAY[role]}</span>
          </span>
        </label>
      ))}
      {fault && (
        <p class="fault" id="roles-fault" role="alert">
          {fault}
        </p>
      )}
      {value.includes('owner') && (
        <p class="notice small">
          <strong>An owner can do everything here</strong>, including creating keys and stopping the whole tenant.
          Agents need only the role agent.
        </p>
      )}
    </fieldset>
  )
}
