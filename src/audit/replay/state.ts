import { type Approval, isOpenStatus } from '../../approvals/approval.ts'
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { ApiKey } from '../../keys/apikey.ts'
import { isInForce, type KillSwitch, type PlacedStop } from '../../killswitch/killswitch.ts'
import { readApproval, readKey, readStop } from './forms.ts'
import type { RuleName } from './place.ts'

/** Knowledge about the entries that are not replayed. Anything that depends on others cannot be judged. */
export interface Knowledge {
  /** All earlier entries of the chain. */
  own: boolean
  /** Keys and stops of `_system`, and for a test chain the live keys of its tenant. */
  others: boolean
}

/** A decision that the next entries of its commit refer to. */
export interface Decided {
  seq: number
  id: string
  keyId: string
  agent: string
  action: string
  domain: string | null
  decision: string
  approvalId: string | null
  /** True when the approval that it uses may be one that was erased. */
  usesUnknown: boolean
}

/** A key that the entry before gave its end, as it was until then. */
interface Rotated {
  seq: number
  before: ApiKey
  successor: string
  /** The key that did it; null for the host. */
  by: string | null
}

/** Records made by the replayed entries: keys, stops, open approvals. It grows with these alone. */
export interface State {
  readonly chain: string
  readonly knows: Knowledge
  readonly keys: Map<string, ApiKey>
  readonly stops: Map<string, PlacedStop>
  /** All of them, and those in force. */
  placed: readonly PlacedStop[]
  inForce: readonly PlacedStop[]
  /** The open ones, without their requests, which may be large. */
  readonly approvals: Map<string, Approval>
  /** Tenants, policy sets in force and signing keys, by kind and id. */
  readonly others: Map<string, JsonObject>
  /** Digests of policy sets that were loaded, and not only to be observed. */
  readonly enforced: Set<string>
  /** The decision at the start of this commit. */
  decided: Decided | undefined
  rotated: Rotated | undefined
  /** In `_system`: how many entries each other chain had at the newest change that is placed among them. */
  readonly lengths: Map<string, number>
  /** Checks that need what is not known. */
  unjudged: number
}

export function emptyState(chain: string, knows: Knowledge): State {
  return {
    chain,
    knows,
    keys: new Map(),
    stops: new Map(),
    placed: [],
    inForce: [],
    approvals: new Map(),
    others: new Map(),
    enforced: new Set(),
    decided: undefined,
    rotated: undefined,
    lengths: new Map(),
    unjudged: 0,
  }
}

/** The change of a record that an entry tells. */
export interface Change {
  record: string
  id: string
  changes: JsonObject
}

export function changeIn(data: JsonObject | undefined): Change | undefined {
  if (data === undefined || !isJsonObject(data.changes)) return undefined
  const { record, id, changes } = data
  return typeof record === 'string' && typeof id === 'string' ? { record, id, changes } : undefined
}

/** The record as it is known; undefined before it was made. */
export function recordOf({ keys, stops, approvals, others }: State, kind: string, id: string): object | undefined {
  if (kind === 'key') return keys.get(id)
  if (kind === 'switch') return stops.get(id)
  return kind === 'approval' ? approvals.get(id) : others.get(`${kind} ${id}`)
}

/** The record after the change; undefined when it has no form that the service gives it. */
export function changedRecord(state: State, { record, id, changes }: Change): JsonObject | undefined {
  const { lengths: _, ...before } = (recordOf(state, record, id) ?? {}) as { lengths?: object }
  const after = { ...before, ...changes } as JsonObject
  return after.id === id ? after : undefined
}

/**
 * Takes a record in as the entries have left it, whether they may have or not.
 *
 * @param seq place of the change among the entries of the chain
 */
export function putRecord(state: State, kind: string, body: JsonObject, seq: number): void {
  if (kind === 'key') putKey(state, readKey(body))
  else if (kind === 'switch') putStop(state, readStop(body), seq)
  else if (kind === 'approval') putApproval(state, readApproval(body))
  else state.others.set(`${kind} ${String(body.id)}`, body)
}

function putKey({ keys }: State, key: ApiKey | undefined): void {
  if (key !== undefined) keys.set(key.id, key)
}

function putStop(state: State, stop: KillSwitch | undefined, seq: number): void {
  if (stop === undefined) return
  const lengths = state.stops.get(stop.id)?.lengths ?? { [state.chain]: seq }
  state.stops.set(stop.id, { ...stop, lengths })
  state.placed = [...state.stops.values()]
  state.inForce = state.placed.filter(isInForce)
}

function putApproval({ approvals }: State, approval: Approval | undefined): void {
  if (approval === undefined) return
  if (isOpenStatus(approval.status)) approvals.set(approval.id, { ...approval, context: {}, plan: null, factors: [] })
  else approvals.delete(approval.id)
}

/** A broken rule, as a sentence without its first capital and its full stop. */
export interface Fault {
  rule: RuleName
  what: string
}

export function broken(rule: RuleName, what: string): Fault {
  return { rule, what }
}

/** The names of the members, as one text to compare. */
export function namesOf(object: JsonObject | Record<string, Json>): string {
  return Object.keys(object).sort().join(' ')
}
