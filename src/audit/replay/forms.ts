import type { Approval, Vote } from '../../approvals/approval.ts'
import { APPROVAL_STATUSES } from '../../approvals/approval.ts'
import { ENVIRONMENTS } from '../../base/environment.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { parseTimestamp } from '../../base/time.ts'
import type { ApiKey } from '../../keys/apikey.ts'
import { ROLES } from '../../keys/roles.ts'
import { type KillSwitch, LEVELS } from '../../killswitch/killswitch.ts'

/** Forms of the contents of entries: the file may hold anything. */
type Form = (value: Json | undefined) => boolean
type Members<T> = Readonly<Record<keyof T & string, Form>>

export const text: Form = (value) => typeof value === 'string'
export const time: Form = (value) => typeof value === 'string' && parseTimestamp(value) !== undefined
const count: Form = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const number: Form = (value) => typeof value === 'number'
const flag: Form = (value) => typeof value === 'boolean'
const anything: Form = (value) => value !== undefined
const orNull =
  (form: Form): Form =>
  (value) =>
    value === null || form(value)
const orNone =
  (form: Form): Form =>
  (value) =>
    value === undefined || form(value)
const listOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form)
const oneOf =
  (names: readonly string[]): Form =>
  (value) =>
    typeof value === 'string' && names.includes(value)

/** True for an object with these members and no other. */
function fits(value: Json | undefined, members: Readonly<Record<string, Form>>): value is JsonObject {
  if (!isJsonObject(value)) return false
  return (
    Object.keys(value).every((name) => Object.hasOwn(members, name)) &&
    Object.entries(members).every(([name, form]) => form(Object.hasOwn(value, name) ? value[name] : undefined))
  )
}

const KEY: Members<ApiKey> = {
  id: text,
  revision: count,
  hash: text,
  tenantId: orNull(text),
  environment: oneOf(ENVIRONMENTS),
  roles: listOf(oneOf(ROLES)),
  identity: orNull(text),
  groups: listOf(text),
  name: orNull(text),
  createdAt: time,
  createdBy: text,
  expiresAt: orNull(time),
  revokedAt: orNull(time),
  rotatedFrom: orNone(text),
  rotatedBy: orNone(text),
  replacedBy: orNone(text),
}

const STOP: Members<KillSwitch> = {
  id: text,
  revision: count,
  level: oneOf(LEVELS),
  target: text,
  scope: text,
  patterns: listOf(text),
  reason: text,
  triggeredBy: text,
  triggeredAt: time,
  recoveredBy: orNull(text),
  recoveredAt: orNull(time),
  comment: orNull(text),
}

const VOTE: Members<Vote> = {
  keyId: text,
  principal: text,
  approverId: text,
  comment: orNull(text),
  votedAt: time,
  entryId: text,
}

const APPROVAL: Members<Approval> = {
  id: text,
  revision: count,
  chain: text,
  action: text,
  domain: orNull(text),
  status: oneOf(APPROVAL_STATUSES),
  createdAt: time,
  // Approvals of earlier versions have none, and no stop pauses them.
  requestedEnd: orNone(count),
  context: isJsonObject,
  plan: orNull(isJsonObject),
  decisionId: text,
  riskScore: number,
  factors: anything,
  reason: text,
  rule: orNull(text),
  explain: text,
  requestedBy: text,
  requestedByKey: text,
  quorum: count,
  selfApproval: flag,
  approvers: listOf(listOf(text)),
  unbound: listOf(text),
  votes: listOf((vote) => fits(vote, VOTE)),
  expiresAt: time,
  decidedAt: orNull(time),
  decidedEnd: orNull(count),
  digest: text,
}

/** Terms of the policy in force, under which an approval was used. */
const TERMS = { quorum: count, selfApproval: flag, approvers: listOf(listOf(text)) }
export type Terms = Pick<Approval, 'quorum' | 'selfApproval' | 'approvers'>

const read =
  <T>(members: Readonly<Record<string, Form>>) =>
  (value: Json | undefined): T | undefined =>
    // The form was checked member by member.
    fits(value, members) ? (value as unknown as T) : undefined

export const readKey = read<ApiKey>(KEY)
export const readStop = read<KillSwitch>(STOP)
export const readApproval = read<Approval>(APPROVAL)
export const readTerms = read<Terms>(TERMS)
