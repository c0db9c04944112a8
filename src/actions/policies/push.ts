import type { Actor } from '../../audit/draft.ts'
import type { PolicyRecord } from '../../store/records.ts'
import type { Deps } from '../deps.ts'
import { type AdmissionDeps, admissionOf } from './admission.ts'
import { type Load, loadsOf, newestLoad } from './loads.ts'
import { type Candidate, loadedSubmission, type PolicyDeps, unstaffedIn } from './policies.ts'
import { storedInForce } from './stored.ts'

/** Another set came into force while this one was checked. The message says what to do. */
export class PolicyConflict extends Error {
  override readonly name = 'PolicyConflict'
}

/** The set lacks a sealed replay within bounds. The message says what to do. */
class PolicyNotAdmitted extends Error {
  override readonly name = 'PolicyNotAdmitted'
}

/**
 * Puts a set in force for every sidecar that takes its policies from the store: the record, the text and one entry.
 * Nothing is written for the set that is in force, unless its text was altered.
 *
 * @throws PolicyConflict when another set came into force since `earlier`; PolicyNotAdmitted
 */
export async function pushSet(deps: AdmissionDeps & Pick<PolicyDeps, 'compile'>, candidate: Candidate, actor: Actor) {
  const { store } = deps
  const { set, earlier } = candidate
  const told = (changed: boolean) => {
    const record = store.state().policies.get(set.tenant)
    return {
      tenantId: set.tenant,
      digest: set.digest,
      revision: record?.revision ?? 0,
      loadedAt: record?.loadedAt ?? null,
      previous: earlier?.digest ?? null,
      changed,
      mode: set.mode,
      files: set.files,
      rules: set.rules.length,
      factors: set.factors.length,
      groupsWithoutKeys: unstaffedIn(deps, set),
    }
  }
  const isInForce = earlier?.digest === set.digest && (await storedInForce(deps, earlier)).set !== undefined
  if (isInForce) return told(false)
  const admission = await admissionOf(deps, set, earlier)
  if ('fault' in admission) throw new PolicyNotAdmitted(admission.fault)
  const { conflict } = await store.commit(loadedSubmission(deps, { ...candidate, admittedBy: admission.by }, actor))
  if (conflict === null) return told(true)
  await store.refresh()
  if (store.state().policies.get(set.tenant)?.digest === set.digest) return told(false)
  throw await conflictOf(deps, set.tenant)
}

async function conflictOf({ store }: Deps, tenantId: string): Promise<PolicyConflict> {
  const load = await newestLoad(store, tenantId)
  const by = load?.actor === undefined ? '' : ` by ${load.actor.id}`
  return new PolicyConflict(
    `Another set of ${tenantId} came into force meanwhile, ${load?.digest ?? 'since pruned'}${by}; nothing was written. ` +
      `Look at it with \`gate-sidecar policies history --tenant ${tenantId}\`, then run the command again.`,
  )
}

/** Entries in which the set before is looked for. */
const LOADS = 100

/**
 * The set that was in force before this one: the newest with another digest. Undefined when none is known.
 *
 * @param to digest of another one that was in force
 */
export async function loadBefore(
  { store }: Deps,
  { id, digest }: PolicyRecord,
  to?: string,
): Promise<Pick<Load, 'digest' | 'sourceDigest'> | undefined> {
  const loads = await loadsOf(store, id, LOADS)
  if (to === undefined) return loads.find((load) => load.digest !== digest)
  // The text counts only when it makes a set of this digest, whether or not its entry is among these.
  return loads.find((load) => load.digest === to) ?? { digest: to, sourceDigest: null }
}
