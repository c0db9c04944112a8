import { chainOf } from '../../audit/chain.ts'
import { type Actor, SERVICE } from '../../audit/draft.ts'
import { sectionValue } from '../../audit/entry.ts'
import { MISSING, RETRY_MS, type TenantFolder } from '../../authoring/load/files.ts'
import { formatTimestamp, steadyClock } from '../../base/time.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { Store } from '../../store/store.ts'
import { type Caller, type Deps, eventEntry } from '../deps.ts'
import type { CompareShadow } from './comparison.ts'
import { type PolicyFolders, settling } from './folders.ts'
import { type Loaded, type PolicyDeps, tryLoad } from './policies.ts'

/** The folder for a tenant's set in shadow, and what came of it. */
export interface ShadowSlot {
  readonly set: PolicySet | undefined
  /** Time since which the set has been in shadow here; null without one. */
  readonly since: string | null
  /** Faults of the folder; empty when its set is in shadow. */
  readonly faults: readonly string[]
  readonly diagnostics: Loaded['diagnostics']
  readonly fingerprint: string
  /** Time at which the folder is tried again unchanged; null when the result would be the same. */
  readonly retryMs: number | null
  /** Time at which the trail is next looked at, whether it tells of the set: its entry may be pruned. */
  readonly recordMs: number
}

export interface ShadowDeps extends PolicyDeps {
  /** The folders of sets in shadow. */
  folders: PolicyFolders
  /** False reads the folders at start and on request only. */
  watch: boolean
  onShadow(tenantId: string, change: ShadowChange): void
}

/** A set came into shadow, or left it, where the digest is null; or it has faults. */
export interface ShadowChange {
  digest: string | null
  faults: readonly string[]
}

export type ShadowFolders = ReturnType<typeof shadowFolders>

/** Interval between two looks whether the trail still tells of a set in shadow. */
const RECORD_MS = 60_000

/**
 * The sets in shadow, each from a folder beside that of the set in force. A folder with faults has none: what the set
 * before it would decide is of no use to anybody.
 */
export function shadowFolders(given: ShadowDeps) {
  const deps = { ...given, steady: steadyClock(given.clock) }
  const slots = new Map<string, ShadowSlot>()
  const settled = settling(deps)
  /** The folder, if there is anything to do about it. */
  const changed = async (tenant: string, slot: ShadowSlot, asker: Actor | undefined) => {
    const isDue = slot.retryMs !== null && (asker !== undefined || deps.steady() >= slot.retryMs)
    if (asker === undefined && !deps.watch && !isDue) return undefined
    const folder =
      asker === undefined
        ? settled(await deps.folders.read(tenant), slot.fingerprint)
        : await deps.folders.readSettled(tenant)
    return folder?.fingerprint === slot.fingerprint && !isDue ? undefined : folder
  }
  const takeIn = async (tenant: string, { source, fingerprint }: TenantFolder): Promise<ShadowSlot> => {
    const loaded = fingerprint === MISSING ? GONE : await tryLoad(source, deps.compileAndTest)
    const { set, faults, diagnostics, retry } = loaded
    deps.onShadow(tenant, { digest: set?.digest ?? null, faults })
    return {
      ...{ set, faults, diagnostics, fingerprint, recordMs: deps.steady() },
      since: set === undefined ? null : formatTimestamp(deps.clock()),
      retryMs: retry ? deps.steady() + RETRY_MS : null,
    }
  }
  return {
    names: deps.folders.names,
    /** Undefined for a tenant without such a folder. */
    get(tenantId: string): ShadowSlot | undefined {
      const slot = slots.get(tenantId)
      return slot?.fingerprint === MISSING ? undefined : slot
    },
    /** Tenants with such a folder, as far as it was looked at. */
    held: (): string[] =>
      Array.from(slots).flatMap(([tenant, { fingerprint }]) => (fingerprint === MISSING ? [] : [tenant])),
    /** Tenants, of these, of which the trail may still tell of a set that is gone. */
    untold: (tenants: readonly string[]): string[] =>
      tenants.filter((tenant) => deps.store.state().tenants.has(tenant) && slots.get(tenant)?.recordMs !== NEVER),
    /** Looks at the newest set of a tenant. @param asker who asks for it now; undefined in the background */
    async look(tenant: string, asker?: Actor): Promise<void> {
      const earlier = slots.get(tenant) ?? { ...GONE, ...NOTHING, recordMs: deps.steady() }
      const folder = await changed(tenant, earlier, asker)
      const slot = folder === undefined ? earlier : await takeIn(tenant, folder)
      slots.set(tenant, slot)
      if (deps.steady() < slot.recordMs || !deps.store.state().tenants.has(tenant)) return
      await record(deps, tenant, slot, asker ?? SERVICE)
      // An end that is told once stays told.
      const recordMs = slot.fingerprint === MISSING ? NEVER : deps.steady() + RECORD_MS
      slots.set(tenant, { ...slot, recordMs })
    },
  }
}

