import { SYSTEM_CHAIN, trailOf } from './chain.ts'

/** Every entry type of the service itself, and what it records. Callers add their own through the audit log. */
export const EVENTS = {
  'gate.decision': 'a check was decided; `data` holds action and decision',
  'approval.requested': 'an action is held for a person',
  'approval.approved': 'a vote for a held request; with the last one of the quorum it is approved',
  'approval.rejected': 'a held request was refused',
  'approval.expired': 'a held request passed its deadline',
  'approval.cancelled': 'a stop, or a person, cancelled an approval before it was used',
  'approval.consumed': 'an approval was used by the action that it covers',
  'outcome.recorded': 'the outcome of an action after its decision, as reported by its agent',
  'outcome.missing': 'an allowed action whose agent reports outcomes got none in time: the gate may have been bypassed',
  'killswitch.triggered': 'a stop was put in force, or repeated',
  'killswitch.recovered': 'a stop was ended',
  'key.created': 'a key was made',
  'key.revoked': 'a key was ended',
  'key.rotated': 'a key was replaced by a new one of the same holder, and given an end',
  'session.started': 'a browser was signed in with a key, or with a code that the key made',
  'session.ended': 'a browser was signed out; `why` says by what',
  'tenant.created': 'a tenant was made',
  'tenant.changed': 'the plan of a tenant was changed',
  'policy.loaded': 'a policy set came into force',
  'policy.rejected': 'a policy set had faults and did not come into force',
  'policy.shadowed':
    'a policy set came into shadow beside the one in force, or left it; `data` has its digest, or null',
  'policy.replayed': 'a draft was tried on recorded requests; `data` has on which, by what, and what would change',
  'policy.compared':
    'two policy sets were compared; `data` has the differences in meaning that were found, and in how many',
  'policy.overridden':
    'a policy set may come into force without the replay that the settings require; `data` has the reason',
  'policy.promoted': 'a set in shadow is put in force; `data` has what it had said beside the decisions until then',
  'auth.refused': 'requests of one key were refused (401, 403), counted by the minute',
  'audit.genesis': 'the first entry of a chain',
  'audit.checkpoint': 'the heads of chains were signed',
  'audit.redaction': 'sections of entries were erased',
  'audit.prune': 'the oldest entries were archived and deleted',
  'audit.restored': 'the trail was accepted as it is, although anchors contradict it or checkpoints are missing',
  'audit.verified': 'the service verified its own chains',
  'clock.regression': 'the clock of the machine was set back',
} as const

export type EventType = keyof typeof EVENTS
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]

export function isOfApproval(type: string): boolean {
  return type.startsWith('approval.')
}
export const APPROVAL_EVENTS = EVENT_TYPES.filter(isOfApproval)

/** The types whose `data` changes a record (docs/format.md, State follows from the chain). */
export const STATE_EVENTS: readonly EventType[] = EVENT_TYPES.filter(
  (type) => /^(approval|killswitch|key|tenant)\./.test(type) || type === 'policy.loaded',
)

const PLACED_EVENTS: readonly string[] = STATE_EVENTS.filter((type) => /^(killswitch|key)\./.test(type))

/** True for changes of keys and stops, which count in other chains: they record the lengths of those. */
export function isPlaced(type: string, recordOf: () => unknown): boolean {
  return PLACED_EVENTS.includes(type) && recordOf() !== 'signingKey'
}

/** True when entries of `chain` count in the other: those of `_system` everywhere, those of a trail in its lanes. */
export function countsIn(chain: string, other: string): boolean {
  return other !== chain && (chain === SYSTEM_CHAIN || trailOf(other) === chain)
}

const RELEASING_EVENTS: readonly EventType[] = [
  'approval.approved',
  'approval.consumed',
  'killswitch.recovered',
  'key.created',
  'key.rotated',
  'session.started',
  'tenant.created',
  'tenant.changed',
  'policy.loaded',
  'policy.replayed',
  'policy.overridden',
  'audit.checkpoint',
]

/** True for an entry by which more may be done than before, or is vouched for; others restrain, or only tell. */
export function isReleasing(type: string): boolean {
  return RELEASING_EVENTS.some((releasing) => releasing === type)
}

/** First segments reserved for the service, so that no caller's entry passes for one of ours: used ones and others. */
const RESERVED_PREFIXES = [
  ...EVENT_TYPES.map((type) => type.split('.')[0]),
  ...['log', 'system', 'config', 'grant', 'webhook', 'evidence'],
]

/** Types are ASCII, so that only case and the sign behind the first word can imitate a reserved one. */
export function isReservedType(eventType: string): boolean {
  const [first = ''] = eventType.toLowerCase().split(/[.:/]/, 1)
  return RESERVED_PREFIXES.some((prefix) => first === prefix)
}
