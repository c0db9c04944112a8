import type { Rotation, Trust } from '../../evidence/trust.ts'
import { logKeysOf } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** The rotations of this instance's log keys, oldest first, as evidence contains them. */
export function rotationsOf(store: Store): Rotation[] {
  return [...store.state().signingKeys.values()]
    .flatMap(({ rotation }) => rotation ?? [])
    .sort((a, b) => (a.statement.at < b.statement.at ? -1 : 1))
}

/** The same as of now: a checkpoint may be signed by a key that the memory lacks yet. */
export async function rotationsNow(store: Store): Promise<Rotation[]> {
  await store.refresh()
  return rotationsOf(store)
}

/** The trust material that others need to verify evidence of this instance. */
export function trustOf(store: Store): Trust {
  const keys = [...store.state().signingKeys.values()]
  return {
    logKeys: logKeysOf(store.origin, keys),
    revoked: new Map(keys.flatMap((key) => (key.revokedAt === null ? [] : [[key.publicKey, key.revokedAt]]))),
  }
}
