import {
  coverOf,
  fold,
  GrowingTree,
  type Hash,
  leafHash,
  nodeHash,
  type Place,
  type Range,
  STORED_LEVELS,
} from '../../audit/merkle.ts'
import { MissingEntry } from '../errors.ts'
import type { SeqRange } from '../queries.ts'
import { type Awaitable, read, type Steps } from '../steps.ts'

/** Stored parts of a chain's tree. */
export interface TreeReads {
  chain: string
  /** Number of entries that checkpoints cover: stored nodes over others count for nothing, since no signature ties them. */
  signed: number
  /** Number of entries that were pruned, of which only nodes are left. */
  pruned: number
  node(place: Place): Awaitable<Hash | undefined>
  /** Hashes of the entries of a range, ascending. */
  entries(range: SeqRange): Awaitable<{ seq: number; hash: Hash }[]>
}

/** Computes roots of ranges of a chain, from as few stored nodes and entries as possible. @throws MissingEntry */
export function* treeHashes(tree: TreeReads, ranges: readonly Range[]): Steps<Hash[]> {
  const roots: Hash[] = []
  for (const { begin, end } of ranges) {
    const hashes: Hash[] = []
    for (const place of coverOf(begin, end)) hashes.push(yield* hashAt(tree, place))
    roots.push(fold(hashes))
  }
  return roots
}

function* hashAt(tree: TreeReads, { level, index }: Place): Steps<Hash> {
  const { signed, pruned } = tree
  const [first, end] = [index * 2 ** level, (index + 1) * 2 ** level]
  const storedTo = level > 0 && level % STORED_LEVELS === 0 ? Math.max(signed, pruned) : pruned
  const stored = end <= storedTo ? yield* read(tree.node({ level, index })) : undefined
  if (stored !== undefined) return stored
  if (level === 0 || (level <= STORED_LEVELS && first >= pruned)) return yield* ofEntries(tree, first, end)
  const left = yield* hashAt(tree, { level: level - 1, index: 2 * index })
  return nodeHash(left, yield* hashAt(tree, { level: level - 1, index: 2 * index + 1 }))
}

/** Root of a small subtree whose entries are all there, read at once, since single reads take much longer. */
function* ofEntries({ chain, entries }: TreeReads, first: number, end: number): Steps<Hash> {
  const tree = new GrowingTree()
  for (const { seq, hash } of yield* read(entries({ first, end }))) {
    if (seq !== first + tree.size) break
    tree.append(leafHash(hash))
  }
  if (tree.size !== end - first) throw new MissingEntry(chain, first + tree.size)
  return tree.root()
}
