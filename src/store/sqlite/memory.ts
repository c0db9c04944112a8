import { sectionValue } from '../../audit/entry.ts'
import { storedJson } from '../../base/json.ts'
import { logKeysFor } from '../../evidence/trust.ts'
import { GLOBAL, type KillSwitch, type PlacedStop, recordOfStop } from '../../killswitch/killswitch.ts'
import { type ChangeData, logKeyInUse, logKeysOf, type Records, type SigningKey } from '../records.ts'
import type { Alteration, HeldKind, SealKeys, State } from '../store.ts'
import { alterationOf, STATE_VERSION } from './alteration.ts'
import type { Connection } from './connection.ts'
import { AlteredFile } from './errors.ts'
import { followed, type Instance, snapshotOf } from './follow.ts'
import type { RecordRow } from './records.ts'

/** Immutable cache of the records that every check needs, as of one state_version. Plain data: a thread receives it. */
export interface Memory extends State {
  version: number
  onDisk: ReadonlyMap<string, PlacedStop>
  /** Rows that were refused, by kind and id. The earlier state of each stays in use. */
  altered: ReadonlyMap<string, Alteration>
}

type Held = Pick<Memory, 'tenants' | 'keys' | 'signingKeys' | 'policies' | 'onDisk'>
type Changed = { [K in keyof Held]: Held[K] extends ReadonlyMap<string, infer T> ? readonly T[] : never }

/** Additions of a memory to an earlier one of the same file. Plain data: a thread receives it. */
export interface MemoryChanges extends Pick<Memory, 'version' | 'altered'> {
  changed: Changed
}

/** Key of `altered`. */
export function nameOf(kind: Alteration['kind'] | 'approval', id: string): string {
  return `${kind} ${id}`
}

/** The record as it was last taken in. */
export function recordIn(memory: Memory, kind: HeldKind, id: string): { revision: number } | undefined {
  const { tenants, keys, signingKeys, policies, onDisk } = memory
  const maps = { tenant: tenants, key: keys, signingKey: signingKeys, policy: policies, switch: onDisk }
  return maps[kind].get(id)
}

/** Loads all records, which the caller has compared with the chains. */
export function loaded(connection: Connection): Memory {
  const { instance, records } = connection
  const all = {
    tenants: records.tenant.all(),
    keys: records.key.all(),
    signingKeys: records.signingKey.all(),
    policies: records.policy.all(),
    onDisk: records.switch.all().map((stop) => placed(connection, stop)),
  }
  return { ...memoryOf(mergedAll(undefined, all)), version: instance.stateVersion(), altered: new Map() }
}

/**
 * Refreshes the cache to the connection's state_version; returns the same object when nothing changed. A changed row is
 * taken in only when it follows from its entries; else the record before it stays.
 * Costs one read, and some for each changed record.
 */
export function refreshed(memory: Memory, connection: Connection, instance: Instance): Memory {
  const version = connection.instance.stateVersion()
  if (version === memory.version && memory.altered.size === 0) return memory
  if (version < memory.version || !Number.isSafeInteger(version))
    return {
      ...memory,
      altered: new Map([...memory.altered, [nameOf(STATE_VERSION.kind, STATE_VERSION.id), STATE_VERSION]]),
    }
  // A commit between two reads would be a row without its entry.
  return connection.db.transaction(() => takenIn(memory, connection, instance)).deferred()
}

function takenIn(memory: Memory, connection: Connection, { origin, sealKeys }: Instance): Memory {
  const altered = new Map<string, Alteration>()
  const inUse = logKeyInUse(memory.signingKeys.values())
  const counting = inUse && [inUse, successorOf(inUse, memory, connection, origin)]
  const snapshot = snapshotOf(connection, { origin, sealKeys: sealKeys && countingKeys(sealKeys, counting) })
  const take = <K extends HeldKind>(kind: K, known: ReadonlyMap<string, Records[K]>): Records[K][] => {
    return changedRows(memory, connection, kind).flatMap((row) => {
      const before = known.get(row.id)
      try {
        const record = followed(connection, snapshot, kind, row, before)
        return record === before ? [] : [record]
      } catch (error) {
        if (!(error instanceof AlteredFile)) throw error
        altered.set(nameOf(kind, row.id), alterationOf(kind, row, before, error.message))
        return []
      }
    })
  }
  const stops = new Map(Array.from(memory.onDisk, ([id, stop]) => [id, recordOfStop(stop)]))
  const changedStops = take('switch', stops).map((stop) => placed(connection, stop, memory.onDisk.get(stop.id)))
  const changed = {
    tenants: take('tenant', memory.tenants),
    keys: take('key', memory.keys),
    signingKeys: take('signingKey', memory.signingKeys),
    policies: take('policy', memory.policies),
    onDisk: changedStops,
  }
  return { ...memoryOf(mergedAll(memory, changed)), version: connection.instance.stateVersion(), altered }
}

