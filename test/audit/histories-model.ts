import assert from 'node:assert/strict'
import type { RangeStatus } from '../../src/audit/range.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'

/** Model of the trail, worked out from the commands alone: no hash, no signature, no file. */

/** One entry: a number that no other entry has, in whatever history. */
export interface ModelEntry {
  token: number
  atMs: number
  /** Time that it waits for a checkpoint: none for what restrains, no end for what a checkpoint itself writes. */
  waitsMs: number
}

export interface ModelCheckpoint {
  chain: string
  size: number
  /** Token of the last entry that it covers, by which the whole history before it is known. */
  last: number
  key: number
}

/** A log key: in use until the next one is. */
export interface ModelKey {
  token: number
  sinceMs: number
}

export interface ModelDecision {
  id: string
  chain: string
  seq: number
  isRequestErased: boolean
  /** The approval that allowed it. */
  approval: string | null
}

export interface ModelApproval {
  id: string
  amount: number
  /** Late: past its deadline, of which no entry says so. */
  status: 'pending' | 'approved' | 'late' | 'over'
  seqs: number[]
  isErased: boolean
}

/** Contents of a data folder: a backup is a copy of all of it. */
export interface Stored {
  /** Number of the first remaining entry of each pruned chain. */
  pruned: Map<string, number>
  chains: Map<string, ModelEntry[]>
  checkpoints: ModelCheckpoint[]
  /** Number of checkpoints that the anchor file has taken. */
  taken: number
  /** Log keys, the one in use last. */
  keys: ModelKey[]
  decisions: ModelDecision[]
  approvals: ModelApproval[]
  /** API keys, by tenant. */
  agents: Map<string, string>
}

export interface Exported {
  bundle: Bundle
  chain: string
  decision: string
  /** Token of the last entry under its checkpoint. */
  last: number
  /** Log keys up to that of its certificate, each of which followed the one before. */
  keys: readonly ModelKey[]
  /** Time of its certificate. */
  certifiedMs: number
  decidedMs: number
  /** The log key of its checkpoint. */
  signedBy: number
}

export interface Model {
  stored: Stored
  backups: Stored[]
  anchors: ModelCheckpoint[]
  exported: Exported[]
  isSuspended: boolean
  /** The log key for which this life of the service has a bundle key, and since when. */
  bundleKey: ModelKey | null
  /** Time at which all grown chains were last signed, due or not, or the service started. */
  heartbeatMs: number
  nowMs: number
  ann: string
}

/** How long most entries wait for a checkpoint. */
export const DUE_MS = 10_000

let tokens = 0
export const SYSTEM = '_system'
export const LIVE = 'acme/live'

export const newToken = (): number => {
  tokens += 1
  return tokens
}

export function append({ stored, nowMs }: Model, chain: string, count = 1, waitsMs = DUE_MS): number {
  const entries = stored.chains.get(chain) ?? []
  stored.chains.set(chain, entries)
  for (let n = 0; n < count; n += 1) entries.push({ token: newToken(), atMs: nowMs, waitsMs })
  return entries.length - 1
}

export const lengthOf = ({ chains }: Stored, chain: string): number => chains.get(chain)?.length ?? 0

export function signedOf({ checkpoints }: Stored, chain: string): number {
  return checkpoints.reduce((size, one) => (one.chain === chain ? one.size : size), 0)
}

export const beginOf = ({ pruned }: Stored, chain: string): number => pruned.get(chain) ?? 0

/** Returns where the chain begins once pruned up to this time: at a taken checkpoint that splits no approval. */
export function cutOf({ stored }: Model, chain: string, beforeMs: number): number {
  const entries = stored.chains.get(chain) ?? []
  const old = entries.findIndex(({ atMs }) => atMs >= beforeMs)
  const taken = stored.taken === 0 ? stored.checkpoints : stored.checkpoints.slice(0, stored.taken)
  const limit = Math.min(old === -1 ? entries.length : old, entries.length - 1)
  const approvals = stored.approvals.filter(({ isErased }) => !isErased && chain === LIVE)
  const isParted = (size: number): boolean =>
    approvals.some(({ seqs, status }) => {
      const [first = 0, last = 0] = [seqs[0], status === 'over' ? seqs.at(-1) : Number.POSITIVE_INFINITY]
      return first < size && size <= last
    })
  const sizes = taken.filter((one) => one.chain === chain && one.size <= limit && !isParted(one.size))
  return Math.max(beginOf(stored, chain), ...sizes.map(({ size }) => size))
}

