import { chainOf } from '../../audit/chain.ts'
import type { Actor } from '../../audit/draft.ts'
import { type StoredEntry, sectionValue } from '../../audit/entry.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Store } from '../../store/store.ts'

/** A set that came into force, as its entry tells. */
export interface Load {
  digest: string
  revision: number
  loadedAt: string
  actor: Actor | undefined
  /** Null in entries of earlier versions, as the members below. */
  mode: string | null
  rules: number | null
  factors: number | null
  /** Digest of the stored text. */
  sourceDigest: string | null
}

/** Sets of a tenant that came into force, the newest first. Pruned ones are missing. */
export async function loadsOf(store: Pick<Store, 'page'>, tenantId: string, limit: number): Promise<Load[]> {
  const chain = chainOf(tenantId, 'live')
  const sections = ['data', 'actor']
  const query = { chain, order: 'desc', limit, offset: 0, eventType: 'policy.loaded', sections } as const
  const { items } = await store.page(query)
  return items.flatMap((entry) => loadIn(entry) ?? [])
}

export async function newestLoad(store: Pick<Store, 'page'>, tenantId: string): Promise<Load | undefined> {
  return (await loadsOf(store, tenantId, 1))[0]
}

/** Undefined for an entry whose data has been erased. */
function loadIn(entry: StoredEntry): Load | undefined {
  const data = sectionValue(entry, 'data')
  if (data === undefined) return undefined
  // The service wrote the section, with the change of the record.
  const { digest, revision, loadedAt } = data.changes as JsonObject & Pick<Load, 'digest' | 'revision' | 'loadedAt'>
  const { mode = null, rules = null, factors = null, sourceDigest = null } = data as Partial<Load>
  const actor = sectionValue(entry, 'actor') as Actor | undefined
  return { digest, revision, loadedAt, actor, mode, rules, factors, sourceDigest }
}
