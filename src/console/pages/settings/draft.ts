import type { Environment, Role } from '../../../client/api.ts'
import type { GateError } from '../../../client/errors.ts'
import { serverNow } from '../../data/clock.ts'

const DAY_MS = 86_400_000

export const EXPIRIES = [
  ['none', 'Never'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['date', 'On a date…'],
] as const

export interface Draft {
  name: string
  roles: readonly Role[]
  environment: Environment
  identity: string
  /** Separated by commas. */
  groups: string
  /** The end of the key: never, after some days, or with a calendar day. */
  expiry: (typeof EXPIRIES)[number][0]
  /** `2026-12-31`, if `expiry` is `date`. */
  lastDay: string
}

export const EMPTY: Omit<Draft, 'environment'> = {
  name: '',
  roles: [],
  identity: '',
  groups: '',
  expiry: 'none',
  lastDay: '',
}

export function requestOf({ name, roles, environment, identity, groups, ...end }: Draft) {
  const expiresAt = expiresAtOf(end)
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

/** RFC 3339; undefined for a key without an end, or without a date yet. */
export function expiresAtOf({ expiry, lastDay }: Pick<Draft, 'expiry' | 'lastDay'>): string | undefined {
  if (expiry === 'none') return undefined
  const end = expiry === 'date' ? new Date(`${lastDay}T23:59:59`) : new Date(serverNow() + Number(expiry) * DAY_MS)
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString()
}

const FIELDS = ['name', 'roles', 'identity', 'groups', 'expiresAt'] as const

/** True if the service rejects one of the fields. */
export function isOfAField(error: GateError): boolean {
  return FIELDS.some((field) => faultOf(error, field) !== undefined)
}

export function faultOf(error: GateError | undefined, field: (typeof FIELDS)[number]): string | undefined {
  const found = error?.details.find(({ path }) => path === `/${field}` || path.startsWith(`/${field}/`))
  return found && `It ${found.message}.`
}
