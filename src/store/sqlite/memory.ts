import type { KillSwitch } from '../../killswitch/killswitch.ts'
import type { State } from '../store.ts'
import type { Connection } from './connection.ts'

/** Immutable cache of the records that every check needs, as of one state_version. */
export interface Memory extends State {
  version: number
  onDisk: ReadonlyMap<string, KillSwitch>
}

export const EMPTY: Memory = {
  version: -1,
  tenants: new Map(),
  keys: new Map(),
  keysByHash: new Map(),
  signingKeys: new Map(),
  policies: new Map(),
  onDisk: new Map(),
  switches: [],
}

/**
 * Refreshes the cache to the connection's state_version; returns the same object when nothing changed.
 * Costs one read, and one for each changed record.
 */
export function refreshed(memory: Memory, { instance, records }: Connection): Memory {
  const version = instance.stateVersion()
  if (version === memory.version) return memory
  const keys = merge(memory.keys, records.key.changedSince(memory.version))
  const onDisk = merge(memory.onDisk, records.switch.changedSince(memory.version))
  return {
    version,
    tenants: merge(memory.tenants, records.tenant.changedSince(memory.version)),
    keys,
    keysByHash: new Map(Array.from(keys.values(), (key) => [key.hash, key])),
    signingKeys: merge(memory.signingKeys, records.signingKey.changedSince(memory.version)),
    policies: merge(memory.policies, records.policy.changedSince(memory.version)),
    onDisk,
    switches: [...onDisk.values()],
  }
}

function merge<T extends { id: string }>(map: ReadonlyMap<string, T>, changed: readonly T[]): ReadonlyMap<string, T> {
  return changed.length === 0 ? map : new Map([...map, ...changed.map((item) => [item.id, item] as const)])
}
