import { ALL, type Role } from './roles.ts'
import { ROUTES } from './routes.ts'

/**
 * Roles besides owner and admin that receive events from `GET /events`, by the first segment of their type; other
 * events go to nobody. Agents receive their own approvals and decisions only.
 */
export const EVENT_ROLES = {
  approval: ['agent', 'approver', 'auditor'],
  gate: ['agent', 'auditor'],
  outcome: ['auditor', 'operator'],
  killswitch: ['agent', 'approver', 'auditor', 'operator'],
  policy: ['approver', 'auditor', 'operator'],
} as const satisfies Record<string, readonly Role[]>

/** First segment of the event types that are streamed. */
export type EventGroup = keyof typeof EVENT_ROLES

/** Types that tell of policies which are not in force; roles that may not ask for these do not receive them. */
const OF_OTHERS: readonly string[] = [
  ...['policy.shadowed', 'policy.replayed', 'policy.compared'],
  ...['policy.overridden', 'policy.promoted'],
]

/** @param type of the event, where the roles of its group do not decide alone */
export function mayReceive(group: EventGroup, roles: readonly Role[], type = ''): boolean {
  const told: readonly Role[] = OF_OTHERS.includes(type) ? ROUTES.shadowPolicies.roles : EVENT_ROLES[group]
  return roles.some((role) => ALL.includes(role) || told.includes(role))
}

/** True for roles that receive the events of every agent in the tenant. */
export function mayReceiveAll(group: 'approval' | 'gate', roles: readonly Role[]): boolean {
  return mayReceive(
    group,
    roles.filter((role) => role !== 'agent'),
  )
}
