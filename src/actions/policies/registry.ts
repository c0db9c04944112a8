import { setImmediate as nextTurn } from 'node:timers/promises'
import { groupsWithoutKeys } from '../../approvals/unstaffed.ts'
import { type Actor, SERVICE } from '../../audit/draft.ts'
import { type ListFiles, MISSING, RETRY_MS, type TenantFolder } from '../../authoring/load/files.ts'
import { GateError } from '../../base/errors.ts'
import { type Clock, formatTimestamp, steadyClock } from '../../base/time.ts'
import { requestBody } from '../../gate/request.ts'
import type { Mode, PolicySet } from '../../policies/set.ts'
import type { Caller } from '../deps.ts'
import { attempts } from './attempts.ts'
import {
  type InForce,
  lastKnownGood,
  type PolicyDeps,
  recordLoaded,
  recordRejected,
  type Slot,
  tryLoad,
} from './policies.ts'
import { shownTexts, textsIn } from './texts.ts'

/** The folders of all tenants. Faults of a folder never throw: they become its `problem`. */
export interface PolicyFolders {
  names(): string[]
  read(tenant: string): Promise<TenantFolder>
  /** Reads until two readings in a row, a moment apart, are equal. */
  readSettled(tenant: string): Promise<TenantFolder>
}

/**
 * A set came into force, with approver groups that no active key belongs to; or the folder's content cannot, by the
 * first of this many faults, and the named set, if any, stays.
 */
export type PolicyChange =
  | { digest: string; mode: Mode; groupsWithoutKeys: readonly string[] }
  | { fault: string; faults: number; inForce: Pick<PolicySet, 'digest' | 'mode'> | null }

export interface RegistryDeps extends PolicyDeps {
  folders: PolicyFolders
  /** False reads the folders at start and on request only. */
  watch: boolean
  /** Called when a set comes into force, or the folder's content cannot. */
  onChange(tenantId: string, change: PolicyChange): void
  /** Called each time that background work fails, such as for a trail that cannot be written. It is retried. */
  onError(error: unknown): void
}

interface Timed extends RegistryDeps {
  /** For what waits; times that are shown come from the clock. */
  steady: Clock
}

/** The result of reading all folders again. */
export interface Reloaded {
  tenants: number
  /** Tenants whose set in force changed. */
  changed: string[]
}

export type PolicyRegistry = ReturnType<typeof policyRegistry>

/** Time limit of a folder that keeps changing; beyond it that is a fault, since its content may matter. */
const UNSETTLED_MS = 10_000

/** The policies of all tenants, replaced set by set as their folders change; a bad set never replaces a good one. */
export function policyRegistry(given: RegistryDeps) {
  const deps = { ...given, steady: steadyClock(given.clock) }
  const slots = new Map<string, Slot>()
  const work = attempts()
  const settled = settling(deps)
  const isTime = ({ atMs }: { atMs: number }): boolean => deps.steady() >= atMs

  /** Handles a folder's content; `actor` is the requester, if any. */
  const consider = async (folder: TenantFolder, actor?: Actor): Promise<void> => {
    const slot = slots.get(folder.tenant)
    if (slot === undefined && folder.fingerprint === MISSING && !deps.store.state().policies.has(folder.tenant)) return
    const isDue = slot?.retry != null && (actor !== undefined || isTime(slot.retry))
    const isKnown = slot !== undefined && slot.fingerprint === folder.fingerprint && !isDue
    const checkedAt = formatTimestamp(deps.clock())
    slots.set(folder.tenant, isKnown ? { ...slot, checkedAt } : await takeIn(deps, slot, folder, actor ?? SERVICE))
  }
  const tendOne = async (tenant: string): Promise<void> => {
    const slot = slots.get(tenant)
    if (slot?.set !== undefined && slot.unrecorded !== null) {
      const recorded = await recordLoaded(deps, slot.set, slot.unrecorded, SERVICE)
      if (recorded) slots.set(tenant, { ...slot, unrecorded: null })
    }
    if (deps.watch) {
      const folder = settled(await deps.folders.read(tenant), slot?.fingerprint)
      if (folder !== undefined) await consider(folder)
    } else if (slot?.retry != null && isTime(slot.retry)) await consider(slot.retry.folder)
  }
  /** Reads one tenant's folder. Callers during another attempt get the next one. */
  const reload = (tenant: string, actor: Actor): Promise<void> =>
    work.run(tenant, async () => consider(await deps.folders.readSettled(tenant), actor))
  const known = (): string[] => [...slots.keys(), ...deps.store.state().policies.keys()]

  return {
    get: (tenantId: string) => slots.get(tenantId)?.set,
    /** Reads all folders now. Resolves when every tenant's set is in force, or refused. */
    async reloadAll(): Promise<Reloaded> {
      const tenants = [...new Set([...deps.folders.names(), ...known()])].sort()
      const digests = (): (string | undefined)[] => tenants.map((tenant) => slots.get(tenant)?.set?.digest)
      const before = digests()
      const ended = await Promise.allSettled(tenants.map((tenant) => reload(tenant, SERVICE)))
      for (const result of ended) if (result.status === 'rejected') throw result.reason
      const after = digests()
      return { tenants: tenants.length, changed: tenants.filter((_, i) => before[i] !== after[i]) }
    },
    reload,
    /** Starts due work folder by folder, without waiting: no tenant blocks another, and none a request. */
    async tend(): Promise<void> {
      for (const tenant of new Set([...(deps.watch ? namesIn(deps) : []), ...known()])) {
        if (!work.isBusy(tenant)) void work.run(tenant, () => tendOne(tenant)).catch(deps.onError)
        // Reading one folder blocks the event loop up to 20 ms.
        await nextTurn()
      }
    },
    /** Waits for the started work. */
    idle: work.idle,
    /** Number of tenants whose policies are only observed. */
    observing: () => Array.from(slots.values()).filter(({ set }) => set?.mode === 'observe').length,
    /** Tenants whose newest policies are not in force, with the reason. */
    faults: () =>
      Array.from(slots, ([tenantId, { faults }]) => ({ tenantId, fault: faults[0] ?? '' })).filter(
        ({ fault }) => fault !== '',
      ),
    describe: ({ tenantId }: Caller) => describeSlot(deps, slots.get(tenantId)),
    /** The sources of the caller's set. */
    texts: ({ tenantId }: Caller) => shownTexts(slots.get(tenantId) ?? {}),
    /** The list files of the set in force, by their paths. */
    lists: (tenantId: string): ListFiles => slots.get(tenantId)?.texts?.lists ?? new Map(),
  }
}

