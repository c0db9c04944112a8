/** Every type of entry that the service itself writes. Callers add their own through the audit log. */
export const EVENT_TYPES = [
  'gate.decision',
  'approval.requested',
  'approval.approved',
  'approval.rejected',
  'approval.expired',
  'approval.cancelled',
  'approval.consumed',
  'killswitch.triggered',
  'killswitch.recovered',
  'key.created',
  'key.revoked',
  'tenant.created',
  'tenant.changed',
  'policy.loaded',
  'policy.rejected',
  'auth.refused',
  'audit.genesis',
  'clock.regression',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** The types whose `data` changes a record (docs/format.md, State follows from the chain). */
export const STATE_EVENTS: readonly EventType[] = EVENT_TYPES.filter(
  (type) => /^(approval|killswitch|key|tenant)\./.test(type) || type === 'policy.loaded',
)

/** First segments that callers may not use, so that no caller's entry can be taken for one of ours. */
export const RESERVED_PREFIXES = [
  'gate',
  'approval',
  'killswitch',
  'key',
  'policy',
  'audit',
  'log',
  'clock',
  'tenant',
  'system',
  'config',
  'session',
  'grant',
  'outcome',
  'webhook',
  'evidence',
  'auth',
] as const

export function isReservedType(eventType: string): boolean {
  return RESERVED_PREFIXES.some((prefix) => eventType.startsWith(`${prefix}.`))
}
