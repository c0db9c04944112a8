import { chainOf, SYSTEM_CHAIN } from '../../audit/chain.ts'
import { isJsonObject, type Json, type JsonObject, readJson } from '../../base/json.ts'
import { EVIDENCE_JSON } from '../../evidence/envelope.ts'
import { isAdmin, type Role } from '../../keys/roles.ts'
import { GLOBAL } from '../../killswitch/killswitch.ts'
import { applyChange, type ChangeData, type RecordKind } from '../records.ts'

/** Entry types that may change a record, and their chain (docs/format.md, State follows from the chain). */
interface Origin {
  types: RegExp
  /** Chain of all changes of a record; undefined when its members do not determine one. */
  chain(record: JsonObject): string | undefined
}

const ORIGINS: Readonly<Record<RecordKind, Origin>> = {
  tenant: { types: /^tenant\.(?:created|changed)$/, chain: () => SYSTEM_CHAIN },
  key: { types: /^key\.(?:created|revoked|rotated)$/, chain: chainOfKey },
  signingKey: { types: /^key\.(?:created|revoked|rotated)$/, chain: () => SYSTEM_CHAIN },
  policy: { types: /^policy\.loaded$/, chain: ({ id }) => chainOf(String(id), 'live') },
  switch: {
    types: /^killswitch\.(?:triggered|recovered)$/,
    chain: ({ target }) => (target === GLOBAL ? SYSTEM_CHAIN : textOf(target)),
  },
  approval: { types: /^approval\./, chain: ({ chain }) => textOf(chain) },
}

/** Records as the chains define them, by kind and id. */
export type Folded = Record<RecordKind, Map<string, JsonObject>>

/**
 * Applies one entry's `data`. Merging an entry that may not change the record would let a writer of one tenant's chain
 * create an admin key.
 *
 * @returns the fault, or undefined
 */
export function applyEntry(folded: Folded, chain: string, type: string, json: string): string | undefined {
  const change = readChange(json)
  if (change === undefined) return 'its data is not the change of a record'
  const { types, chain: expected } = ORIGINS[change.record]
  if (!types.test(type)) return `an entry ${type} does not change a ${change.record}`
  const records = folded[change.record]
  const before = records.get(change.id)
  const record = applyChange(before, change)
  if (record.id !== change.id) return `the ${change.record} ${change.id} has another id inside`
  // The record before the change counts too: moving to another chain must not bring the rights of that chain.
  if (expected(record) !== chain || (before !== undefined && expected(before) !== chain)) {
    return `the ${change.record} ${change.id} does not belong to this chain`
  }
  records.set(change.id, record)
  return undefined
}

/**
 * Adds a record as pruned entries left it; no other entry may have set it before.
 *
 * @returns the fault, or undefined
 */
export function applyState(
  folded: Folded,
  chain: string,
  { record, id, body }: { record: string; id: string; body: JsonObject },
): string | undefined {
  const kind = kindOf(record)
  if (kind === undefined || kind === 'approval') return `it cannot hold a ${record}`
  const isOurs = body.id === id && ORIGINS[kind].chain(body) === chain
  if (!isOurs || folded[kind].has(id)) return `the ${kind} ${id} does not belong to this chain`
  folded[kind].set(id, body)
  return undefined
}

/** Reads the change in an entry's `data`; undefined when it is not the change of a record. */
export function readChange(json: string): ChangeData | undefined {
  const data = readJson(json, EVIDENCE_JSON)
  if (!isJsonObject(data) || !isJsonObject(data.changes) || typeof data.id !== 'string') return undefined
  const kind = kindOf(data.record)
  return kind && { record: kind, id: data.id, changes: data.changes }
}

function kindOf(name: Json | undefined): RecordKind | undefined {
  return Object.keys(ORIGINS).find((kind): kind is RecordKind => kind === name)
}

function chainOfKey({ roles, tenantId, environment }: JsonObject): string | undefined {
  if (!Array.isArray(roles)) return undefined
  // isAdmin only looks for one name, so any other text among the roles does no harm.
  if (isAdmin(roles as Role[]) || tenantId === null) return SYSTEM_CHAIN
  return environment === 'live' || environment === 'test' ? chainOf(String(tenantId), environment) : undefined
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