/** The folders that can be listed; otherwise the known ones, which are still read and report the cause. */
function namesIn({ folders, onError }: RegistryDeps): string[] {
  try {
    return folders.names()
  } catch (error) {
    onError(error)
    return []
  }
}

/**
 * Detects a settled folder: two readings in a row were equal. A half-written file changes before the next reading, so
 * it never comes into force, valid or not.
 */
function settling({ steady }: Timed) {
  const changing = new Map<string, { fingerprint: string; sinceMs: number }>()
  /** The folder to handle; undefined while it changes. `taken` is the fingerprint of the last handled content. */
  return (folder: TenantFolder, taken: string | undefined): TenantFolder | undefined => {
    const { tenant, fingerprint } = folder
    const earlier = changing.get(tenant)
    if (fingerprint === taken || fingerprint === earlier?.fingerprint) {
      changing.delete(tenant)
      return folder
    }
    const sinceMs = earlier?.sinceMs ?? steady()
    changing.set(tenant, { fingerprint, sinceMs })
    if (steady() - sinceMs <= UNSETTLED_MS) return undefined
    const problem = `has been changing for more than ${UNSETTLED_MS / 1000} s`
    return { tenant, fingerprint: 'changing', source: { problem } }
  }
}

/** The state after an attempt; a set is recorded before it answers anybody. */
async function takeIn(deps: Timed, slot: Slot | undefined, folder: TenantFolder, actor: Actor): Promise<Slot> {
  const { tenant, fingerprint } = folder
  const { set, diagnostics, faults, retry } = await tryLoad(folder.source, deps.compileAndTest)
  const checkedAt = formatTimestamp(deps.clock())
  if (set === undefined) {
    const { isUnsure, ...inForce } = slot?.set === undefined ? await lastKnownGood(deps, tenant) : kept(slot)
    if (slot?.faults.join('\n') !== faults.join('\n')) {
      await recordRejected(deps, tenant, faults, actor)
      deps.onChange(tenant, { fault: faults[0] ?? '', faults: faults.length, inForce: inForce.set ?? null })
    }
    const again = retry || isUnsure ? { atMs: deps.steady() + RETRY_MS, folder } : null
    return { ...inForce, checkedAt, fingerprint, retry: again, faults, diagnostics }
  }
  const recorded = await recordLoaded(deps, set, folder, actor)
  // Changed tests or comments leave the set the same.
  const isSame = slot?.set?.digest === set.digest
  if (!isSame || slot.faults.length > 0)
    deps.onChange(tenant, { digest: set.digest, mode: set.mode, groupsWithoutKeys: unstaffedIn(deps, set) })
  const since = isSame ? slot.since : formatTimestamp(deps.clock())
  const unrecorded = recorded ? null : folder
  const texts = 'problem' in folder.source ? undefined : textsIn(folder.source)
  return { set, texts, since, checkedAt, fingerprint, retry: null, faults: [], diagnostics, unrecorded }
}

function kept({ set, texts, since, unrecorded }: Slot): InForce {
  return { set, texts, since, unrecorded, isUnsure: false }
}

/** The groups that lack a key; none for a folder without a tenant, which nobody can ask. */
function unstaffedIn({ store, clock }: RegistryDeps, set: PolicySet | undefined): string[] {
  const { tenants, keys } = store.state()
  return set === undefined || !tenants.has(set.tenant) ? [] : groupsWithoutKeys(set, keys.values(), clock())
}

/** `data` of GET /policies. */
function describeSlot(deps: RegistryDeps, slot: Slot | undefined) {
  const { set, since = null, checkedAt = null, faults = [], diagnostics = [] } = slot ?? {}
  return {
    digest: set?.digest ?? null,
    mode: set?.mode ?? null,
    loadedAt: since,
    files: set?.files ?? [],
    rules: set?.rules.length ?? 0,
    factors: set?.factors.length ?? 0,
    domains: [...(set?.domains.keys() ?? [])],
    actions: [...(set?.actions.keys() ?? [])],
    current: faults.length === 0 && set !== undefined,
    watching: deps.watch,
    checkedAt,
    faults,
    diagnostics,
    groupsWithoutKeys: unstaffedIn(deps, set),
  }
}

export const ReloadPoliciesRequest = requestBody('ReloadPoliciesRequest', {})

/**
 * Reads the folder of the caller's tenant now. A refused set does not fail the request: the description states the
 * faults and the set in force.
 *
 * @throws GateError `forbidden` for a test key, since the policies of both worlds are the same
 */
export async function reloadPolicies(policies: PolicyRegistry, caller: Caller) {
  if (caller.environment === 'test')
    throw new GateError('forbidden', 'A test key cannot reload policies, which decide for live agents too.')
  await policies.reload(caller.tenantId, caller.actor)
  return policies.describe(caller)
}
