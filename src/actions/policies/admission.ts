import { chainOf } from '../../audit/chain.ts'
import { sectionValue } from '../../audit/entry.ts'
import { formatTimestamp, parseDuration } from '../../base/time.ts'
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

/** Entries of a type in which the one that admits a set is looked for, from the newest on, and those read at once. */
const LOOKED_AT = 10_000
const PAGE = 500

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
  const oldest = formatTimestamp(clock() - sinceMs(requireReplay.since))
  const overridden = await newest<Override>(store, set.tenant, 'policy.overridden', oldest, (data) => {
    return data.digest === set.digest && data.revision === inForce.revision
  })
  if (overridden !== undefined) return { by: overridden.id }
  const isUnobserved = set.mode === 'observe' && (await newestLoad(store, set.tenant))?.mode !== 'observe'
  if (isUnobserved) return refused(set, 'is only observed, so that every action would run')
  const tried = await newest<SealedReplay>(store, set.tenant, 'policy.replayed', oldest, (data) => {
    return isAbout(data, set, inForce.digest, requireReplay.since)
  })
  if (tried === undefined)
    return refused(set, `was not tried on the requests of the last ${requireReplay.since} in place of the set in force`)
  const fault = boundsFault(tried.data, requireReplay, oldest)
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
  { trail, policyDigest, inForce, from, to, at, action, sample, history }: SealedReplay,
  { tenant, digest }: PolicySet,
  current: string,
  since: string,
): boolean {
  if (trail !== chainOf(tenant, 'live') || policyDigest !== digest || inForce !== current) return false
  if (action !== undefined || sample !== undefined || to !== null || history !== 'recorded') return false
  if (from === null || at === undefined) return false
  return Date.parse(at) - Date.parse(from) >= sinceMs(since)
}

function boundsFault(replay: SealedReplay, bounds: RequiredReplay, oldest: string): string | undefined {
  const { at = '', matrix, unknown, decided, stopped } = replay
  if (at < oldest) return `is older than ${bounds.since}`
  const unsure = Object.values(unknown).reduce((sum, count) => sum + count, 0)
  if (decided === 0 && stopped > 0) return 'decided no request, since a stop had denied all of them'
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

/**
 * The newest entry of a type, not older than a time, whose data is wanted. Entries of one chain never go back in time.
 * Their data is never erased; an entry that was altered to have none is passed over.
 */
async function newest<T>(
  store: Pick<Store, 'page'>,
  tenantId: string,
  eventType: 'policy.replayed' | 'policy.overridden',
  oldest: string,
  isWanted: (data: T) => boolean,
): Promise<{ id: string; data: T } | undefined> {
  const query = { order: 'desc', limit: PAGE, eventType, sections: ['data'] } as const
  for (let offset = 0; offset < LOOKED_AT; offset += PAGE) {
    const { items } = await store.page({ chain: chainOf(tenantId, 'live'), ...query, offset })
    for (const entry of items) {
      if (entry.header.ts < oldest) return undefined
      // The service wrote the section.
      const data = sectionValue(entry, 'data') as T | undefined
      if (data !== undefined && isWanted(data)) return { id: entry.header.id, data }
    }
    if (items.length < PAGE) return undefined
  }
  return undefined
}
