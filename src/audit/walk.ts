import { equalBytes } from '../base/bytes.ts'
import { parseDigest } from '../base/digest.ts'
import type { Head, StoredEntry } from './chain.ts'
import { type GrowingTree, type Hash, leafHash, type Place } from './tree.ts'
import { type ChainFault, type EntryCheck, entryFault, headOf } from './verify.ts'

/** What the tree of a chain is held to where it has a size: what was signed there, as far as it is genuine. */
export interface Mark {
  size: number
  /** Undefined when what was signed is not genuine. */
  root(): Hash | undefined
}

export interface WalkStart {
  chain: string
  /** What the first entry must follow from. */
  head: Head
  /** Over the entries before it. */
  tree: GrowingTree
  /** By size, ascending. */
  marks: readonly Mark[]
  /** A subtree as it is stored; undefined where none is. */
  storedNode(place: Place): Hash | undefined
  /** Whether a subtree of this size is stored, where it is within the checkpoints. */
  isStored(place: Place): boolean
}

/** Goes through a chain entry by entry, and holds chain, tree and signatures to what each entry says. */
export class ChainWalk {
  #start: WalkStart
  #head: Head
  #marks: Mark[]
  /** Up to here the tree was found to be the one that was signed. */
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

  /** Holds the tree before the first entry to what was signed there. */
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

  /** Goes on past the range by complete subtrees, to where something was signed. */
  pass(hash: Hash, level: number): ChainFault | undefined {
    return this.#grow(hash, level) ?? this.#atMark(this.#start.tree.size)
  }

  /** Sizes at which something was signed and that have not been come to. */
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
