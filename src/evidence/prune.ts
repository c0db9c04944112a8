import type { Head } from '../audit/chain.ts'
import { readJson } from '../base/json.ts'
import { EVIDENCE_JSON } from './envelope.ts'
import { Base64Of32, Digest, Origin, Path, Signature, Time } from './fields.ts'
import { anyObject, count, list, object, record, type TypeOf, text } from './shape.ts'
import { isSignedBy } from './statement.ts'
import type { LogKey } from './trust.ts'

export const MAX_REASON = 1024
const Name = text({ maxLength: 256 })

/** The data of an entry `audit.prune`: the pruned entries, and what they leave. */
export const PruneShape = object({
  origin: Origin,
  chain: Name,
  /** The entries before this seq are gone. */
  size: count,
  /** Hash of the last pruned entry. */
  lastHash: Digest,
  lastTs: Time,
  /** The complete subtrees over them, left to right. */
  frontier: Path,
  /** The export that holds them: its first entry, and the digest of its manifest. */
  archive: object({ first: count, manifest: Digest }),
  reason: text({ maxLength: MAX_REASON }),
  /** The records that the pruned entries made, in their last state, without approvals. */
  state: list(object({ record: Name, id: Name, body: anyObject }), { max: 1_000_000 }),
  /** The newest heads of other chains that pruned entries of `_system` recorded. */
  heads: list(object({ chain: Name, size: count, root: Digest }), { max: 1_000_000 }),
  /** Numbers of all pruned entries by type of the service, without decisions. */
  events: record(count, { max: 256 }),
  /** The log key. */
  signedBy: Base64Of32,
  signature: Signature,
})
export type Prune = TypeOf<typeof PruneShape>
/** The remaining content of pruned entries. */
export type Left = Pick<Prune, 'state' | 'heads' | 'events'>
export type UnsignedPrune = Omit<Prune, 'signature'>

/** Parses the data of a prune entry. @param json a section `data`; undefined for any other statement */
export function readPrune(json: string): Prune | undefined {
  const value = readJson(json, EVIDENCE_JSON)
  // The shape was checked.
  return PruneShape.fault(value, '') === undefined ? (value as Prune) : undefined
}

/** The last pruned entry. */
export function headAfter({ size, lastHash, lastTs }: Prune): Head {
  return { seq: size - 1, hash: lastHash, tsMs: Date.parse(lastTs) }
}

/** True when one of the log keys has signed the statement. */
export function isGenuinePrune(prune: Prune, logKeys: readonly LogKey[]): boolean {
  const { signature, ...statement } = prune
  const isOurs = logKeys.some(({ name, publicKey }) => name === prune.origin && publicKey === prune.signedBy)
  return isOurs && isSignedBy(prune.signedBy, 'prune', statement, signature)
}
