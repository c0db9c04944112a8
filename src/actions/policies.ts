import { chainOf } from '../audit/chain.ts'
import { SERVICE } from '../audit/entry.ts'
import { canonicalJson } from '../base/canonical.ts'
import { formatTimestamp } from '../base/time.ts'
import type { Diagnostic } from '../policy/diagnostics.ts'
import { linkPolicySet } from '../policy/link.ts'
import { type CompiledPolicies, type Outcome, type PolicySource, RETRY_MS, type TenantFolder } from '../policy/load.ts'
import type { PolicySet } from '../policy/set.ts'
import { change, creation, type PolicyRecord } from '../records.ts'
import type { Caller, Deps, PoliciesInForce } from './deps.ts'
import { eventEntry } from './deps.ts'

export interface PolicyDeps extends Deps {
  /** Reads every tenant's folder. */
  readFolders(): Promise<TenantFolder[]>
  /** Compiles a candidate where it can do no harm. */
  compile(source: PolicySource): Promise<Outcome<CompiledPolicies>>
}

/** What is known of one tenant's policies. */
interface Slot {
  set: PolicySet | undefined
  /** Since when the set has been in force here; null without one. */
  since: string | null
  /** Of the newest content of the folder, good or bad. */
  fingerprint: string
  /** When the newest content is tried again although it is the same; null when it would come out the same. */
  retryAtMs: number | null
  /** Why the newest content is not in force; empty when it is. */
  faults: readonly string[]
  diagnostics: readonly Diagnostic[]
  /**
   * The set has been brought into the audit chain by this process. What others record there afterwards is not
   * answered: two servers with different folders would otherwise answer each other for ever.
   */
  recorded: boolean
}

/** How many faults a policy.rejected entry lists. */
const LISTED_FAULTS = 20

/** The policies of all tenants, replaced set by set as their folders change; a bad set never replaces a good one. */
export interface PolicyRegistry extends PoliciesInForce {
  /** Takes in what has changed in the folders, one tenant at a time. */
  reload(): Promise<void>
  /** Tenants whose newest policies are not in force, with the reason. */
  faults(): { tenantId: string; fault: string }[]
  describe(caller: Caller): PolicyDescription
}

export function policyRegistry(deps: PolicyDeps): PolicyRegistry {
  const slots = new Map<string, Slot>()

  const consider = async (candidate: TenantFolder): Promise<void> => {
    const { tenant, fingerprint } = candidate
    const slot = slots.get(tenant)
    const isDue = slot !== undefined && slot.retryAtMs !== null && deps.clock() >= slot.retryAtMs
    if (slot?.fingerprint === fingerprint && !isDue) {
      if (slot.set !== undefined && slot.faults.length === 0 && !slot.recorded)
        slots.set(tenant, { ...slot, recorded: await recordLoaded(deps, slot.set, candidate) })
      return
    }
    const { set, diagnostics, faults, retry } = await tryLoad(deps, candidate.source)
    if (set === undefined) {
      const inForce = slot ?? (await lastKnownGood(deps, tenant))
      if (slot?.faults.join('\n') !== faults.join('\n')) await recordRejected(deps, tenant, faults)
      const retryAtMs = retry ? deps.clock() + RETRY_MS : null
      slots.set(tenant, { ...inForce, fingerprint, retryAtMs, faults, diagnostics })
      return
    }
    const recorded = await recordLoaded(deps, set, candidate)
    const since = formatTimestamp(deps.clock())
    slots.set(tenant, { set, since, fingerprint, retryAtMs: null, faults: [], diagnostics, recorded })
  }

  return {
    get: (tenantId) => slots.get(tenantId)?.set,
    async reload() {
      const candidates = await deps.readFolders()
      for (const candidate of candidates) await consider(candidate)
      const present = new Set(candidates.map(({ tenant }) => tenant))
      for (const tenant of [...slots.keys(), ...deps.store.state().policies.keys()]) {
        if (!present.has(tenant))
          await consider({ tenant, fingerprint: 'missing', source: { problem: 'has no policy folder' } })
      }
    },
    faults: () =>
      Array.from(slots, ([tenantId, { faults }]) => ({ tenantId, fault: faults[0] ?? '' })).filter(
        ({ fault }) => fault !== '',
      ),
    describe: ({ tenantId }) => describeSlot(slots.get(tenantId)),
  }
}