const DEADLINE_MS = 3_600_000

/** Approvals that were open when time jumped, or when an old backup was made. */
export function noteLate({ stored, nowMs }: Model): void {
  for (const approval of stored.approvals) {
    const entry = stored.chains.get(LIVE)?.[approval.seqs[0] ?? 0]
    if (approval.status !== 'over' && nowMs - (entry?.atMs ?? nowMs) > DEADLINE_MS) approval.status = 'late'
  }
}

/** Prunes a chain so that it begins at `begin`. */
export function pruneTo(model: Model, chain: string, begin: number): void {
  const { stored } = model
  const isLeft = (one: { chain: string; size: number }): boolean => one.chain !== chain || one.size >= begin
  stored.taken = stored.checkpoints.slice(0, stored.taken).filter(isLeft).length
  stored.checkpoints = stored.checkpoints.filter(isLeft)
  stored.decisions = stored.decisions.filter((one) => one.chain !== chain || one.seq >= begin)
  if (chain === LIVE) {
    // One that was erased can be parted: what is left of it is still counted.
    for (const approval of stored.approvals) approval.seqs = approval.seqs.filter((seq) => seq >= begin)
    stored.approvals = stored.approvals.filter(({ seqs }) => seqs.length > 0)
  }
  stored.pruned.set(chain, begin)
}

/** The checkpoints of one commit, and the entry in which they are recorded. */
export function sign(model: Model, chains: Iterable<string>): void {
  const { stored } = model
  const grown = [...chains].filter((chain) => lengthOf(stored, chain) > signedOf(stored, chain))
  for (const chain of grown) stored.checkpoints.push(headOf(stored, chain))
  if (grown.length > 0) append(model, SYSTEM, 1, Number.POSITIVE_INFINITY)
}

export function headOf(stored: Stored, chain: string): ModelCheckpoint {
  const size = lengthOf(stored, chain)
  return { chain, size, last: lastToken(stored, chain, size), key: keyInUse(stored).token }
}

export const keyInUse = ({ keys }: Stored): ModelKey => keys.at(-1) ?? assert.fail()

export function lastToken({ chains }: Stored, chain: string, size: number): number {
  return chains.get(chain)?.[size - 1]?.token ?? 0
}

const HEARTBEAT_MS = 3_600_000

/** Signs the chains that are due; once an hour, every chain. */
export function signDue(model: Model): void {
  const { stored, nowMs } = model
  const isHeartbeat = nowMs - model.heartbeatMs >= HEARTBEAT_MS
  sign(model, isHeartbeat ? stored.chains.keys() : dueChains(model))
  if (isHeartbeat) model.heartbeatMs = nowMs
}

/** Those of which an entry has waited as long as it may. */
function dueChains({ stored, nowMs }: Model): string[] {
  return [...stored.chains].flatMap(([chain, entries]) => {
    const isDue = ({ atMs, waitsMs }: ModelEntry): boolean => nowMs - atMs >= waitsMs
    return entries.slice(signedOf(stored, chain)).some(isDue) ? [chain] : []
  })
}

export function deliver(model: Model): void {
  const { stored, anchors } = model
  anchors.push(...stored.checkpoints.slice(stored.taken))
  stored.taken = stored.checkpoints.length
}

/** Delivers every chain's newest taken checkpoint again when the anchors of another history are behind one of them. */
export function deliverAgain(model: Model): void {
  const { chains, checkpoints, taken } = model.stored
  const held = [...chains.keys()].sort().flatMap((chain) => {
    return checkpoints.slice(0, taken).findLast((one) => one.chain === chain) ?? []
  })
  const newest = newestAnchors(model)
  if (held.some(({ chain, size }) => size > (newest.get(chain)?.size ?? 0))) model.anchors.push(...held)
}

export function newestAnchors({ anchors }: Model): Map<string, ModelCheckpoint> {
  return new Map(anchors.map((anchor) => [anchor.chain, anchor]))
}

