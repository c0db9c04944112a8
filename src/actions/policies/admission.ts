import { chainOf } from '../../audit/chain.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import { parseDuration } from '../../base/time.ts'
import type { PolicySet } from '../../policies/set.ts'
import type { From } from '../../replay/report.ts'
import type { PolicyRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Deps } from '../deps.ts'
import type { SealedReplay } from '../replay/seal.ts'
import { newestLoad } from './loads.ts'

/** Bounds of the sealed replay without which no set comes into force. */
export interface RequiredReplay {
  /** Duration of the requests that it decided, up to its beginning, and of the time for which it counts. */
  readonly since: string
  /** Requests that the set would newly allow, or deny; unknown ones count as both. */
  readonly maxNewAllows: number
  readonly maxNewDenies: number
}

export interface AdmissionDeps extends Deps {
  /** Null where a set needs no replay. */
  requireReplay: RequiredReplay | null
}

/** The entry that admits a set, null where none is needed; or the reason why it may not come into force. */
export type Admission = { by: string | null } | { fault: string }

/** Data of a `policy.overridden` entry: the set that may come into force in place of this revision of the record. */
export interface Override {
  tenantId: string
  digest: string
  inForce: string
  revision: number
  reason: string
}

/** Entries of a type in which the one that admits a set is looked for, from the newest on. */
const LOOKED_AT = 100

/**
 * Says whether a set may come into force in place of that of the record: after a sealed replay within bounds, or when
 * somebody overrode that. The first set of a tenant has nothing to be compared with.
 */
export async function admissionOf(
  { store, clock, requireReplay }: AdmissionDeps,
  set: PolicySet,
  inForce: PolicyRecord | undefined,
): Promise<Admission> {
  if (requireReplay === null || inForce === undefined || inForce.digest === set.digest) return { by: null }
  const overrides = await newest<Override>(store, set.tenant, 'policy.overridden')
  const overridden = overrides.find(
    ({ data: { digest, revision } }) => digest === set.digest && revision === inForce.revision,
  )
  if (overridden !== undefined) return { by: overridden.id }
  const isUnobserved = set.mode === 'observe' && (await newestLoad(store, set.tenant))?.mode !== 'observe'
  if (isUnobserved) return refused(set, 'is only observed, so that every action would run')
  const replays = await newest<SealedReplay>(store, set.tenant, 'policy.replayed')
  const tried = replays.find(({ data }) => isAbout(data, set, inForce.digest, requireReplay.since))
  if (tried === undefined)
    return refused(set, `was not tried on the requests of the last ${requireReplay.since} in place of the set in force`)
  const fault = boundsFault(tried.data, requireReplay, clock())
  return fault === undefined ? { by: tried.id } : refused(set, `was tried by ${tried.id}, which ${fault}`)
}

function refused({ tenant, digest }: PolicySet, why: string): Admission {
  return {
    fault:
      `replay_required: The set ${digest} ${why}. Run \`gate-sidecar replay --seal\` with it, or put it in force ` +
      `with a reason by \`gate-sidecar policies override --tenant ${tenant}\`.`,
  }
}

/** True for a replay of the set on all live requests of the time before it, against the set in force. */
function isAbout(
  { trail, policyDigest, inForce, from, to, at, action, sample }: SealedReplay,
  { tenant, digest }: PolicySet,
  current: string,
  since: string,
): boolean {
  if (trail !== chainOf(tenant, 'live') || policyDigest !== digest || inForce !== current) return false
  if (action !== undefined || sample !== undefined || to !== null) return false
  if (from === null || at === undefined) return false
  return Date.parse(at) - Date.parse(from) >= sinceMs(since)
}

function boundsFault(replay: SealedReplay, bounds: RequiredReplay, nowMs: number): string | undefined {
  const { at = '', matrix, unknown } = replay
  if (nowMs - Date.parse(at) > sinceMs(bounds.since)) return `is older than ${bounds.since}`
  const unsure = Object.values(unknown).reduce((sum, count) => sum + count, 0)
  const changed = (to: From, from: readonly From[]): number =>
    matrix.reduce((sum, cell) => sum + (cell.to === to && from.includes(cell.from) ? cell.count : 0), unsure)
  const [allows, denies] = [
    changed('allow', ['require_approval', 'deny']),
    changed('deny', ['allow', 'require_approval']),
  ]
  const and = unsure > 0 ? `, ${unsure} unknown among them` : ''
  if (allows > bounds.maxNewAllows) return `newly allows ${allows} requests${and}, more than ${bounds.maxNewAllows}`
  if (denies > bounds.maxNewDenies) return `newly denies ${denies} requests${and}, more than ${bounds.maxNewDenies}`
  return undefined
}

/** @throws TypeError for a text that is not a duration; settings are checked when they are read */
function sinceMs(since: string): number {
  const ms = parseDuration(since)
  if (ms === undefined) throw new TypeError(`${since} is not a duration`)
  return ms
}

/** The newest entries of a type about the tenant's policies. Their data is never erased. */
async function newest<T>(
  store: Pick<Store, 'page'>,
  tenantId: string,
  eventType: 'policy.replayed' | 'policy.overridden',
): Promise<{ id: string; data: T }[]> {
  const query = { order: 'desc', limit: LOOKED_AT, offset: 0, eventType, sections: ['data'] } as const
  const { items } = await store.page({ chain: chainOf(tenantId, 'live'), ...query })
  // The service wrote the section.
  return items.map((entry: StoredEntry) => ({ id: entry.header.id, data: sectionValue(entry, 'data') as T }))
}
