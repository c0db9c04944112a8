import type { PolicyRegistry } from '../actions/policies/registry.ts'
import type { DigestCount } from '../store/fleet.ts'
import type { Store } from '../store/store.ts'
import type { Background } from './repeat.ts'

/** Interval of telling others which policies are in force here; the store passes on what is new. */
const TELL_MS = 1000
const COUNT_MS = 10_000
/** Limit of the digests in the metrics. */
const MAX_DIGESTS = 50

export interface KeptFleet {
  /** Digests of tenants whose sidecars have different policies, as counted last; none for a file. */
  divided(): readonly DigestCount[]
  /** Number of sidecars among which the rate of the tenant's plan is divided. */
  sharers(tenantId: string): number
}

/** Tells the sidecars that share the store what is in force here, and compares it with theirs. */
export function keepFleet(
  { fleet }: Pick<Store, 'fleet'>,
  policies: Pick<PolicyRegistry, 'digests'>,
  { config, tasks }: Background,
): KeptFleet {
  let divided: readonly DigestCount[] = []
  if (fleet !== undefined) {
    fleet.tell(policies.digests())
    tasks.every('tell of policies', TELL_MS, async () => fleet.tell(policies.digests()))
    tasks.every('compare policies', COUNT_MS, async () => {
      divided = await fleet.divided(MAX_DIGESTS)
    })
  }
  const sharers = (tenantId: string): number => (config.rateLimits === 'fleet' ? (fleet?.live(tenantId) ?? 1) : 1)
  return { divided: () => divided, sharers }
}