/** Returns the chains that contradict the anchors, and how, as a starting service finds them. */
export function discrepancies(model: Model): Map<string, 'ROLLBACK' | 'FORK'> {
  const { stored } = model
  const found = new Map<string, 'ROLLBACK' | 'FORK'>()
  for (const [chain, { size, last, key }] of newestAnchors(model)) {
    if (!stored.keys.some(({ token }) => token === key) || size < beginOf(stored, chain)) found.set(chain, 'FORK')
    else if (lengthOf(stored, chain) < size) found.set(chain, 'ROLLBACK')
    else if (lastToken(stored, chain, size) !== last) found.set(chain, 'FORK')
  }
  return found
}

/** Returns the status that verifying the whole chain ends with. */
export function statusOf(model: Model, chain: string): RangeStatus {
  const { stored } = model
  const length = lengthOf(stored, chain)
  const anchor = newestAnchors(model).get(chain)
  if (anchor !== undefined && anchor.size > length) return 'rollback'
  if (anchor !== undefined && anchor.size < beginOf(stored, chain)) return 'pruned'
  if (anchor !== undefined && lastToken(stored, chain, anchor.size) !== anchor.last) return 'forked'
  if (length === 0) return 'empty'
  return (anchor?.size ?? 0) < length ? 'unanchored' : 'ok'
}

/** Entries of the chain of which something was erased. */
export function redactedEntries({ stored }: Model, chain: string): number {
  const decisions = stored.decisions.filter((one) => one.chain === chain && one.isRequestErased).length
  const erased = chain === LIVE ? stored.approvals.filter(({ isErased }) => isErased) : []
  return erased.reduce((sum, { seqs }) => sum + seqs.length, decisions)
}

/** Returns the parts that a new bundle of the decision reports as erased. */
export function redactedOf({ stored }: Pick<Model, 'stored'>, { isRequestErased, approval }: ModelDecision): string[] {
  const isGone = stored.approvals.some(({ id, isErased }) => id === approval && isErased)
  return [...(isRequestErased ? ['request'] : []), ...(isGone ? ['approval'] : [])]
}

/** The checks of an exported bundle that fail under the trust of now: its log keys may be of a history that was taken back. */
export function failedChecks({ stored }: Model, exported: Exported): string[] {
  const untilMs = trustedUntil(stored, exported.keys)
  const certifiedUntilMs = untilMs.get(exported.keys.at(-1)?.token ?? assert.fail()) ?? -1
  const signedUntilMs = untilMs.get(exported.signedBy)
  return [
    ...(exported.certifiedMs > certifiedUntilMs ? ['certificate'] : []),
    ...(signedUntilMs === undefined ? ['checkpoint'] : []),
    ...(exported.decidedMs > (signedUntilMs ?? Number.POSITIVE_INFINITY) ? ['times'] : []),
  ]
}

/** Returns the end of each trusted log key. The bundle brings rotations, which lead on from the key in use alone. */
function trustedUntil({ keys }: Stored, brought: readonly ModelKey[]): Map<number, number> {
  const until = new Map(keys.map(({ token }, i) => [token, keys[i + 1]?.sinceMs ?? Number.POSITIVE_INFINITY]))
  for (const [i, { token, sinceMs }] of brought.entries()) {
    const before = brought[i - 1]?.token ?? -1
    if (until.has(token) || until.get(before) !== Number.POSITIVE_INFINITY) continue
    until.set(before, sinceMs)
    until.set(token, Number.POSITIVE_INFINITY)
  }
  return until
}

/** Returns whether the bundle is of the current history: its last entry is there, and all it reports as erased is. */
export function isOfThisHistory({ stored }: Model, { bundle, chain, decision, last }: Exported): boolean {
  if (!stored.chains.get(chain)?.some(({ token }) => token === last)) return false
  const kept = stored.decisions.find(({ id }) => id === decision)
  // Since the decision was pruned, there is only the bundle itself to go by.
  const erased = kept === undefined ? bundle.proof.redacted : redactedOf({ stored }, kept)
  return bundle.proof.redacted.every((name) => erased.includes(name))
}
