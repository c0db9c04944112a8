import { SYSTEM_CHAIN } from '../audit/chain.ts'
import { sectionValue } from '../audit/entry.ts'
import { storedJson } from '../base/json.ts'
import { logKeysFor } from '../evidence/trust.ts'
import { type ApiKey, chainOfKey } from '../keys/apikey.ts'
import { GLOBAL, type KillSwitch, type PlacedStop, recordOfStop } from '../killswitch/killswitch.ts'
import { alterationOf, STATE_VERSION } from './alteration.ts'
import { AlteredFile } from './errors.ts'
import {
  type ChangeData,
  chainOfStop,
  logKeyInUse,
  logKeysOf,
  type RecordRow,
  type Records,
  type SigningKey,
} from './records.ts'
import type { Source } from './source.ts'
import { read, type Steps } from './steps.ts'
import type { Alteration, HeldKind, SealKeys, State } from './store.ts'
import { followed, type Instance, snapshotOf } from './verify/follow.ts'

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
export function* loaded(source: Source): Steps<Memory> {
  const { instance, records } = source
  const all = {
    tenants: yield* read(records.tenant.all()),
    keys: yield* read(records.key.all()),
    signingKeys: yield* read(records.signingKey.all()),
    policies: yield* read(records.policy.all()),
    onDisk: yield* placedAll(source, yield* read(records.switch.all()), new Map()),
  }
  const version = yield* read(instance.stateVersion())
  return { ...memoryOf(mergedAll(undefined, all)), version, altered: new Map() }
}

/**
 * Refreshes the cache to the source's state_version; returns the same object when nothing changed. A changed row is taken
 * in only when it follows from its entries; else the record before it stays.
 * Costs one read, and some for each changed record. A commit between two reads would be a row without its entry, so the
 * caller reads one snapshot.
 */
export function* refreshed(memory: Memory, source: Source, instance: Instance): Steps<Memory> {
  const version = yield* read(source.instance.stateVersion())
  if (version === memory.version && memory.altered.size === 0) return memory
  if (version < memory.version || !Number.isSafeInteger(version))
    return {
      ...memory,
      altered: new Map([...memory.altered, [nameOf(STATE_VERSION.kind, STATE_VERSION.id), STATE_VERSION]]),
    }
  return yield* takenIn(memory, source, instance)
}

function* takenIn(memory: Memory, source: Source, { origin, sealKeys }: Instance): Steps<Memory> {
  // Once the version went back, changes may have been missed, until the next start.
  const altered = new Map([...memory.altered].filter(([, { kind }]) => kind === STATE_VERSION.kind))
  const inUse = logKeyInUse(memory.signingKeys.values())
  const successor = inUse && (yield* successorOf(inUse, memory, source, origin))
  const counting = inUse && [inUse, successor]
  const snapshot = snapshotOf(source, { origin, sealKeys: sealKeys && countingKeys(sealKeys, counting) })
  const take = function* <K extends HeldKind>(kind: K, known: ReadonlyMap<string, Records[K]>): Steps<Records[K][]> {
    const taken: Records[K][] = []
    for (const row of yield* changedRows(memory, source, kind)) {
      const before = known.get(row.id)
      try {
        const record = yield* followed(source, snapshot, kind, row, before)
        if (record !== before) taken.push(record)
      } catch (error) {
        if (!(error instanceof AlteredFile)) throw error
        const isRotation =
          kind === 'signingKey' && successor !== undefined && [successor.id, inUse?.id].includes(row.id)
        const awaitsKey = isRotation && sealKeys?.(successor.id) === undefined
        const message = awaitsKey ? absent(successor.id) : error.message
        altered.set(nameOf(kind, row.id), { ...alterationOf(kind, row, before, message), isRotation, awaitsKey })
      }
    }
    return taken
  }
  const stops = new Map(Array.from(memory.onDisk, ([id, stop]) => [id, recordOfStop(stop)]))
  const onDisk = yield* placedAll(source, yield* take('switch', stops), memory.onDisk)
  const changed = {
    tenants: yield* take('tenant', memory.tenants),
    keys: yield* take('key', memory.keys),
    signingKeys: yield* take('signingKey', memory.signingKeys),
    policies: yield* take('policy', memory.policies),
    onDisk,
  }
  const version = yield* read(source.instance.stateVersion())
  return { ...memoryOf(mergedAll(memory, changed)), version, altered }
}

/** Rows written since, and those that were refused before. */
function changedRows({ version, altered }: Memory, { records }: Source, kind: HeldKind): Steps<RecordRow[]> {
  const again = [...altered.values()].flatMap((one) => (one.kind === kind ? [one.id] : []))
  return read(records[kind].rowsSince(version, again))
}

function absent(logKey: string): string {
  return `The log key was rotated to ${logKey}, and its file is not in place here yet.`
}

/** Only a key that the one in use has followed by, or that one, seals what is taken in: not one from before. */
function countingKeys(sealKeys: SealKeys, counting: readonly (SigningKey | undefined)[] | undefined): SealKeys {
  // Before the first log key is recorded, the one in place counts.
  return counting === undefined ? sealKeys : (id) => (counting.some((key) => key?.id === id) ? sealKeys(id) : undefined)
}

/** The log key to which the one in use leads by signed rotations, however many. */
function* successorOf(
  inUse: SigningKey,
  memory: Memory,
  source: Source,
  origin: string,
): Steps<SigningKey | undefined> {
  // It may have been taken in without the end of the one before, when its file came meanwhile.
  const others = [...memory.signingKeys.values()].filter(({ id }) => id !== inUse.id)
  const changed = (yield* changedRows(memory, source, 'signingKey')).filter(({ id }) => !memory.signingKeys.has(id))
  const added = [
    ...others,
    ...changed.map(({ body }) => storedJson(body) as unknown as Partial<SigningKey> | undefined),
  ]
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
    keysByHash: byHash(held.keys.values()),
    switches: [...held.onDisk.values()],
  }
}

/** Hashes in `_system` can be read by each tenant, and written into a key of its own: the admin's is the one that counts. */
function byHash(keys: Iterable<ApiKey>): Map<string, ApiKey> {
  const found = new Map<string, ApiKey>()
  for (const key of keys) if (!found.has(key.hash) || chainOfKey(key) === SYSTEM_CHAIN) found.set(key.hash, key)
  return found
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

function* placedAll(
  source: Source,
  stops: readonly KillSwitch[],
  known: ReadonlyMap<string, PlacedStop>,
): Steps<PlacedStop[]> {
  const all: PlacedStop[] = []
  for (const stop of stops) all.push(yield* placed(source, stop, known.get(stop.id)))
  return all
}

/** Adds the place of the stop, by the entry that made it. */
function* placed({ records, entries }: Source, stop: KillSwitch, before?: PlacedStop): Steps<PlacedStop> {
  if (before?.lengths !== undefined) return { ...stop, lengths: before.lengths }
  const [first] = yield* read(records.entriesOf('switch', stop.id, chainOfStop(stop)))
  const entry = first && (yield* read(entries.bySeq(first.chain, first.seq)))
  const data = entry && (sectionValue(entry, 'data') as (ChangeData & Pick<PlacedStop, 'lengths'>) | undefined)
  // Prune takes nothing that may be younger than an open approval, so a stop without its first entry is older.
  if (first === undefined || data?.changes.revision !== 1) return { ...stop, lengths: {} }
  const lengths = stop.target === GLOBAL ? data.lengths : { ...data.lengths, [first.chain]: first.seq }
  return lengths === undefined ? stop : { ...stop, lengths }
}
