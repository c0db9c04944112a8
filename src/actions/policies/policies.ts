import { groupsWithoutKeys } from '../../approvals/unstaffed.ts'
import { chainOf } from '../../audit/chain.ts'
import type { Actor } from '../../audit/draft.ts'
import type { Diagnostic } from '../../authoring/diagnostics/diagnostics.ts'
import type { QuotedDiagnostic } from '../../authoring/diagnostics/quote.ts'
import type { Bounded, PolicySource, TenantFolder } from '../../authoring/load/files.ts'
import type { CompiledPolicies } from '../../authoring/load/load.ts'
import { digestOf } from '../../base/digest.ts'
import { formatTimestamp } from '../../base/time.ts'
import { linkPolicySet } from '../../policies/link.ts'
import type { Mode, PolicySet } from '../../policies/set.ts'
import { change, creation, type PolicyRecord } from '../../store/records.ts'
import type { Submission } from '../../store/submission.ts'
import { type Deps, decideAndCommit, eventEntry } from '../deps.ts'
import { type AdmissionDeps, admissionOf } from './admission.ts'
import { newestLoad } from './loads.ts'
import { pack } from './packed.ts'
import type { Texts } from './texts.ts'

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
  /** Time of the last look at the folder, or at the store. */
  readonly checkedAt: string
  /** Faults of the newest content; empty when it is in force. */
  readonly faults: readonly string[]
  readonly diagnostics: readonly QuotedDiagnostic[]
}

/**
 * A set came into force, with approver groups that no active key belongs to; or the newest content cannot, by the
 * first of this many faults, and the named set, if any, stays. `code` says how the store was altered, if it was.
 */
export type PolicyChange =
  | { digest: string; mode: Mode; groupsWithoutKeys: readonly string[] }
  | { fault: string; faults: number; inForce: Pick<PolicySet, 'digest' | 'mode'> | null; code?: AlteredText }

/** How a stored text is not the one that was recorded. */
export type AlteredText = 'policy_not_kept' | 'policy_altered'

/** Dependencies for putting sets in force. */
export interface InForceDeps extends PolicyDeps {
  /** Called when a set comes into force, or the newest content cannot. */
  onChange(tenantId: string, change: PolicyChange): void
}

/** Tells of a set that came into force. */
export function tellInForce(deps: InForceDeps, set: PolicySet): void {
  const { tenant, digest, mode } = set
  deps.onChange(tenant, { digest, mode, groupsWithoutKeys: unstaffedIn(deps, set) })
}

/** The groups that lack a key; none for a folder without a tenant, which nobody can ask. */
export function unstaffedIn({ store, clock }: Deps, set: PolicySet | undefined): string[] {
  const { tenants, keys } = store.state()
  return set === undefined || !tenants.has(set.tenant) ? [] : groupsWithoutKeys(set, keys.values(), clock())
}

/** Limit of faults in a policy.rejected entry. */
const LISTED_FAULTS = 20

/** Result of loading a source: a set, or faults. `retry` is true when another attempt may end otherwise. */
export interface Loaded {
  set: PolicySet | undefined
  diagnostics: readonly QuotedDiagnostic[]
  faults: readonly string[]
  retry: boolean
}

export async function tryLoad(source: TenantFolder['source'], compile: PolicyDeps['compile']): Promise<Loaded> {
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

/**
 * Result of recording a set: `pushed` when the store has a pushed one, which a folder does not replace by itself; the
 * fault of one that lacks a sealed replay.
 */
type Recorded = 'recorded' | 'no tenant' | 'pushed' | { fault: string }

/**
 * Records a set of a folder in the audit chain and the store, unless it is there. A tenant that has not been created has
 * no chain.
 *
 * @throws GateError `overloaded` when others recorded sets each time
 */
export async function recordLoaded(
  deps: AdmissionDeps,
  set: PolicySet,
  source: PolicySource,
  actor: Actor,
): Promise<Recorded> {
  return decideAndCommit(deps.store, async () => {
    const state = deps.store.state()
    const earlier = state.policies.get(set.tenant)
    const found = async (): Promise<Recorded | undefined> => {
      if (earlier?.digest === set.digest) return 'recorded'
      if (!state.tenants.has(set.tenant)) return 'no tenant'
      // A sidecar that was started with a folder by mistake would change the policies of the whole fleet.
      const isUnasked = actor.kind === 'service' && earlier !== undefined
      return isUnasked && (await isPushed(deps.store, earlier)) ? 'pushed' : undefined
    }
    const done = await found()
    if (done !== undefined) return { submission: null, reply: () => done }
    const admission = await admissionOf(deps, set, earlier)
    if ('fault' in admission) return { submission: null, reply: () => admission }
    const submission = loadedSubmission(deps, { set, source, earlier, admittedBy: admission.by }, actor)
    return { submission, reply: () => 'recorded' as const }
  })
}

async function isPushed(store: Deps['store'], record: PolicyRecord): Promise<boolean> {
  return (await newestLoad(store, record.id))?.actor?.kind === 'host'
}

/** A set that was loaded and tested, to be put in force. */
export interface Candidate {
  set: PolicySet
  source: PolicySource
  /** The record when the check began. */
  earlier: PolicyRecord | undefined
}

/** Puts a set in force: its record, its texts, and the entry that tells of both, and of the entry that admitted it. */
export function loadedSubmission(
  deps: Deps,
  { set, source, earlier, admittedBy }: Candidate & { admittedBy: string | null },
  actor: Actor,
): Submission {
  const { data, write } = policyChange(earlier, set, formatTimestamp(deps.clock()))
  const text = pack(source)
  const { tenant: tenantId, digest, mode, files, rules, factors } = set
  const counts = { files, rules: rules.length, factors: factors.length }
  const told = { ...data, mode, ...counts, sourceDigest: digestOf(text), ...(admittedBy !== null && { admittedBy }) }
  return {
    guards: [],
    writes: [write, { kind: 'policySource', stored: { tenantId, digest, source: text } }],
    entries: [eventEntry(deps, chainOf(tenantId, 'live'), 'policy.loaded', told, actor)],
  }
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
