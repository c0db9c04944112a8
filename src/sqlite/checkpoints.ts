import type { Database } from 'better-sqlite3'
import { type Hash, type HashAt, leafHash, nodeHash, type Place, type Range, rootOf } from '../audit/tree.ts'
import type { StoredCheckpoint, TreeNode } from '../store.ts'
import { MissingEntry } from './errors.ts'

/** Statements over checkpoint, tree_node and anchored. Only commit.ts writes, inside its transaction. */
export function checkpointQueries(db: Database) {
  const columns = 'number, chain, size, note'
  const last = db.prepare<[string], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE chain = ? ORDER BY size DESC LIMIT 1`,
  )
  const covering = db.prepare<[string, number, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE chain = ? AND size > ? AND number <= ? ORDER BY size LIMIT 1`,
  )
  const lastAnchored = db.prepare<[string, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE chain = ? AND number <= ? ORDER BY size DESC LIMIT 1`,
  )
  const after = db.prepare<[number, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE number > ? ORDER BY number LIMIT ?`,
  )
  const between = db.prepare<[string, number, number], StoredCheckpoint>(
    `SELECT ${columns} FROM checkpoint WHERE chain = ? AND size > ? AND size <= ? ORDER BY size`,
  )
  const node = db
    .prepare<[string, number, number], Hash>('SELECT hash FROM tree_node WHERE chain = ? AND level = ? AND place = ?')
    .pluck()
  const chains = db.prepare<[], string>('SELECT DISTINCT chain FROM checkpoint ORDER BY chain').pluck()
  const insert = db.prepare<[string, number, string]>('INSERT INTO checkpoint (chain, size, note) VALUES (?, ?, ?)')
  const insertNode = db.prepare<[string, number, number, Hash]>(
    'INSERT INTO tree_node (chain, level, place, hash) VALUES (?, ?, ?, ?)',
  )
  const anchored = db.prepare<[], { sink: string; number: number; at: string }>(
    'SELECT sink, number, at FROM anchored ORDER BY sink',
  )
  const putAnchored = db.prepare<[string, number, string]>(
    `INSERT INTO anchored (sink, number, at) VALUES (?, ?, ?)
     ON CONFLICT (sink) DO UPDATE SET number = excluded.number, at = excluded.at WHERE excluded.number > number`,
  )
  return {
    last: (chain: string) => last.get(chain),
    /** Those with first < size, up to the first one with size >= end. */
    around: (chain: string, first: number, end: number) =>
      between.all(chain, first, covering.get(chain, end - 1, Number.MAX_SAFE_INTEGER)?.size ?? Number.MAX_SAFE_INTEGER),
    node: (chain: string, level: number, index: number) => node.get(chain, level, index),
    lastSize: (chain: string) => last.get(chain)?.size ?? 0,
    covering: (chain: string, seq: number, maxNumber = Number.MAX_SAFE_INTEGER) => covering.get(chain, seq, maxNumber),
    lastUpTo: (chain: string, number: number) => lastAnchored.get(chain, number),
    after: (number: number, limit: number) => after.all(number, limit),
    chains: () => chains.all(),
    put(chain: string, size: number, note: string, nodes: readonly TreeNode[]): void {
      insert.run(chain, size, note)
      for (const { level, index, hash } of nodes) insertNode.run(chain, level, index, hash)
    },
    anchored: () => anchored.all(),
    putAnchored: (sink: string, number: number, at: string) => putAnchored.run(sink, number, at),
    hashes: hashReader(db, node),
  }
}

/** The roots of ranges of a chain, found with as few stored nodes and entries as there are on the way. */
function hashReader(
  db: Database,
  node: { get(chain: string, level: number, index: number): Hash | undefined },
): (chain: string, ranges: readonly Range[]) => Hash[] {
  const entry = db.prepare<[string, number], Hash>('SELECT hash FROM entry WHERE chain = ? AND seq = ?').pluck()
  return (chain, ranges) => {
    const leaf = (seq: number): Hash | undefined => {
      const hash = entry.get(chain, seq)
      return hash && leafHash(hash)
    }
    const hashAt: HashAt = ({ level, index }: Place) => {
      const stored = (level === 0 ? leaf(index) : undefined) ?? node.get(chain, level, index)
      if (stored !== undefined) return stored
      if (level === 0) throw new MissingEntry(chain, index)
      const below = level - 1
      return nodeHash(hashAt({ level: below, index: 2 * index }), hashAt({ level: below, index: 2 * index + 1 }))
    }
    return ranges.map((range) => rootOf(range, hashAt))
  }
}
