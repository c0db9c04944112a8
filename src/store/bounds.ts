import type { Store } from './store.ts'

/** Number of entries of one chain, pruned ones too; 0 for one without any. @throws GateError as `Store.lengths` */
export async function lengthOf(store: Pick<Store, 'lengths'>, chain: string): Promise<number> {
  return (await store.lengths([chain])).get(chain) ?? 0
}

/** Place of the oldest entry of a chain that is kept: the number of pruned ones. */
export async function oldestOf(store: Pick<Store, 'pruned'>, chain: string): Promise<number> {
  return (await store.pruned(chain))?.size ?? 0
}
