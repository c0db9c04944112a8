import { GateError } from '../../base/errors.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Deps } from '../deps.ts'

/** So many are written at once: others have their turn on the file between. */
const BATCH = 500

/** When keys were used last. It says what is in use and proves nothing: it is in no chain, and after a crash the newest uses are lost. */
export interface KeyUses {
  /** A request has come with this key. For every request, so it costs next to nothing. */
  note(keyId: string, atMs: number): void
  /** When each of these keys was used last, as far as this process and the file know; keys that never were are left out. */
  lastOf(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Writes the uses that are not on disk yet, if there are any. @throws GateError of the store; they are written next time then */
  flush(): Promise<void>
}

export function rememberKeyUses({ store }: Pick<Deps, 'store'>): KeyUses {
  const used = new Map<string, number>()
  const written = new Map<string, number>()
  return {
    note: (keyId, atMs) => void used.set(keyId, atMs),
    async lastOf(keyIds) {
      const last = new Map(await storedUses(store, keyIds))
      for (const keyId of keyIds) {
        const atMs = used.get(keyId)
        const stored = last.get(keyId)
        if (atMs !== undefined && (stored === undefined || atMs > Date.parse(stored)))
          last.set(keyId, formatTimestamp(atMs))
      }
      return last
    },
    async flush() {
      const due = Array.from(used).filter(([keyId, atMs]) => written.get(keyId) !== atMs)
      for (let first = 0; first < due.length; first += BATCH) {
        const batch = due.slice(first, first + BATCH)
        const uses = batch.map(([keyId, atMs]) => ({ keyId, at: formatTimestamp(atMs) }))
        await store.commit({ guards: [], writes: [{ kind: 'keyUse', uses }], entries: [] })
        for (const [keyId, atMs] of batch) written.set(keyId, atMs)
      }
    },
  }
}

/** While the file cannot be read, what this process remembers is still an answer. */
async function storedUses(store: Deps['store'], keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  try {
    return await store.keyUses(keyIds)
  } catch (error) {
    if (error instanceof GateError && error.code === 'audit_unavailable') return new Map()
    throw error
  }
}
