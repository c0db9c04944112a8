import type { Rotation, Trust } from '../../evidence/trust.ts'
import { logKeysOf } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

/** How this instance's log keys followed one another, oldest first: what travels with evidence. */
export function rotationsOf(store: Store): Rotation[] {
  return [...store.state().signingKeys.values()]
    .flatMap(({ rotation }) => rotation ?? [])
    .sort((a, b) => (a.statement.at < b.statement.at ? -1 : 1))
}

/** What others need to verify evidence of this instance. */
export function trustOf(store: Store): Trust {
  const keys = [...store.state().signingKeys.values()]
  return {
    logKeys: logKeysOf(store.origin, keys),
    revoked: new Map(keys.flatMap((key) => (key.revokedAt === null ? [] : [[key.publicKey, key.revokedAt]]))),
  }
}
