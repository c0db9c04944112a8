import { equalBytes } from '../base/bytes.ts'
import { parseDigest } from '../base/digest.ts'
import type { Head } from './chain.ts'
import type { StoredEntry } from './entry.ts'
import { type GrowingTree, type Hash, leafHash, type Place } from './merkle.ts'
import { type ChainFault, type EntryCheck, entryFault, headOf } from './verify.ts'

/** A signed size of a chain, with the root that its tree must have there. */
export interface Mark {
  size: number
  /** Undefined for a signature that is not genuine. */
  root(): Hash | undefined
}

export interface WalkStart {
  chain: string
  /** The head before the first entry. */
  head: Head
  /** The tree over the entries before the first. */
  tree: GrowingTree
  /** Marks in ascending order of size. */
  marks: readonly Mark[]
  /** The stored hash of a subtree; undefined without one. */
  storedNode(place: Place): Hash | undefined
  /** True when a subtree of this size is stored, if it is within the checkpoints. */
  isStored(place: Place): boolean
}

/** Verifies a chain entry by entry: links, tree and signatures. */
export class ChainWalk {
  #start: WalkStart
  #head: Head
  #marks: Mark[]
  /** The size up to which the tree matched a signed one. */
  #signedUpTo: number

  constructor(start: WalkStart) {
    this.#start = start
    this.#head = start.head
    this.#marks = [...start.marks]
    this.#signedUpTo = start.tree.size
  }

  get head(): Head {
    return this.#head
  }

  /** The size of the newest mark that matched; the start of the walk without one. */
  get signedUpTo(): number {
    return this.#signedUpTo
  }

  /** Verifies the tree before the first entry against the mark there. */
  begin(): ChainFault | undefined {
    return this.#atMark(this.#start.tree.size)
  }

  step(entry: StoredEntry, check: EntryCheck): ChainFault | undefined {
    const { chain, tree } = this.#start
    const fault = entryFault(chain, this.#head, entry, check)
    if (fault !== undefined) return fault
    this.#head = headOf(entry)
    return this.#grow(leafHash(parseDigest(entry.hash)), 0) ?? this.#atMark(tree.size)
  }

  /** Extends the tree past the range by complete subtrees, up to a mark. */
  pass(hash: Hash, level: number): ChainFault | undefined {
    return this.#grow(hash, level) ?? this.#atMark(this.#start.tree.size)
  }

  /** The marks that the walk has not reached. */
  marksAhead(): readonly Mark[] {
    return this.#marks
  }

  #grow(hash: Hash, level: number): ChainFault | undefined {
    const { chain, tree, storedNode, isStored } = this.#start
    let fault: ChainFault | undefined
    tree.append(hash, level, (place, computed) => {
      if (fault !== undefined || !isStored(place)) return
      const stored = storedNode(place)
      if (stored !== undefined && equalBytes(stored, computed)) return
      const seq = Math.max(place.index * 2 ** place.level, this.#signedUpTo)
      fault = { chain, seq, status: 'tampered', what: 'a stored node of the tree is not that of its entries' }
    })
    return fault
  }

  #atMark(size: number): ChainFault | undefined {
    const { chain, tree } = this.#start
    while (this.#marks[0] !== undefined && this.#marks[0].size <= size) {
      const mark = this.#marks.shift()
      if (mark === undefined || mark.size < size) continue
      const root = mark.root()
      const what =
        root === undefined
          ? `the checkpoint of size ${size} is not signed by the log key`
          : equalBytes(tree.root(), root)
            ? undefined
            : `the entries up to ${size - 1} do not give the root that was signed`
      if (what !== undefined) return { chain, seq: this.#signedUpTo, status: 'tampered', what }
      this.#signedUpTo = size
    }
    return undefined
  }
}
