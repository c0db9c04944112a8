import * as Type from '#typebox'
import type { Actor } from '../../audit/draft.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import { isReservedType } from '../../audit/events.ts'
import { GateError } from '../../base/errors.ts'
import { ACTION_PATTERN } from '../../base/glob.ts'
import type { JsonObject } from '../../base/json.ts'
import { AnyJsonObject, requestBody } from '../../gate/request.ts'
import type { TrailQuery } from '../../store/queries.ts'
import { type Caller, type Deps, decideAndCommit } from '../deps.ts'
import { decidedOf, observedIn } from '../gate/answer.ts'
import { bindTo, earlierUse, type Idempotency } from '../idempotency.ts'
import { PAGE_BYTES, pageGiven, placeOf } from '../page.ts'

export const LogRequest = requestBody('LogRequest', {
  eventType: Type.String({ pattern: ACTION_PATTERN }),
  data: AnyJsonObject,
  userId: Type.Optional(Type.String({ maxLength: 256 })),
})
export type LogRequest = Type.Static<typeof LogRequest>

/** The sections that `entryView` reads: not the request, which may be large and is never shown here. */
export const SHOWN_SECTIONS = ['actor', 'data', 'decision', 'detail', 'grounds', 'risk']

export interface AuditQuery extends Omit<TrailQuery, 'before' | 'sections' | 'maxBytes'> {
  /** Only entries before this one, by its id. */
  before?: string | undefined
}

/** An entry as `GET /audit/chain` shows it. */
export function entryView(entry: StoredEntry) {
  const { id, chain, ts, type, seq, prev } = entry.header
  const decided = type === 'gate.decision' ? decidedOf(entry) : undefined
  const section = (name: string): JsonObject | null => sectionValue(entry, name) ?? null
  const detail = section('detail')
  const data = decided ? decisionData(decided) : detail ? { ...section('data'), ...detail } : section('data')
  const actor = decided
    ? { kind: 'key', id: decided.grounds.caller.keyId, roles: decided.grounds.caller.roles }
    : section('actor')
  return { id, timestamp: ts, eventType: type, data, hash: entry.hash, chain, seq, previousHash: prev, actor }
}

function decisionData({ decision, risk, grounds }: NonNullable<ReturnType<typeof decidedOf>>) {
  const { id, action, decision: outcome } = decision
  const { rule, reason, policyDigest } = grounds
  return { id, action, decision: outcome, ...observedIn(grounds), rule, reason, riskScore: risk.score, policyDigest }
}

/**
 * A page of a trail. A page of large entries ends early and states its own size as `limit`, so that `offset + limit` is
 * where the next page starts.
 */
export async function auditChain(deps: Deps, { before, ...query }: AuditQuery) {
  const { limit, offset } = query
  const { items, total } = await deps.store.trailPage({
    ...{ ...query, before: await placeOf(deps.store, query.trail, before) },
    ...{ sections: SHOWN_SECTIONS, maxBytes: PAGE_BYTES },
  })
  return { items: items.map(entryView), page: pageGiven({ limit, offset, total }, items.length) }
}

/** Writes a caller's own entry. @throws GateError `invalid_request` for a type that only the service writes */
export function logEntry(deps: Deps, caller: Caller, request: LogRequest, idempotency?: Idempotency) {
  const { eventType, data, userId } = request
  if (isReservedType(eventType)) {
    const message = `${eventType} is reserved for the service's own entries`
    throw new GateError('invalid_request', `${message}.`, { details: [{ path: '/eventType', message }] })
  }
  return decideAndCommit(deps.store, async () => {
    const earlier = await earlierUse(deps.store, caller, idempotency)
    const written = earlier && (await deps.store.entry(earlier.entryId))
    if (written !== undefined) return { submission: null, reply: async () => entryView(written) }
    const id = deps.newId('entry')
    const bound = bindTo(deps, caller, idempotency, earlier, id)
    const actor: Actor =
      caller.actor.kind === 'key' && userId !== undefined ? { ...caller.actor, claimedUserId: userId } : caller.actor
    return {
      submission: {
        guards: [{ kind: 'keyActive', keyId: caller.key.id }, ...bound.guards],
        writes: bound.writes,
        entries: [{ kind: 'event', id, chain: caller.chain, type: eventType, data, actor }],
      },
      reply: async () => {
        const entry = await deps.store.entry(id)
        if (entry === undefined) throw new Error('the committed entry is missing')
        return entryView(entry)
      },
    }
  })
}
