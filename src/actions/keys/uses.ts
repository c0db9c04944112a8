import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Deps } from '../deps.ts'

/** Uses in one write; other writers get the file between two. */
const BATCH = 500

export type KeyUses = ReturnType<typeof rememberKeyUses>

/** Last uses of keys. They are informative and prove nothing: no chain holds them, and a crash loses the newest. */
export function rememberKeyUses({ store }: Pick<Deps, 'store'>) {
  const used = new Map<string, number>()
  const written = new Map<string, number>()
  /** Uses of admin keys stay in memory where one tenant is served. */
  const isServed = (keyId: string): boolean =>
    store.tenant === undefined || store.state().keys.get(keyId)?.tenantId === store.tenant
  return {
    /** Notes a use of this key. Runs for every request, so it must be cheap. */
    note: (keyId: string, atMs: number) => void used.set(keyId, atMs),
    /** Last uses of these keys, as far as this process and the file know; unused keys are left out. */
    async lastOf(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const last = new Map(await storedUses(store, keyIds))
      for (const keyId of keyIds) {
        const atMs = used.get(keyId)
        const stored = last.get(keyId)
        if (atMs !== undefined && (stored === undefined || atMs > Date.parse(stored)))
          last.set(keyId, formatTimestamp(atMs))
      }
      return last
    },
    /** Writes the uses that are not on disk yet. @throws GateError of the store; they are written next time then */
    async flush(): Promise<void> {
      const due = Array.from(used).filter(([keyId, atMs]) => written.get(keyId) !== atMs && isServed(keyId))
      for (let first = 0; first < due.length; first += BATCH) {
        const batch = due.slice(first, first + BATCH)
        const uses = batch.map(([keyId, atMs]) => ({ keyId, at: formatTimestamp(atMs) }))
        await store.commit({ guards: [], writes: [{ kind: 'keyUse', uses }], entries: [] })
        for (const [keyId, atMs] of batch) written.set(keyId, atMs)
      }
    },
  }
}

/** The stored uses; while the file cannot be read, the ones in memory still answer. */
async function storedUses(store: Deps['store'], keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  try {
    return await store.keyUses(keyIds)
  } catch (error) {
    if (error instanceof GateError && error.code === 'audit_unavailable') return new Map()
    throw error
  }
}
