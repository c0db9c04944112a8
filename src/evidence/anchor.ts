import type { Checkpoint } from '../audit/checkpoint.ts'
import { formatDigest } from '../base/digest.ts'
import { isJsonObject, readJson } from '../base/json.ts'
import { parseTimestamp } from '../base/time.ts'
import { parseCheckpointNote } from './note.ts'

/** A checkpoint held elsewhere, with the time that its holder states. */
export interface Anchor {
  at: string
  /** The signed note. */
  checkpoint: string
}

/** An anchor in the form in which it leaves the service. */
export function anchorRecord({ at, checkpoint }: Anchor) {
  return { at, checkpoint, v: 1 } as const
}

/** One line of a file of anchors, without its line feed. */
export function anchorLine(anchor: Anchor): string {
  return JSON.stringify(anchorRecord(anchor))
}

/** Parses an anchor; undefined for any other line, such as one cut off by a power failure. */
export function parseAnchor(line: string): Anchor | undefined {
  const value = readJson(line, { maxDepth: 2, rounds: true })
  if (!isJsonObject(value) || value.v !== 1 || Object.keys(value).length !== 3) return undefined
  const { at, checkpoint } = value
  if (typeof at !== 'string' || parseTimestamp(at) === undefined || typeof checkpoint !== 'string') return undefined
  return { at, checkpoint }
}

/** The unverified claim of an anchor. */
export interface Claim extends Checkpoint {
  /** The signed note. */
  note: string
}

/** The claim of an anchor; undefined when it holds no checkpoint. */
export function claimOf({ checkpoint: note }: Anchor): Claim | undefined {
  const checkpoint = parseCheckpointNote(note)
  if (checkpoint === undefined) return undefined
  const { origin, chain, size, root } = checkpoint
  return { origin, chain, size, root, note }
}

/** The size and root (`sha256:` form) of chains, by name. */
export type Heads = ReadonlyMap<string, { size: number; root: string }>

/** The newest head of each chain, which is its last claim: after a restore it may be shorter than an earlier one. */
export function headsOf(claims: Iterable<Checkpoint>): Heads {
  return new Map(Array.from(claims, ({ chain, size, root }) => [chain, { size, root: formatDigest(root) }]))
}
