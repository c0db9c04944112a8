import { canonicalJson } from '../base/canonical.ts'
import { digestOf } from '../base/digest.ts'
import { GateError } from '../base/errors.ts'
import type { RouteId } from '../keys/routes.ts'
import type { Store } from '../store/store.ts'
import type { Guard, IdempotencyUse, Write } from '../store/submission.ts'
import type { Caller, Deps } from './deps.ts'

/** A caller's Idempotency-Key, bound to its key and route. */
export interface Idempotency {
  value: string
  route: RouteId
  bodyDigest: string
}

export function idempotencyOf(value: string | undefined, route: RouteId, request: unknown): Idempotency | undefined {
  return value === undefined ? undefined : { value, route, bodyDigest: digestOf(canonicalJson(request)) }
}

/**
 * The earlier use of the key within the last ten minutes.
 *
 * @throws GateError `idempotency_conflict` when it came with another request
 */
export async function earlierUse(
  store: Store,
  caller: Caller,
  idempotency: Idempotency | undefined,
): Promise<IdempotencyUse | undefined> {
  if (idempotency === undefined) return undefined
  const use = await store.idempotencyUse(caller.key.id, scopeOf(caller, idempotency), idempotency.value)
  if (use !== undefined && use.bodyDigest !== idempotency.bodyDigest) {
    throw new GateError(
      'idempotency_conflict',
      'This Idempotency-Key was used for another request in the last ten minutes.',
    )
  }
  return use
}

/** An admin's key reaches many tenants: a value used for one says nothing of another. */
function scopeOf(caller: Caller, { route }: Idempotency): string {
  return `${route} ${caller.chain}`
}

/** The guard and the write that bind a submission to the idempotency key; none without one. */
export function bindTo(
  deps: Deps,
  caller: Caller,
  idempotency: Idempotency | undefined,
  earlier: IdempotencyUse | undefined,
  entryId: string,
): { guards: Guard[]; writes: Write[] } {
  if (idempotency === undefined) return { guards: [], writes: [] }
  const { value, bodyDigest } = idempotency
  const route = scopeOf(caller, idempotency)
  const keyId = caller.key.id
  return {
    guards: [{ kind: 'idempotency', keyId, route, value, entryId: earlier?.entryId ?? null }],
    writes: [{ kind: 'idempotency', use: { keyId, route, value, bodyDigest, entryId, atMs: deps.clock() } }],
  }
}
