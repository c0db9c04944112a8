import { formatTimestamp } from '../../base/time.ts'
import type { Sidecar } from '../../store/fleet.ts'
import type { Caller, Deps } from '../deps.ts'

/** Limit of the listed sidecars. */
export const MAX_SIDECARS = 200

/** The sidecars that share the store, and what decides there for the caller's tenant; null for a file. */
export async function fleetOf({ store: { fleet } }: Deps, { tenantId }: Caller) {
  if (fleet === undefined) return null
  const sidecars = (await fleet.sidecars(tenantId)).sort((a, b) => Number(b.isLive) - Number(a.isLive))
  const live = sidecars.filter(({ isLive }) => isLive)
  return {
    live: live.length,
    sidecars: sidecars.slice(0, MAX_SIDECARS).map(shown),
    sidecarsLeftOut: Math.max(0, sidecars.length - MAX_SIDECARS),
    policies: countsOf(live.map(({ policyDigest }) => policyDigest)).map(([digest, count]) => ({
      digest,
      sidecars: count,
    })),
    versions: countsOf(live.map(({ version }) => version)).map(([version, count]) => ({ version, sidecars: count })),
  }
}

function shown({ startedMs, heardMs, ...sidecar }: Sidecar) {
  return { ...sidecar, startedAt: formatTimestamp(startedMs), heardAt: formatTimestamp(heardMs) }
}

/** Number of each value, the most frequent first. */
function countsOf<T>(values: readonly T[]): [value: T, count: number][] {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)
}
