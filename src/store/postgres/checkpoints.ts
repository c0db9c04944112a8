import { type Hash, type Range, STORED_LEVELS } from '../../audit/merkle.ts'
import type { SeqRange } from '../queries.ts'
import { runLater } from '../steps.ts'
import type { Delivery, StoredCheckpoint, TreeNode } from '../submission.ts'
import { treeHashes } from '../verify/tree-hashes.ts'
import { type ChainPlaces, prunedSize } from './chains.ts'
import { first, type Runner, statement } from './database.ts'

const UNLIMITED = Number.MAX_SAFE_INTEGER

const FROM = 'SELECT number, chain, size, note FROM gate.checkpoint'
const LAST = statement(`${FROM} WHERE chain = $1 AND size <= $2 AND number <= $3 ORDER BY size DESC LIMIT 1`)
const COVERING = statement(`${FROM} WHERE chain = $1 AND size > $2 AND number <= $3 ORDER BY size LIMIT 1`)
const AFTER = statement(`${FROM} WHERE number > $1 ORDER BY number LIMIT $2`)
const BETWEEN = statement(`${FROM} WHERE chain = $1 AND size >= $2 AND size <= $3 ORDER BY size`)
const CHAINS = statement('SELECT DISTINCT chain FROM gate.checkpoint ORDER BY chain')
const INSERT = statement('INSERT INTO gate.checkpoint (chain, size, note) VALUES ($1, $2, $3)')
const DELETE_SMALLER = statement('DELETE FROM gate.checkpoint WHERE chain = $1 AND size < $2')
const ANCHORED = statement('SELECT sink, number, at FROM gate.anchored ORDER BY sink')
const PUT_ANCHORED = statement(
  `INSERT INTO gate.anchored AS known (sink, number, at) VALUES ($1, $2, $3)
   ON CONFLICT (sink) DO UPDATE SET number = excluded.number, at = excluded.at WHERE excluded.number > known.number`,
)
const NODE = statement('SELECT hash FROM gate.tree_node WHERE chain = $1 AND level = $2 AND place = $3')
const NODES_IN = statement(
  `SELECT level, place AS index, hash FROM gate.tree_node
    WHERE chain = $1 AND level % ${STORED_LEVELS} = 0 AND level > 0 AND place >= $2::bigint >> level AND place < $3::bigint >> level`,
)
// Nodes of a checkpoint that was removed may still be there.
const PUT_NODE = statement(
  `INSERT INTO gate.tree_node (chain, level, place, hash) VALUES ($1, $2, $3, $4)
   ON CONFLICT (chain, level, place) DO UPDATE SET hash = excluded.hash`,
)
const DELETE_NODES = statement('DELETE FROM gate.tree_node WHERE chain = $1 AND (place + 1) << level <= $2')
const HASHES = statement('SELECT seq, hash FROM gate.audit_entry WHERE at >= $1 AND at < $2 ORDER BY at')

/** Statements over checkpoint, tree_node and anchored. Only commit.ts writes, inside its transaction. */
export function checkpointQueries(run: Runner, places: ChainPlaces) {
  const last = (chain: string, size = UNLIMITED, number = UNLIMITED) =>
    first(run.rows<StoredCheckpoint>(LAST, [chain, size, number]))
  const covering = (chain: string, seq: number, maxNumber = UNLIMITED) =>
    first(run.rows<StoredCheckpoint>(COVERING, [chain, seq, maxNumber]))
  const lastSize = async (chain: string): Promise<number> => (await last(chain))?.size ?? 0
  const putNodes = (chain: string, nodes: readonly TreeNode[]): void => {
    for (const { level, index, hash } of nodes) run.send(PUT_NODE, [chain, level, index, hash])
  }
  return {
    last: (chain: string) => last(chain),
    async around(chain: string, begin: number, end: number): Promise<StoredCheckpoint[]> {
      const past = await covering(chain, end - 1)
      return run.rows<StoredCheckpoint>(BETWEEN, [chain, begin, past?.size ?? UNLIMITED])
    },
    nodesIn: (chain: string, { first: begin, end }: SeqRange) => run.rows<TreeNode>(NODES_IN, [chain, begin, end]),
    lastSize,
    covering,
    within: (chain: string, size: number) => last(chain, size),
    lastUpTo: (chain: string, number: number) => last(chain, UNLIMITED, number),
    after: (number: number, limit: number) => run.rows<StoredCheckpoint>(AFTER, [number, limit]),
    chains: async () => (await run.rows<{ chain: string }>(CHAINS)).map(({ chain }) => chain),
    put(chain: string, size: number, note: string, completed: readonly TreeNode[]): void {
      run.send(INSERT, [chain, size, note])
      putNodes(chain, completed)
    },
    /** Keeps only the frontier of the tree over the entries before `size`, and the last of their checkpoints. */
    prune(chain: string, size: number, frontier: readonly TreeNode[]): void {
      run.send(DELETE_SMALLER, [chain, size])
      run.send(DELETE_NODES, [chain, size])
      putNodes(chain, frontier)
    },
    anchored: () => run.rows<Delivery>(ANCHORED),
    putAnchored: ({ sink, number, at }: Delivery) => run.send(PUT_ANCHORED, [sink, number, at]),
    async hashes(chain: string, ranges: readonly Range[]): Promise<Hash[]> {
      const tree = {
        chain,
        signed: await lastSize(chain),
        pruned: await prunedSize(run, chain),
        node: async ({ level, index }: { level: number; index: number }) =>
          (await first(run.rows<{ hash: Hash }>(NODE, [chain, level, index])))?.hash,
        entries: async (range: SeqRange) =>
          run.rows<{ seq: number; hash: Hash }>(HASHES, await places.range(chain, range)),
      }
      return runLater(treeHashes(tree, ranges))
    },
  }
}
