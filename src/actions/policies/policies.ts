import { chainOf } from '../../audit/chain.ts'
import type { Actor } from '../../audit/draft.ts'
import type { Diagnostic } from '../../authoring/diagnostics/diagnostics.ts'
import type { QuotedDiagnostic } from '../../authoring/diagnostics/quote.ts'
import type { Bounded, PolicySource, TenantFolder } from '../../authoring/load/files.ts'
import type { CompiledPolicies } from '../../authoring/load/load.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { formatTimestamp } from '../../base/time.ts'
import { linkPolicySet } from '../../policies/link.ts'
import type { PolicySet } from '../../policies/set.ts'
import { change, creation, type PolicyRecord } from '../../store/records.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { type Texts, textsIn } from './texts.ts'

/** Dependencies for recording and compiling policies. */
export interface PolicyDeps extends Deps {
  /** Compiles a set, isolated from the service. */
  compile(source: PolicySource): Promise<Bounded<CompiledPolicies>>
  /** Compiles a candidate and runs its tests; a failed test is an error. */
  compileAndTest(source: PolicySource): Promise<Bounded<CompiledPolicies>>
}

/** The state of one tenant's policies. */
export interface Slot {
  readonly set: PolicySet | undefined
  /** The sources of the set; undefined without one. */
  readonly texts: Texts | undefined
  /** Time since which the set has been in force here; null without one. */
  readonly since: string | null
  /** Time of the last reading of the folder. */
  readonly checkedAt: string
  /** Fingerprint of the folder's newest content, valid or not. */
  readonly fingerprint: string
  /** The newest content, and the time at which it is retried unchanged; null when the result would be the same. */
  readonly retry: { readonly atMs: number; readonly folder: TenantFolder } | null
  /** Faults of the newest content; empty when it is in force. */
  readonly faults: readonly string[]
  readonly diagnostics: readonly QuotedDiagnostic[]
  /**
   * The folder of the set, until this process has recorded it in the audit chain. Later records by others are not
   * answered: two servers with different folders would otherwise answer each other for ever.
   */
  readonly unrecorded: TenantFolder | null
}

/** Limit of faults in a policy.rejected entry. */
const LISTED_FAULTS = 20

export async function tryLoad(source: TenantFolder['source'], compile: PolicyDeps['compile']) {
  const failed = (faults: readonly string[], diagnostics: readonly QuotedDiagnostic[] = [], retry = false) => ({
    set: undefined,
    diagnostics,
    faults,
    retry,
  })
  if ('problem' in source) return failed([`The folder ${source.problem}.`])
  const compiled = await compile(source)
  if ('fault' in compiled) return failed([`The policy set ${compiled.fault}.`], [], true)
  const { data, diagnostics } = compiled.value
  if (data !== undefined) return { set: linkPolicySet(data), diagnostics, faults: [], retry: false }
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  return failed(errors.slice(0, LISTED_FAULTS).map(faultLine), diagnostics)
}

function faultLine({ file, line, column, code, message }: Diagnostic): string {
  return `${file}:${line}:${column} ${code} ${message}`
}

/** The policies that stay in force. */
export interface InForce extends Pick<Slot, 'set' | 'texts' | 'since' | 'unrecorded'> {
  /** True when loading failed, and may succeed another time. */
  readonly isUnsure: boolean
}

/** The set that was last in force, from the store; empty when the audit chain names another one. */
export async function lastKnownGood(deps: PolicyDeps, tenant: string): Promise<InForce> {
  const nothing = { set: undefined, texts: undefined, since: null, unrecorded: null, isUnsure: false }
  const record = deps.store.state().policies.get(tenant)
  const text = record && (await deps.store.policySource(tenant, record.digest))
  if (record === undefined || text === undefined) return nothing
  // Its tests passed when it came into force.
  const source = unpack(tenant, text)
  const { set, retry } = await tryLoad(source, deps.compile)
  const isTheOne = set?.digest === record.digest
  return isTheOne
    ? { ...nothing, set, texts: textsIn(source), since: record.loadedAt }
    : { ...nothing, isUnsure: retry }
}

function isRecorded(deps: Deps, set: PolicySet): boolean {
  return deps.store.state().policies.get(set.tenant)?.digest === set.digest
}

/**
 * Records the set in the audit chain and the store, unless it is there. A tenant that has not been created has no
 * chain.
 *
 * @returns whether it is recorded now
 * @throws GateError `overloaded` when others recorded sets each time
 */
export async function recordLoaded(
  deps: Deps,
  set: PolicySet,
  { source }: TenantFolder,
  actor: Actor,
): Promise<boolean> {
  return decideAndCommit(deps.store, async () => {
    const isDone = isRecorded(deps, set)
    if (isDone || !deps.store.state().tenants.has(set.tenant) || 'problem' in source)
      return { submission: null, reply: () => isDone }
    const earlier = deps.store.state().policies.get(set.tenant)
    const { data, write } = policyChange(earlier, set, formatTimestamp(deps.clock()))
    const told = { ...data, mode: set.mode, files: set.files, rules: set.rules.length, factors: set.factors.length }
    const stored = { tenantId: set.tenant, digest: set.digest, source: pack(source) }
    const submission = {
      guards: [],
      writes: [write, { kind: 'policySource' as const, stored }],
      entries: [eventEntry(deps, chainOf(set.tenant, 'live'), 'policy.loaded', told, actor)],
    }
    return { submission, reply: () => true }
  })
}

function policyChange(earlier: PolicyRecord | undefined, { tenant, digest }: PolicySet, loadedAt: string) {
  return earlier === undefined
    ? creation('policy', { id: tenant, revision: 1, digest, loadedAt })
    : change('policy', earlier, { digest, loadedAt })
}

export async function recordRejected(
  deps: Deps,
  tenant: string,
  faults: readonly string[],
  actor: Actor,
): Promise<void> {
  if (!deps.store.state().tenants.has(tenant)) return
  const entry = eventEntry(deps, chainOf(tenant, 'live'), 'policy.rejected', { tenantId: tenant, faults }, actor)
  await deps.store.commit({ guards: [], writes: [], entries: [entry] })
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
  // Written by pack; the caller verifies the set against the recorded digest.
  const { files, lists, ignored } = JSON.parse(text) as Packed
  return {
    tenant,
    files: files.map(({ name, base64 }) => ({ name, bytes: Buffer.from(base64, 'base64') })),
    lists: new Map(lists.map(({ path, base64 }) => [path, Buffer.from(base64, 'base64')])),
    ignored,
  }
}
