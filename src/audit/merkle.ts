import { equalBytes, sha256 } from '../base/bytes.ts'

/**
 * The Merkle tree of RFC 6962 section 2.1 over the hashes of a chain's entries. The index of a leaf is the entry's seq.
 */

export const HASH_BYTES = 32
/** Interval of the levels whose complete subtrees are stored: a proof reads at most 255 hashes of each. */
export const STORED_LEVELS = 8
const LEAF = Uint8Array.of(0x00)
const NODE = Uint8Array.of(0x01)

/** 32 bytes. */
export type Hash = Uint8Array

/** The complete subtree over the leaves index · 2^level <= i < (index + 1) · 2^level. */
export interface Place {
  level: number
  index: number
}

/** The leaves begin <= index < end. */
export interface Range {
  begin: number
  end: number
}

/** A tree, by the number of its leaves and its root. */
export interface TreeHead {
  size: number
  root: Hash
}

/** @param entryHash the 32 bytes of the entry's hash */
export function leafHash(entryHash: Uint8Array): Hash {
  return sha256(LEAF, entryHash)
}

export function nodeHash(left: Hash, right: Hash): Hash {
  return sha256(NODE, left, right)
}

/** The largest complete subtrees that together cover the leaves begin <= i < end, left to right. */
export function coverOf(begin: number, end: number): Place[] {
  const places: Place[] = []
  for (let at = begin; at < end; ) {
    let level = 0
    let width = 1
    while (at % (2 * width) === 0 && at + 2 * width <= end) {
      level += 1
      width *= 2
    }
    places.push({ level, index: at / width })
    at += width
  }
  return places
}

export function coverRanges(begin: number, end: number): Range[] {
  return coverOf(begin, end).map(({ level, index }) => ({ begin: index * 2 ** level, end: (index + 1) * 2 ** level }))
}

/** The root over complete subtrees, each smaller than the one before; without any, the root of the empty tree. */
export function fold(hashes: readonly Hash[]): Hash {
  if (hashes.length === 0) return sha256('')
  return hashes.reduceRight((right, left) => nodeHash(left, right))
}

/** A tree that grows to the right, as its complete subtrees: at most 53. */
export class GrowingTree {
  #size: number
  #peaks: { level: number; hash: Hash }[]

  /** @param peaks the hashes of `coverOf(0, size)` */
  constructor(size = 0, peaks: readonly Hash[] = []) {
    this.#size = size
    this.#peaks = coverOf(0, size).map(({ level }, i) => ({ level, hash: peaks[i] ?? missing() }))
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size
  }

  /**
   * Adds a complete subtree (of one leaf: its leaf hash) to the right.
   *
   * @param onNode called with each larger subtree that this completes
   */
  append(hash: Hash, level = 0, onNode?: (place: Place, hash: Hash) => void): void {
    const width = 2 ** level
    if (this.#size % width !== 0) throw new RangeError('the subtree has no place there')
    this.#size += width
    let whole = { level, hash }
    for (let left = this.#peaks.at(-1); left?.level === whole.level; left = this.#peaks.at(-1)) {
      this.#peaks.pop()
      whole = { level: whole.level + 1, hash: nodeHash(left.hash, whole.hash) }
      onNode?.({ level: whole.level, index: this.#size / 2 ** whole.level - 1 }, whole.hash)
    }
    this.#peaks.push(whole)
  }

  /** The hashes of `coverOf(0, size)`. */
  peaks(): Hash[] {
    return this.#peaks.map(({ hash }) => hash)
  }

  root(): Hash {
    return fold(this.peaks())
  }

  copy(): GrowingTree {
    return new GrowingTree(this.#size, this.peaks())
  }
}

/**
 * The ranges whose roots form the path from a leaf to the root over `size` leaves, bottom up (RFC 6962 section 2.1.1).
 */
export function inclusionPath(index: number, size: number): Range[] {
  assertWithin(index, size)
  const path: Range[] = []
  for (let [begin, end] = [0, size]; end - begin > 1; ) {
    const middle = begin + split(end - begin)
    path.push(index < middle ? { begin: middle, end } : { begin, end: middle })
    ;[begin, end] = index < middle ? [begin, middle] : [middle, end]
  }
  return path.reverse()
}

/** True when the proof leads from this leaf and place to the root of a tree of this size (RFC 9162 section 2.1.3.2). */
export function isIncluded(leaf: Hash, index: number, { size, root }: TreeHead, proof: readonly Hash[]): boolean {
  if (!(index >= 0 && index < size)) return false
  let hash = leaf
  let place = index
  let last = size - 1
  for (const sibling of proof) {
    if (last === 0) return false
    if (place % 2 === 1 || place === last) {
      hash = nodeHash(sibling, hash)
      while (place % 2 === 0 && place !== 0) [place, last] = [half(place), half(last)]
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[place, last] = [half(place), half(last)]
  }
  return last === 0 && equalBytes(hash, root)
}

/**
 * The ranges whose roots prove that the tree of `size` leaves extends that of `earlier` ones (RFC 6962 section 2.1.2).
 */
export function consistencyPath(earlier: number, size: number): Range[] {
  if (earlier === 0 || earlier === size) return []
  assertWithin(earlier, size)
  const path: Range[] = []
  let [begin, end] = [0, size]
  while (earlier !== end) {
    const middle = begin + split(end - begin)
    path.push(earlier <= middle ? { begin: middle, end } : { begin, end: middle })
    ;[begin, end] = earlier <= middle ? [begin, middle] : [middle, end]
  }
  // The verifier has the root of an earlier tree that is a single subtree.
  if (begin > 0) path.push({ begin, end })
  return path.reverse()
}

/** True when the proof shows that `later` extends `earlier` (RFC 9162 section 2.1.4.2). */
export function isConsistent(earlier: TreeHead, later: TreeHead, proof: readonly Hash[]): boolean {
  if (earlier.size > later.size) return false
  if (earlier.size === later.size) return proof.length === 0 && equalBytes(earlier.root, later.root)
  if (earlier.size === 0) return proof.length === 0
  const isPower = Number.isInteger(Math.log2(earlier.size))
  const [first, ...rest] = isPower ? [earlier.root, ...proof] : proof
  if (first === undefined) return false
  let place = earlier.size - 1
  let last = later.size - 1
  while (place % 2 === 1) [place, last] = [half(place), half(last)]
  let [old, young] = [first, first]
  for (const sibling of rest) {
    if (last === 0) return false
    if (place % 2 === 1 || place === last) {
      ;[old, young] = [nodeHash(sibling, old), nodeHash(sibling, young)]
      while (place % 2 === 0 && place !== 0) [place, last] = [half(place), half(last)]
    } else {
      young = nodeHash(young, sibling)
    }
    ;[place, last] = [half(place), half(last)]
  }
  return last === 0 && equalBytes(old, earlier.root) && equalBytes(young, later.root)
}

/** The largest power of two below `width`, which is at least 2. */
function split(width: number): number {
  let power = 1
  while (power * 2 < width) power *= 2
  return power
}

/** Division, since shifts are limited to 32 bits. */
function half(value: number): number {
  return Math.floor(value / 2)
}

function assertWithin(index: number, size: number): void {
  if (!(index >= 0 && index < size)) throw new RangeError(`${index} is not within a tree of ${size}`)
}

function missing(): never {
  throw new RangeError('a tree of this size has more subtrees')
}