const NEVER = Number.POSITIVE_INFINITY
/** The state before the first look. */
const NOTHING = { since: null, fingerprint: MISSING, retryMs: null }

const GONE: Loaded = { set: undefined, faults: [], diagnostics: [], retry: false }

/** Records that the set is in shadow, or that none is, unless the newest entry says so. */
async function record(deps: Deps, tenantId: string, { set, since }: ShadowSlot, actor: Actor): Promise<void> {
  const digest = set?.digest ?? null
  const newest = await newestShadow(deps.store, tenantId)
  if ((newest?.digest ?? null) === digest) return
  const told = { tenantId, digest, since, rules: set?.rules.length ?? 0, factors: set?.factors.length ?? 0 }
  const entry = eventEntry(deps, chainOf(tenantId, 'live'), 'policy.shadowed', told, actor)
  await deps.store.commit({ guards: [], writes: [], entries: [entry] })
}

/** The newest entry about a set in shadow: its digest, and the time since which it is there; null where it left. */
async function newestShadow(
  store: Pick<Store, 'page'>,
  tenantId: string,
): Promise<{ digest: string | null; since: string | null } | undefined> {
  const query = { order: 'desc', limit: 1, offset: 0, eventType: 'policy.shadowed', sections: ['data'] } as const
  const [entry] = (await store.page({ chain: chainOf(tenantId, 'live'), ...query })).items
  // The service wrote the section, unless it has been erased.
  return entry && (sectionValue(entry, 'data') as { digest: string | null; since: string | null } | undefined)
}

/** Origin of a set in shadow: a folder of its own, or rules of the set in force. */
export const SHADOW_ORIGINS = ['folder', 'rules'] as const
export type ShadowOrigin = (typeof SHADOW_ORIGINS)[number]

export interface ShadowStateDeps extends Deps {
  policies: {
    get(tenantId: string): PolicySet | undefined
    /** The set in shadow, of whichever origin. */
    shadow(tenantId: string): PolicySet | undefined
    shadowFolder(tenantId: string): ShadowSlot | undefined
  }
  compareShadow: CompareShadow
}

/** `data` of GET /policies/shadow: the set in shadow, and what it said of the decisions of the caller's trail. */
export async function shadowState(deps: ShadowStateDeps, { tenantId, chain }: Caller) {
  const { policies, store, compareShadow } = deps
  const folder = policies.shadowFolder(tenantId)
  const inForce = policies.get(tenantId)
  const origin: ShadowOrigin = folder === undefined ? 'rules' : 'folder'
  const set = policies.shadow(tenantId)
  const about = { faults: folder?.faults ?? [], diagnostics: folder?.diagnostics ?? [] }
  if (set === undefined) return { digest: null, origin: null, since: null, rules: [], comparison: null, ...about }
  const told = origin === 'folder' ? set : inForce
  const since = (await sinceOf(store, tenantId, origin, told)) ?? folder?.since ?? null
  return {
    digest: set.digest,
    origin,
    since,
    rules: origin === 'rules' ? rulesInShadow(inForce) : [],
    comparison: since === null ? null : await compareShadow(chain, set.digest, since),
    ...about,
  }
}

/**
 * Time since which a set is in shadow, by the trail; undefined where that tells of another one.
 *
 * @param told the set that the trail tells of: for rules in shadow, the set in force
 */
export async function sinceOf(
  store: Store,
  tenantId: string,
  origin: ShadowOrigin,
  told: PolicySet | undefined,
): Promise<string | undefined> {
  const record = store.state().policies.get(tenantId)
  const known =
    origin === 'folder' ? await newestShadow(store, tenantId) : record && { ...record, since: record.loadedAt }
  return known?.digest === told?.digest ? (known?.since ?? undefined) : undefined
}

/** Ids of the rules in shadow mode. */
export function rulesInShadow(set: PolicySet | undefined): string[] {
  return set?.rules.filter(({ mode }) => mode === 'shadow').map(({ id }) => id) ?? []
}
