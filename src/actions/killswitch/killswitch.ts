import type { Actor } from '../../audit/draft.ts'
import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import { isAdmin } from '../../keys/roles.ts'
import {
  isInForce,
  type KillSwitch,
  type Level,
  recordOfStop,
  type Scoped,
  stopsEverOver,
  stopsOver,
  stopView,
} from '../../killswitch/killswitch.ts'
import { chainOfStop, change, changeIn, creation } from '../../store/records.ts'
import type { Submission } from '../../store/submission.ts'
import { type Caller, type Deps, decideAndCommit, eventEntry, type PoliciesInForce, stateNow } from '../deps.ts'
import { bindTo, earlierUse, type Idempotency } from '../idempotency.ts'
import { coverageOf } from './coverage.ts'
import type { TriggerRequest } from './request.ts'
import { resolveScope } from './scope.ts'
import { type Kept, UNWRITTEN_WARNINGS, type UnwrittenStop } from './unwritten.ts'

export interface KillSwitchDeps extends Deps {
  policies: PoliciesInForce
  /** Keeps a stop that the data file refused, and writes it once that can be done. */
  keepUnwritten(unwritten: UnwrittenStop): Kept
}

/** The operator who stops or recovers: a key, or the host's command line. */
export interface Operator {
  actor: Actor
  tenantId: string
  chain: string
  /** May use L4. */
  admin: boolean
}

export function operatorOf({ actor, tenantId, chain, key }: Caller): Operator {
  return { actor, tenantId, chain, admin: isAdmin(key.roles) }
}

/** The reason why this operator may not use the level; undefined when it may. */
export function refusalOf({ store }: Deps, { admin }: Operator, level: Level): string | undefined {
  if (level !== 'L4') return undefined
  if (!admin) return 'L4 stops every tenant; only an admin may use it.'
  return store.tenant && `L4 stops every tenant; this sidecar serves ${store.tenant} alone.`
}

/** `data` of GET /killswitch/status: the strongest stop over the tenant, and all of them. */
export function killSwitchStatus(deps: Deps, chain: string) {
  const switches = stopsOver(deps.store.state().switches, chain).map(stopView)
  const [top] = switches
  if (top === undefined) return { active: false, level: null, scope: null, switches }
  const { level, scope, triggeredAt, triggeredBy, reason } = top
  return { active: true, level, scope, triggeredAt, triggeredBy, reason, switches }
}

/** All stops that were ever over this chain, ended ones too, newest first. A repeated trigger adds none. */
export function killSwitchHistory(
  { store }: Deps,
  chain: string,
  { limit, offset }: { limit: number; offset: number },
) {
  const stops = stopsEverOver(store.state().switches, chain)
  const items = stops.slice(offset, offset + limit).map(pastView)
  return { items, page: { limit, offset, total: stops.length } }
}

function pastView(stop: KillSwitch) {
  const { triggeredAt, recoveredAt, recoveredBy, comment } = stop
  // A clock set back between trigger and recovery must not give a negative duration.
  const durationMs = recoveredAt === null ? null : Math.max(0, Date.parse(recoveredAt) - Date.parse(triggeredAt))
  return { ...stopView(stop), recoveredAt, recoveredBy, comment, durationMs }
}

/**
 * Stops actions. The stop takes effect in this process first, then it is committed. While the disk refuses, it stays in
 * effect and is retried each second (`persisted: false`).
 *
 * @throws GateError `forbidden` for L4 without admin or at a sidecar of one tenant, `invalid_request` for a scope that is not a glob or a domain
 */
export async function trigger(deps: KillSwitchDeps, operator: Operator, request: TriggerRequest, once?: Once) {
  const refusal = refusalOf(deps, operator, request.level)
  if (refusal !== undefined) throw new GateError('forbidden', refusal)
  const repeated = once && (await stopOfEarlierUse(deps, once))
  if (repeated !== undefined) return triggered(deps, operator, repeated)
  const set = deps.policies.get(operator.tenantId)
  const wanted = resolveScope(operator, request, set)
  const same = deps.store.state().switches.find((stop) => isSame(stop, wanted))
  const stop = same ?? newStop(deps, wanted, request)
  if (same === undefined) deps.store.impose(stop)
  try {
    const inForce = await persistStop(deps, operator.actor, recordOfStop(stop), same !== undefined, once)
    // The repeated stop was ended meanwhile: this later trigger makes a new one.
    if (inForce === undefined) return trigger(deps, operator, request, once)
    if (inForce.id !== stop.id) deps.store.withdraw(stop)
    return triggered(deps, operator, inForce)
  } catch (error) {
    if (same !== undefined && !isImposed(deps, same)) throw error
    // Written later without the Idempotency-Key: another request may have taken it, and the stop is in force.
    const kept = deps.keepUnwritten({ stop: recordOfStop(stop), actor: operator.actor })
    return triggered(deps, operator, stop, kept)
  }
}

