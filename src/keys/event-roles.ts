import { ALL, type Role } from './roles.ts'

/**
 * Which roles besides owner and admin `GET /events` tells of which events, by the first segment of their type; other
 * events it tells nobody. An agent is told of its own approvals and decisions only.
 */
export const EVENT_ROLES = {
  approval: ['agent', 'approver', 'auditor'],
  gate: ['agent', 'auditor'],
  outcome: ['auditor', 'operator'],
  killswitch: ['agent', 'approver', 'auditor', 'operator'],
  policy: ['approver', 'auditor', 'operator'],
} as const satisfies Record<string, readonly Role[]>

/** First segment of the types of events that are told. */
export type EventGroup = keyof typeof EVENT_ROLES

export function mayReceive(group: EventGroup, roles: readonly Role[]): boolean {
  const told: readonly Role[] = EVENT_ROLES[group]
  return roles.some((role) => ALL.includes(role) || told.includes(role))
}

/** True for roles that are told of what every agent of the tenant does. */
export function mayReceiveAll(group: 'approval' | 'gate', roles: readonly Role[]): boolean {
  return mayReceive(
    group,
    roles.filter((role) => role !== 'agent'),
  )
}