async function tryLoad(deps: PolicyDeps, source: TenantFolder['source']) {
  const failed = (faults: readonly string[], diagnostics: readonly Diagnostic[] = [], retry = false) => ({
    set: undefined,
    diagnostics,
    faults,
    retry,
  })
  if ('problem' in source) return failed([`The folder ${source.problem}.`])
  const compiled = await deps.compile(source)
  if ('fault' in compiled) return failed([`The policy set ${compiled.fault}.`], [], true)
  const { data, diagnostics } = compiled.value
  if (data !== undefined) return { set: linkPolicySet(data), diagnostics, faults: [], retry: false }
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return failed(errors.slice(0, LISTED_FAULTS).map(faultLine), diagnostics)
}

function faultLine({ file, line, column, code, message }: Diagnostic): string {
  return `${file}:${line}:${column} ${code} ${message}`
}

/** The set that was last in force, from the store; nothing when it is not the one that the audit chain names. */
async function lastKnownGood(deps: PolicyDeps, tenant: string): Promise<Pick<Slot, 'set' | 'since' | 'recorded'>> {
  const nothing = { set: undefined, since: null, recorded: false }
  const record = deps.store.state().policies.get(tenant)
  const text = record && (await deps.store.policySource(tenant, record.digest))
  if (record === undefined || text === undefined) return nothing
  const { set } = await tryLoad(deps, unpack(tenant, text))
  return set?.digest === record.digest ? { set, since: record.loadedAt, recorded: false } : nothing
}

function isRecorded(deps: PolicyDeps, set: PolicySet): boolean {
  return deps.store.state().policies.get(set.tenant)?.digest === set.digest
}

/**
 * Brings the set into the audit chain and the store, unless it is there. A tenant that nobody has made yet has no chain.
 *
 * @returns whether it is there now
 */
async function recordLoaded(deps: PolicyDeps, set: PolicySet, { source }: TenantFolder): Promise<boolean> {
  if (isRecorded(deps, set)) return true
  if (!deps.store.state().tenants.has(set.tenant) || 'problem' in source) return false
  const { data, write } = policyChange(deps.store.state().policies.get(set.tenant), set, formatTimestamp(deps.clock()))
  const told = { ...data, files: set.files, rules: set.rules.length, factors: set.factors.length }
  // A conflict means that another process recorded a set at this moment; the next reload tries again.
  const { conflict } = await deps.store.commit({
    guards: [],
    writes: [
      write,
      { kind: 'policySource', stored: { tenantId: set.tenant, digest: set.digest, source: pack(source) } },
    ],
    entries: [eventEntry(deps, chainOf(set.tenant, 'live'), 'policy.loaded', told, SERVICE)],
  })
  return conflict === null
}

function policyChange(earlier: PolicyRecord | undefined, { tenant, digest }: PolicySet, loadedAt: string) {
  return earlier === undefined
    ? creation('policy', { id: tenant, revision: 1, digest, loadedAt })
    : change('policy', earlier, { digest, loadedAt })
}

async function recordRejected(deps: PolicyDeps, tenant: string, faults: readonly string[]): Promise<void> {
  if (!deps.store.state().tenants.has(tenant)) return
  const entry = eventEntry(deps, chainOf(tenant, 'live'), 'policy.rejected', { tenantId: tenant, faults }, SERVICE)
  await deps.store.commit({ guards: [], writes: [], entries: [entry] })
}

export type PolicyDescription = ReturnType<typeof describeSlot>

/** `data` of GET /policies. */
function describeSlot(slot: Slot | undefined) {
  const { set, since = null, faults = [], diagnostics = [] } = slot ?? {}
  return {
    digest: set?.digest ?? null,
    loadedAt: since,
    files: set?.files ?? [],
    rules: set?.rules.length ?? 0,
    factors: set?.factors.length ?? 0,
    domains: [...(set?.domains.keys() ?? [])],
    actions: [...(set?.actions.keys() ?? [])],
    current: faults.length === 0 && set !== undefined,
    faults,
    diagnostics,
  }
}

function pack({ files, lists, ignored }: PolicySource): string {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
  return canonicalJson({
    files: files.map(({ name, bytes }) => ({ name, base64: base64(bytes) })),
    lists: [...lists].flatMap(([path, content]) =>
      content instanceof Uint8Array ? [{ path, base64: base64(content) }] : [],
    ),
    ignored,
  })
}

/** A PolicySource as JSON. */
interface Packed {
  files: { name: string; base64: string }[]
  lists: { path: string; base64: string }[]
  ignored: string[]
}

export function unpack(tenant: string, text: string): PolicySource {
  // Written by pack; what it means is held to the recorded digest by the caller.
  const { files, lists, ignored } = JSON.parse(text) as Packed
  return {
    tenant,
    files: files.map(({ name, base64 }) => ({ name, bytes: Buffer.from(base64, 'base64') })),
    lists: new Map(lists.map(({ path, base64 }) => [path, Buffer.from(base64, 'base64')])),
    ignored,
  }
}
