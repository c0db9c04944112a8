import { chainOf, ownerOf } from '../../audit/chain.ts'
import type { Actor } from '../../audit/draft.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { digestOf, formatDigest } from '../../base/digest.ts'
import type { Json } from '../../base/json.ts'
import { changedOf, type Head, type Limited } from '../../replay/shown.ts'
import type { Store } from '../../store/store.ts'
import { type Deps, eventEntry } from '../deps.ts'

/** The heads of the chains of a trail. @throws GateError `audit_unavailable` when an entry is missing */
export async function headsOf(store: Store, trail: string): Promise<Head[]> {
  const lengths = await store.lengths(await store.lanes(trail))
  return Promise.all(
    Array.from(lengths, async ([chain, size]) => {
      const [root] = await store.treeHashes(chain, [{ begin: 0, end: size }])
      if (root === undefined) throw new Error(`the tree of ${chain} has no root`)
      return { chain, size, root: formatDigest(root) }
    }),
  )
}

/** A replay that is recorded in the trail: the entry, and the digest of the whole report, which it binds. */
export interface Seal {
  entryId: string
  report: string
}

/**
 * Records that a draft was tried, on what, and with what result, in the tenant's live chain.
 *
 * @param replay the report as it is printed with --json; the digest is that of its canonical form (RFC 8785)
 */
export async function sealReplay(deps: Deps, replay: Limited, actor: Actor): Promise<Seal> {
  const { report, limits, ...about } = replay
  const { decided, stopped, unknown, assumed, matrix } = report
  const { tenantId } = ownerOf(replay.trail)
  // As it is printed: members without a value are not there.
  const digest = digestOf(canonicalJson(JSON.parse(JSON.stringify(replay)) as Json))
  const counts = { decided, changed: changedOf(report), stopped, unknown, assumed, matrix }
  const data = { tenantId, ...about, ...counts, limits, report: digest }
  const entry = eventEntry(deps, chainOf(tenantId, 'live'), 'policy.replayed', data, actor)
  await deps.store.commit({ guards: [], writes: [], entries: [entry] })
  return { entryId: entry.id, report: digest }
}