function newStop(deps: Deps, wanted: Scoped, { reason, triggeredBy }: TriggerRequest): KillSwitch {
  return {
    id: deps.newId('killSwitch'),
    revision: 1,
    ...wanted,
    reason,
    triggeredBy,
    triggeredAt: formatTimestamp(deps.clock()),
    recoveredBy: null,
    recoveredAt: null,
    comment: null,
  }
}

/** True for a stop in force here that is not on disk yet. */
export function isImposed(deps: Deps, stop: KillSwitch): boolean {
  return deps.store.imposed().some(({ id }) => id === stop.id)
}

/**
 * The stop that the Idempotency-Key led to, if it is in force. Undefined when the store cannot be read: a stop must act
 * all the same.
 *
 * @throws GateError `idempotency_conflict` when that stop has been ended: the answer must not read as if it stopped
 */
async function stopOfEarlierUse({ store }: Deps, { caller, idempotency }: Once): Promise<KillSwitch | undefined> {
  try {
    const use = await earlierUse(store, caller, idempotency)
    const entry = use && (await store.entry(use.entryId))
    const data = entry && changeIn(entry)
    if (data === undefined) return undefined
    // The use is read from the store, which is ahead of the memory.
    const stop = (await stateNow(store)).switches.find(({ id }) => id === data.id)
    if (stop !== undefined && isInForce(stop)) return stop
    throw new GateError(
      'idempotency_conflict',
      'The stop of this Idempotency-Key has been ended; use a new value to stop again.',
    )
  } catch (error) {
    if (error instanceof GateError && error.code === 'audit_unavailable') return undefined
    throw error
  }
}

/** The caller's Idempotency-Key, for requests that came over HTTP. */
export interface Once {
  caller: Caller
  idempotency: Idempotency | undefined
}

function isSame(stop: KillSwitch, wanted: Scoped): boolean {
  return isInForce(stop) && stop.level === wanted.level && stop.target === wanted.target && stop.scope === wanted.scope
}

/**
 * Commits the stop alone, so that no other write can fail it.
 *
 * @returns the stop in force: another one, which a simultaneous request with the same key has made, or undefined for a
 *   repeated stop that has been ended
 */
function persistStop(deps: Deps, actor: Actor, stop: KillSwitch, again: boolean, once?: Once) {
  let isFirst = true
  return decideAndCommit<KillSwitch | undefined>(deps.store, async () => {
    const nothing = { submission: null, reply: () => stop }
    // A COMMIT of unknown result may have reached the disk after all.
    if (!again && !isImposed(deps, stop)) return nothing
    // A simultaneous request with the same key records it.
    if (again && once && (await earlierUse(deps.store, once.caller, once.idempotency))) return nothing
    const other = again || isFirst || once === undefined ? undefined : await stopOfSimultaneous(deps, once)
    if (other !== undefined) return { submission: null, reply: () => other }
    const now = current(deps, stop)
    if (!isInForce(now)) return { submission: null, reply: () => undefined }
    const { write, data } = again ? change('switch', now, {}) : creation('switch', stop)
    const entry = eventEntry(deps, chainOfStop(stop), 'killswitch.triggered', data, actor)
    // A new stop is in force: after a conflict about the key, it is written without it.
    const isBound = again || isFirst
    const bound = isBound ? once && bindTo(deps, once.caller, once.idempotency, undefined, entry.id) : undefined
    isFirst = false
    const submission: Submission = {
      guards: bound?.guards ?? [],
      writes: [write, ...(bound?.writes ?? [])],
      entries: [entry],
    }
    return { submission, reply: () => stop }
  })
}

/** The stop in force that another request with the same key has made; undefined where its request was another. */
async function stopOfSimultaneous(deps: Deps, once: Once): Promise<KillSwitch | undefined> {
  try {
    return await stopOfEarlierUse(deps, once)
  } catch (error) {
    if (error instanceof GateError && error.code === 'idempotency_conflict') return undefined
    throw error
  }
}

/** Commits a stop that is in force already, unless that has been done. @throws GateError of the store */
export async function persistUnwritten(deps: Deps, { stop, actor }: UnwrittenStop): Promise<void> {
  await persistStop(deps, actor, stop, false)
}

function current(deps: Deps, stop: KillSwitch): KillSwitch {
  return recordOfStop(deps.store.state().switches.find(({ id }) => id === stop.id) ?? stop)
}

/** The status, and the known actions that the stop covers: it reveals a mistyped scope at once. */
async function triggered(deps: KillSwitchDeps, operator: Operator, stop: KillSwitch, kept?: Kept) {
  const status = killSwitchStatus(deps, operator.chain)
  const persisted = !isImposed(deps, stop)
  const { covers, warning } = await coverageOf(deps, operator, stop, { readsRecent: persisted })
  const warnings = [...(warning === null ? [] : [warning]), ...(kept === undefined ? [] : [UNWRITTEN_WARNINGS[kept]])]
  return { ...status, covers, warning: warnings.length === 0 ? null : warnings.join(' '), persisted }
}
