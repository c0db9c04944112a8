import type { Environment, Role } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { type Expiry, expiresAtOf } from './expiry.tsx'

/** The input for a new key. */
export interface Draft {
  name: string
  roles: readonly Role[]
  environment: Environment
  identity: string
  /** Separated by commas. */
  groups: string
  expiry: Expiry
}

export const EMPTY: Omit<Draft, 'environment'> = {
  name: '',
  roles: [],
  identity: '',
  groups: '',
  expiry: { kind: 'none', date: '' },
}

/** The request for the service. */
export function requestOf({ name, roles, environment, identity, groups, expiry }: Draft) {
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

export function groupsOf(text: string): string[] {
  return [...new Set(text.split(',').map((group) => group.trim()))].filter((group) => group !== '')
}

const FIELDS = ['name', 'roles', 'identity', 'groups', 'expiresAt'] as const

/** True if the service rejects one of the fields. */
export function isOfAField(error: GateError): boolean {
  return FIELDS.some((field) => faultOf(error, field) !== undefined)
}

/** The service's fault in a field. */
export function faultOf(error: GateError | undefined, field: (typeof FIELDS)[number]): string | undefined {
  const found = error?.details.find(({ path }) => path === `/${field}` || path.startsWith(`/${field}/`))
  return found && `It ${found.message}.`
}