/** Rows written since, and those that were refused before. */
function changedRows({ version, altered }: Memory, { records }: Connection, kind: HeldKind): RecordRow[] {
  const again = [...altered.values()].flatMap((one) => (one.kind === kind ? [one.id] : []))
  return records[kind].rowsSince(version, again)
}

/** Only a key that the one in use has followed by, or that one, seals what is taken in: not one from before. */
function countingKeys(sealKeys: SealKeys, counting: readonly (SigningKey | undefined)[] | undefined): SealKeys {
  // Before the first log key is recorded, the one in place counts.
  return counting === undefined ? sealKeys : (id) => (counting.some((key) => key?.id === id) ? sealKeys(id) : undefined)
}

/** The changed row of the log key to which the one in use leads by signed rotations, however many. */
function successorOf(
  inUse: SigningKey,
  memory: Memory,
  connection: Connection,
  origin: string,
): SigningKey | undefined {
  const added = changedRows(memory, connection, 'signingKey')
    .filter(({ id }) => !memory.signingKeys.has(id))
    .map(({ body }) => storedJson(body) as unknown as Partial<SigningKey> | undefined)
  const rotations = added.flatMap((key) => key?.rotation ?? [])
  const trust = { logKeys: logKeysOf(origin, [inUse]), revoked: new Map() }
  const { keys } = logKeysFor(trust, { origin, rotations, signedBy: inUse.publicKey })
  // An end is that of a key before the newest, such as one that a copied rotation names.
  const newest = keys.find(({ until }) => until === null)
  return added.find((key): key is SigningKey => key?.publicKey !== undefined && key.publicKey === newest?.publicKey)
}

/** The changes since `before`, all records without one; undefined when nothing changed. No record is ever taken away. */
export function changesBetween(before: Memory | undefined, now: Memory): MemoryChanges | undefined {
  if (now === before) return undefined
  const since = <T extends { id: string }>(known: ReadonlyMap<string, T> | undefined, all: ReadonlyMap<string, T>) =>
    known === all ? [] : [...all.values()].filter((record) => known?.get(record.id) !== record)
  const changed = {
    tenants: since(before?.tenants, now.tenants),
    keys: since(before?.keys, now.keys),
    signingKeys: since(before?.signingKeys, now.signingKeys),
    policies: since(before?.policies, now.policies),
    onDisk: since(before?.onDisk, now.onDisk),
  }
  return { version: now.version, altered: now.altered, changed }
}

export function withChanges(memory: Memory | undefined, { version, altered, changed }: MemoryChanges): Memory {
  return { ...memoryOf(mergedAll(memory, changed)), version, altered }
}

function memoryOf(held: Held): Held & Pick<Memory, 'keysByHash' | 'switches'> {
  return {
    ...held,
    keysByHash: new Map(Array.from(held.keys.values(), (key) => [key.hash, key])),
    switches: [...held.onDisk.values()],
  }
}

function mergedAll(held: Held | undefined, changed: Changed): Held {
  return {
    tenants: merged(held?.tenants, changed.tenants),
    keys: merged(held?.keys, changed.keys),
    signingKeys: merged(held?.signingKeys, changed.signingKeys),
    policies: merged(held?.policies, changed.policies),
    onDisk: merged(held?.onDisk, changed.onDisk),
  }
}

function merged<T extends { id: string }>(
  map: ReadonlyMap<string, T> = new Map(),
  changed: readonly T[],
): ReadonlyMap<string, T> {
  return changed.length === 0 ? map : new Map([...map, ...changed.map((item) => [item.id, item] as const)])
}

/** Adds the place of the stop, by the entry that made it. */
function placed({ records, entries }: Connection, stop: KillSwitch, before?: PlacedStop): PlacedStop {
  if (before?.lengths !== undefined) return { ...stop, lengths: before.lengths }
  const [first] = records.entriesOf('switch', stop.id)
  const entry = first && entries.bySeq(first.chain, first.seq)
  const data = entry && (sectionValue(entry, 'data') as (ChangeData & Pick<PlacedStop, 'lengths'>) | undefined)
  // Prune takes nothing that may be younger than an open approval, so a stop without its first entry is older.
  if (first === undefined || data?.changes.revision !== 1) return { ...stop, lengths: {} }
  const lengths = stop.target === GLOBAL ? data.lengths : { [first.chain]: first.seq }
  return lengths === undefined ? stop : { ...stop, lengths }
}
