import { covers, type Scoped } from '../../killswitch/killswitch.ts'
import { domainOf } from '../../policies/set.ts'
import type { Deps, PoliciesInForce } from '../deps.ts'

/** Number of newest decisions from which the actions in use are taken. */
const RECENT_DECISIONS = 1000

/**
 * The known actions that a stop covers, with a warning when it covers none: it reveals a mistyped scope at once.
 *
 * @param readsRecent false where the store may not answer: then only declared actions are known
 */
export async function coverageOf(
  { store, policies }: Deps & { policies: PoliciesInForce },
  { tenantId, chain }: { tenantId: string; chain: string },
  stop: Scoped,
  { readsRecent }: { readsRecent: boolean },
) {
  const set = policies.get(tenantId)
  const recent = readsRecent ? await store.recentActions(chain, RECENT_DECISIONS) : []
  const known = new Set([...(set?.actions.keys() ?? []), ...recent])
  const covered = [...known].filter((action) => covers(stop, { chain, action, domain: set && domainOf(set, action) }))
  const unmatched =
    set === undefined
      ? `No recent action matches ${stop.scope}, and no policies of ${tenantId} are known`
      : `No declared or recent action matches ${stop.scope}`
  const warning = stop.level === 'L1' && covered.length === 0 ? `${unmatched}; check its spelling.` : null
  return { covers: covered.sort(), warning }
}
