import type { JsonObject } from '../../base/json.ts'
import { ROUTES, type RouteRule } from '../../keys/routes.ts'
import { isLane, SYSTEM_CHAIN } from '../chain.ts'
import { type EventType, isReservedType } from '../events.ts'
import type { Who } from './actors.ts'

/** Rules for the entries of a type: subject, place and actor. */
export interface Rule {
  /** Section names, without those that only some have. */
  sections: readonly string[]
  in: 'anywhere' | 'system' | 'tenants'
  /** True where it may stand in a lane, which holds what changes no record. */
  inLanes?: true
  /** True where its data is judged: that of others can be large, or is the caller's. */
  isRead: boolean
  /** Actors that cause it, by the kind of record that it changes; `none` for those that change none. */
  by: Readonly<Partial<Record<RecordName, Who>>>
}
export type RecordName = 'tenant' | 'key' | 'signingKey' | 'policy' | 'switch' | 'approval' | 'none'

const DATA = ['actor', 'data'] as const
const ruleIn =
  (where: Rule['in']) =>
  (by: Rule['by'], isRead = by.none === undefined): Rule => ({ sections: DATA, in: where, isRead, by })
const [anywhere, system, tenants] = [ruleIn('anywhere'), ruleIn('system'), ruleIn('tenants')]

const inLanes = (rule: Rule): Rule => ({ ...rule, inLanes: true })

const HOST: Who = { host: true }
const SERVICE: Who = { service: true }
const key = (route: RouteRule): Who => ({ key: route })
const manager = (route: RouteRule): Who => ({ host: true, key: route, toTestKeys: true })

/** The rule of each type of the service; the roles are those of the routes that cause them. */
const TYPE_RULES: Readonly<Record<Exclude<EventType, 'gate.decision'>, Rule>> = {
  'approval.requested': tenants({ approval: key(ROUTES.check) }),
  'approval.approved': tenants({ approval: key(ROUTES.approve) }),
  'approval.rejected': tenants({ approval: key(ROUTES.reject) }),
  'approval.expired': tenants({ approval: SERVICE }),
  'approval.cancelled': tenants({ approval: { service: true, key: ROUTES.getApproval } }),
  'approval.consumed': tenants({ approval: key(ROUTES.check) }),
  'outcome.recorded': inLanes(tenants({ none: key(ROUTES.outcome) }, true)),
  'outcome.missing': inLanes(tenants({ none: SERVICE })),
  // A stop is written as soon as it can be, though its key was ended meanwhile.
  'killswitch.triggered': anywhere({ switch: { host: true, key: ROUTES.trigger, evenEnded: true } }),
  'killswitch.recovered': anywhere({ switch: { host: true, key: ROUTES.recover } }),
  'key.created': anywhere({ key: manager(ROUTES.createKey), signingKey: { host: true, service: true } }),
  'key.revoked': anywhere({ key: manager(ROUTES.revokeKey), signingKey: HOST }),
  'key.rotated': anywhere({ key: manager(ROUTES.rotateKey), signingKey: HOST }),
  'session.started': anywhere({ none: key(ROUTES.openSession) }, true),
  'session.ended': anywhere({ none: SERVICE }),
  'tenant.created': system({ tenant: HOST }),
  'tenant.changed': system({ tenant: HOST }),
  'policy.loaded': tenants({ policy: { host: true, service: true, key: ROUTES.reloadPolicies } }),
  'policy.rejected': tenants({ none: { service: true, key: ROUTES.reloadPolicies } }),
  'policy.shadowed': tenants({ none: { service: true, key: ROUTES.reloadPolicies } }),
  'policy.replayed': tenants({ none: { host: true, key: ROUTES.sealReplay } }),
  'policy.compared': tenants({ none: HOST }),
  'policy.overridden': tenants({ none: HOST }),
  'policy.promoted': tenants({ none: HOST }),
  'auth.refused': anywhere({ none: SERVICE }),
  'audit.genesis': inLanes(anywhere({ none: SERVICE })),
  'audit.checkpoint': system({ none: SERVICE }),
  'audit.redaction': inLanes(anywhere({ none: HOST })),
  'audit.prune': inLanes(anywhere({ none: HOST })),
  'audit.restored': system({ none: HOST }),
  'audit.verified': system({ none: SERVICE }),
  'clock.regression': inLanes(anywhere({ none: SERVICE })),
}

/** The rule of the types of callers. */
const NOTE_RULE: Rule = inLanes(tenants({ none: key(ROUTES.auditLog) }))

/** True where entries of the rule may stand. */
export function mayStand(rule: Rule, chain: string): boolean {
  if (isLane(chain)) return rule.inLanes === true
  return rule.in === 'anywhere' || (rule.in === 'system') === (chain === SYSTEM_CHAIN)
}

/** True for types that may stand in lanes. */
export function mayStandInLane(type: string): boolean {
  return ruleOf(type)?.inLanes === true
}

/** The rule of a type; undefined for decisions, and for types that only the service could have. */
export function ruleOf(type: string): Rule | undefined {
  if (Object.hasOwn(TYPE_RULES, type)) return TYPE_RULES[type as keyof typeof TYPE_RULES]
  return type === 'gate.decision' || isReservedType(type) ? undefined : NOTE_RULE
}

/** The kind of record that the entry says it changes. @param data its section */
export function recordNameOf({ by }: Rule, data: JsonObject): RecordName | undefined {
  if (by.none !== undefined) return 'none'
  return (Object.keys(by) as RecordName[]).find((name) => name === data.record)
}
