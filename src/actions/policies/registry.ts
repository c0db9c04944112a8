import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Actor, SERVICE } from '../../audit/draft.ts'
import type { ListFiles } from '../../authoring/load/files.ts'
import { GateError } from '../../base/errors.ts'
import { requestBody } from '../../gate/request.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { Caller, Deps } from '../deps.ts'
import { attempts } from './attempts.ts'
import { type Slot, unstaffedIn } from './policies.ts'
import type { ShadowFolders } from './shadow.ts'
import { shownTexts } from './texts.ts'

/** The place that the sets of tenants come from: their folders, or the store. */
export interface PolicyOrigin<S extends Slot> {
  /** Tenants that may have policies, beside those that the store knows of. */
  names(): string[]
  /**
   * Looks at the newest policies of a tenant, and puts what came of them into its slot.
   *
   * @param asker who asks for it now; undefined for a look in the background, which does what is due
   */
  look(slots: Map<string, S>, tenant: string, asker?: Actor): Promise<void>
}

export interface RegistryDeps extends Deps {
  /** False looks for policies at start and on request only. */
  watch: boolean
  /** Called each time that background work fails, such as for a trail that cannot be written. It is retried. */
  onError(error: unknown): void
}

/** The result of reading all policies again. */
export interface Reloaded {
  tenants: number
  /** Tenants whose set in force changed. */
  changed: string[]
}

export type PolicyRegistry = ReturnType<typeof policyRegistry>

/**
 * The policies of all tenants, replaced set by set as they change; a bad set never replaces a good one.
 *
 * @param shadows the sets in shadow that have folders of their own; absent where sets come from the store
 */
export function policyRegistry<S extends Slot>(deps: RegistryDeps, origin: PolicyOrigin<S>, shadows?: ShadowFolders) {
  const slots = new Map<string, S>()
  const work = attempts()
  /** Looks at one tenant's policies. Callers during another attempt get the next one. */
  const reload = (tenant: string, actor: Actor): Promise<void> =>
    work.run(tenant, () => origin.look(slots, tenant, actor))
  const known = (): string[] => [...slots.keys(), ...deps.store.state().policies.keys()]
  const { tenant: only } = deps.store
  /** Tenants with policies of their own, as far as they are served here. */
  const named = (): string[] => served(origin.names())
  const served = (names: string[]): string[] => names.filter((name) => only === undefined || name === only)
  /** Looks at a set in shadow, apart from the set in force, which never waits for it. */
  const lookAtShadow = (tenant: string, asker?: Actor): Promise<void> =>
    work.run(shadowOf(tenant), async () => shadows?.look(tenant, asker)).catch(deps.onError)
  const shadowed = (): string[] => (shadows === undefined ? [] : served([...shadows.names(), ...shadows.held()]))

  return {
    get: (tenantId: string) => slots.get(tenantId)?.set,
    /** The set in shadow: that of the folder beside the one in force, else the one in force with its rules in shadow. */
    shadow: (tenantId: string): PolicySet | undefined => {
      const folder = shadows?.get(tenantId)
      return folder === undefined ? slots.get(tenantId)?.set?.shadow : folder.set
    },
    /** The set of the folder for a tenant's shadow. */
    shadowFolder: (tenantId: string) => shadows?.get(tenantId),
    /** Reads all policies now. Resolves when every tenant's set is in force, or refused. */
    async reloadAll(): Promise<Reloaded> {
      const tenants = [...new Set([...named(), ...known()])].sort()
      const digests = (): (string | undefined)[] => tenants.map((tenant) => slots.get(tenant)?.set?.digest)
      const before = digests()
      const ended = await Promise.allSettled(tenants.map((tenant) => reload(tenant, SERVICE)))
      for (const result of ended) if (result.status === 'rejected') throw result.reason
      for (const tenant of new Set(shadowed())) void lookAtShadow(tenant, SERVICE)
      const after = digests()
      return { tenants: tenants.length, changed: tenants.filter((_, i) => before[i] !== after[i]) }
    },
    /** The same for one tenant. Its set in shadow, which may take long, has a second. */
    async reload(tenant: string, actor: Actor): Promise<void> {
      const looking = lookAtShadow(tenant, actor)
      await reload(tenant, actor)
      if (shadows !== undefined) await Promise.race([looking, sleep(SHADOW_WAIT_MS, undefined, { ref: false })])
    },
    /** Starts due work tenant by tenant, without waiting: no tenant blocks another, and none a request. */
    async tend(): Promise<void> {
      for (const tenant of new Set([...(deps.watch ? listed(named, deps) : []), ...known()])) {
        if (!work.isBusy(tenant)) void work.run(tenant, () => origin.look(slots, tenant)).catch(deps.onError)
        // Reading one folder blocks the event loop up to 20 ms.
        await nextTurn()
      }
      for (const tenant of new Set([...listed(shadowed, deps), ...(shadows?.untold(known()) ?? [])])) {
        if (!work.isBusy(shadowOf(tenant))) void lookAtShadow(tenant)
        await nextTurn()
      }
    },
    /** Waits for the started work. */
    idle: work.idle,
    /** Digests of the sets in force, by tenant. */
    digests: (): ReadonlyMap<string, string> =>
      new Map(Array.from(slots).flatMap(([tenantId, { set }]) => (set === undefined ? [] : [[tenantId, set.digest]]))),
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

/** Time that a request to read policies waits for the set in shadow. */
const SHADOW_WAIT_MS = 1000

/** Name of the work on a tenant's set in shadow. No tenant has it. */
function shadowOf(tenant: string): string {
  return `shadow of ${tenant}`
}

/** The folders that can be listed; otherwise the known ones, which are still read and report the cause. */
function listed(names: () => string[], { onError }: RegistryDeps): string[] {
  try {
    return names()
  } catch (error) {
    onError(error)
    return []
  }
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
 * Reads the policies of the caller's tenant now. A refused set does not fail the request: the description states the
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
