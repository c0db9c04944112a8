import type { Database } from 'better-sqlite3'
import { type Hash, type Range, STORED_LEVELS } from '../../audit/merkle.ts'
import type { SeqRange } from '../queries.ts'
import { runNow } from '../steps.ts'
import type { Delivery, StoredCheckpoint, TreeNode } from '../submission.ts'
import { type TreeReads, treeHashes } from '../verify/tree-hashes.ts'
import type { ChainPlaces } from './places.ts'

const UNLIMITED = Number.POSITIVE_INFINITY
/** Levels of stored nodes, up to the room of a chain. */
const LEVELS = [1, 2, 3, 4].map((times) => times * STORED_LEVELS)

/** Statements over checkpoint, tree_node and anchored. Only commit.ts writes, inside its transaction. */
export function checkpointQueries(db: Database, places: ChainPlaces) {
  const columns = 'number, chain, size, note'
  const last = db.prepare<[string, number, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE chain = ? AND size <= ? AND number <= ? ORDER BY size DESC LIMIT 1`,
  )
  const covering = db.prepare<[string, number, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE chain = ? AND size > ? AND number <= ? ORDER BY size LIMIT 1`,
  )
  const after = db.prepare<[number, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE number > ? ORDER BY number LIMIT ?`,
  )
  const between = db.prepare<[string, number, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE chain = ? AND size >= ? AND size <= ? ORDER BY size`,
  )
  const chains = db.prepare<[], string>('SELECT DISTINCT chain FROM checkpoint ORDER BY chain').pluck()
  const insert = db.prepare<[string, number, string]>('INSERT INTO checkpoint (chain, size, note) VALUES (?, ?, ?)')
  const deleteSmaller = db.prepare<[string, number]>('DELETE FROM checkpoint WHERE chain = ? AND size < ?')
  const anchored = db.prepare<[], Delivery>('SELECT sink, number, at FROM anchored ORDER BY sink')
  const putAnchored = db.prepare<[Delivery]>(
    `INSERT INTO anchored (sink, number, at) VALUES (@sink, @number, @at)
     ON CONFLICT (sink) DO UPDATE SET number = excluded.number, at = excluded.at WHERE excluded.number > number`,
  )
  const nodes = nodeQueries(db)
  return {
    last: (chain: string) => last.get(chain, UNLIMITED, UNLIMITED),
    around: (chain: string, first: number, end: number) =>
      between.all(chain, first, covering.get(chain, end - 1, Number.MAX_SAFE_INTEGER)?.size ?? Number.MAX_SAFE_INTEGER),
    nodesIn: nodes.in,
    lastSize: (chain: string) => last.get(chain, UNLIMITED, UNLIMITED)?.size ?? 0,
    covering: (chain: string, seq: number, maxNumber = Number.MAX_SAFE_INTEGER) => covering.get(chain, seq, maxNumber),
    within: (chain: string, size: number) => last.get(chain, size, UNLIMITED),
    lastUpTo: (chain: string, number: number) => last.get(chain, UNLIMITED, number),
    after: (number: number, limit: number) => after.all(number, limit),
    chains: () => chains.all(),
    put(chain: string, size: number, note: string, completed: readonly TreeNode[]): void {
      insert.run(chain, size, note)
      nodes.put(chain, completed)
    },
    /** Keeps only the frontier of the tree over the entries before `size`, and the last of their checkpoints. */
    prune(chain: string, size: number, frontier: readonly TreeNode[]): void {
      deleteSmaller.run(chain, size)
      nodes.deleteBefore(chain, size)
      nodes.put(chain, frontier)
    },
    anchored: () => anchored.all(),
    putAnchored: (delivery: Delivery) => putAnchored.run(delivery),
    hashes: hashReader(db, places, nodes),
  }
}

function nodeQueries(db: Database) {
  const get = db
    .prepare<[string, number, number], Hash>('SELECT hash FROM tree_node WHERE chain = ? AND level = ? AND place = ?')
    .pluck()
  const insert = db.prepare<[string, number, number, Hash]>(
    // Nodes of a checkpoint that was removed may still be there.
    `INSERT INTO tree_node (chain, level, place, hash) VALUES (?, ?, ?, ?)
     ON CONFLICT (chain, level, place) DO UPDATE SET hash = excluded.hash`,
  )
  const deleteBefore = db.prepare<[string, number]>(
    'DELETE FROM tree_node WHERE chain = ? AND (place + 1) * (1 << level) <= ?',
  )
  const within = db.prepare<[string, number, number, number], TreeNode>(
    'SELECT level, place AS "index", hash FROM tree_node WHERE chain = ? AND level = ? AND place >= ? AND place < ?',
  )
  return {
    get: (chain: string, level: number, index: number) => get.get(chain, level, index),
    in: (chain: string, { first, end }: SeqRange): TreeNode[] =>
      LEVELS.flatMap((level) => {
        const [from, to] = [first, end].map((seq) => Math.floor(seq / 2 ** level))
        return within.all(chain, level, from ?? 0, to ?? 0)
      }),
    put(chain: string, nodes: readonly TreeNode[]): void {
      for (const { level, index, hash } of nodes) insert.run(chain, level, index, hash)
    },
    /** Deletes nodes that lie wholly over entries before `size`. */
    deleteBefore: (chain: string, size: number) => deleteBefore.run(chain, size),
  }
}

function hashReader(db: Database, places: ChainPlaces, nodes: Pick<ReturnType<typeof nodeQueries>, 'get'>) {
  const entries = db.prepare<[number, number], { seq: number; hash: Hash }>(
    'SELECT seq, hash FROM audit_entry WHERE at >= ? AND at < ? ORDER BY at',
  )
  const trusted = db.prepare<[string, string], { signed: number; pruned: number }>(
    `SELECT coalesce((SELECT max(size) FROM checkpoint WHERE chain = ?), 0) AS signed,
              coalesce((SELECT size FROM pruned WHERE chain = ?), 0) AS pruned`,
  )
  return (chain: string, ranges: readonly Range[]): Hash[] => {
    const { signed = 0, pruned = 0 } = trusted.get(chain, chain) ?? {}
    const tree: TreeReads = {
      chain,
      signed,
      pruned,
      node: ({ level, index }) => nodes.get(chain, level, index),
      entries: (range) => entries.all(...places.range(chain, range)),
    }
    return runNow(treeHashes(tree, ranges))
  }
}
