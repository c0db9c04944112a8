import { chainOf, ownerOf } from '../../audit/chain.ts'
import type { Actor } from '../../audit/draft.ts'
import type { Diff } from '../../authoring/diff/diff.ts'
import type { Difference } from '../../authoring/diff/witness.ts'
import { canonicalJson } from '../../base/canonical.ts'
import { digestOf, formatDigest } from '../../base/digest.ts'
import type { Json } from '../../base/json.ts'
import type { ReplayReport } from '../../replay/report.ts'
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

/** Members of a replay that are recorded as they are. */
type Told = Omit<Limited, 'report' | 'unread'>

/** Data of a `policy.replayed` entry. */
export interface SealedReplay
  extends Told,
    Pick<ReplayReport, 'decided' | 'stopped' | 'unknown' | 'assumed' | 'matrix'> {
  tenantId: string
  /** Requests of which the draft decides otherwise. */
  changed: number
  /** Digest of the report as it was given out, as canonical JSON (RFC 8785). */
  report: string
}

/**
 * Records that a draft was tried, on what, and with what result, in the tenant's live chain.
 *
 * @param given the report as somebody holds it, which the entry binds
 */
export function sealReplay(
  deps: Deps,
  { report, unread: _, ...told }: Limited,
  { given, actor }: { given: object; actor: Actor },
): Promise<Seal> {
  const { decided, stopped, unknown, assumed, matrix } = report
  const { tenantId } = ownerOf(told.trail)
  const counts = { decided, changed: changedOf(report), stopped, unknown, assumed, matrix }
  const data: Omit<SealedReplay, 'report'> = { tenantId, ...told, ...counts }
  return seal(deps, 'policy.replayed', data, given, actor)
}

/** Records that two sets were compared, and how much was found; `report` binds the whole difference. */
export async function sealDiff(deps: Deps, tenantId: string, diff: Diff, actor: Actor): Promise<Seal> {
  const { from, to, changes, witnesses, cells, exhaustive, actions } = diff
  const found: { [kind in Difference]?: number } = {}
  for (const { difference } of witnesses) found[difference] = (found[difference] ?? 0) + 1
  const heads = await headsOf(deps.store, chainOf(tenantId, 'live'))
  const counts = { changes: changes.length, witnesses: found, cells, exhaustive, actions }
  const data = { tenantId, from, to, heads, ...counts }
  return seal(deps, 'policy.compared', data, diff, actor)
}

async function seal(
  deps: Deps,
  type: 'policy.replayed' | 'policy.compared',
  data: { tenantId: string },
  given: object,
  actor: Actor,
): Promise<Seal> {
  // As it is printed: members without a value are not there.
  const report = digestOf(canonicalJson(JSON.parse(JSON.stringify(given)) as Json))
  const entry = eventEntry(deps, chainOf(data.tenantId, 'live'), type, { ...data, report }, actor)
  await deps.store.commit({ guards: [], writes: [], entries: [entry] })
  return { entryId: entry.id, report }
}
