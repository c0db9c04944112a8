import { genesisHead, type Head } from '../../audit/chain.ts'
import { type Header, hashHeader, readHeader, type StoredEntry } from '../../audit/entry.ts'
import { coverRanges, GrowingTree, type Hash, leafHash, STORED_LEVELS } from '../../audit/merkle.ts'
import { unsignedTail } from '../../audit/unsigned.ts'
import { entryFault, headOf } from '../../audit/verify.ts'
import { equalBytes } from '../../base/bytes.ts'
import { formatDigest, parseDigest } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import { quickVerifier } from '../../evidence/ed25519.ts'
import { openCheckpoint } from '../../evidence/trust.ts'
import type { RecordedHead } from '../../store/records.ts'
import type { Store, WrittenHashes } from '../../store/store.ts'
import type { StoredCheckpoint, TreeNode } from '../../store/submission.ts'
import { headBefore } from '../audit/verify-range.ts'
import { trustOf } from './trust.ts'

/** The growth of a chain since its last checkpoint. */
export interface Growth {
  chain: string
  /** Size of the last checkpoint; 0 without one. */
  from: number
  size: number
  root: Hash
  nodes: readonly TreeNode[]
  /** The state from which the next growth continues. */
  state: SignedTree
}

interface SignedTree {
  tree: GrowingTree
  head: Head
}

// About 2 ms of the event loop, in which no request is answered, for entries that another process wrote.
const HEADERS_AT_ONCE = 50

/** A tree that grows from the last checkpoint on, with the newest entry in it. */
interface Growing extends SignedTree {
  chain: string
  /** Subtrees to store. */
  nodes: TreeNode[]
}

/** The trees of the chains, each up to its last checkpoint. */
export function chainTree(store: Store) {
  const cache = new Map<string, SignedTree>()

  /** The tree at the last checkpoint, and the chain's head there. */
  const signed = async (chain: string, isAdopted: boolean): Promise<SignedTree> => {
    const known = cache.get(chain)
    if (known !== undefined && known.tree.size === (await store.lastCheckpoint(chain))?.size) return known
    // The heads are read before the checkpoint written with them, since others sign meanwhile.
    const heads = await store.recordedHeads(chain)
    const last = await store.lastCheckpoint(chain)
    const size = last?.size ?? 0
    for (const head of heads) if (head.size > size) await assertMayRenew(store, size, head, isAdopted)
    const peaks = await store.treeHashes(chain, coverRanges(0, size))
    const tree = new GrowingTree(size, peaks)
    if (last !== undefined && !isSigned(store, last, tree.root()))
      throw altered(chain, size - 1, 'was signed with another tree')
    return { tree, head: await headAt(chain, size - 1) }
  }

  const headAt = async (chain: string, seq: number): Promise<Head> => {
    const head = await headBefore(store, chain, seq + 1)
    if (head === undefined) throw altered(chain, seq, 'is missing')
    return head
  }

  /** The newest entry: what was appended without the log key is not signed by it. */
  const sealedHead = async (chain: string): Promise<Head> => {
    // Another process may have rotated the key.
    await store.refresh()
    return (await store.sealedHead(chain)) ?? genesisHead(store.origin, chain)
  }

  return {
    /**
     * The growth of a chain; none when it has not grown.
     *
     * @param isAdopted an operator vouches for unsigned entries, however many, and for missing checkpoints
     * @throws GateError `audit_unavailable` naming the entry that does not follow, or was appended without the log key
     */
    async grow(chain: string, isAdopted: boolean): Promise<Growth[]> {
      const start = await signed(chain, isAdopted)
      const newest = await sealedHead(chain)
      const from = start.tree.size
      const growing: Growing = { chain, tree: start.tree.copy(), head: start.head, nodes: [] }
      // Entries that this process itself could not sign, such as without the key's file, were not taken away.
      const isKnown = isAdopted || cache.get(chain)?.tree.size === from
      const isTooMany = isKnown ? () => false : unsignedTail()
      while (growing.tree.size <= newest.seq) {
        const { size } = growing.tree
        const texts = await store.headersFrom(chain, size, Math.min(newest.seq + 1 - size, HEADERS_AT_ONCE))
        if (texts.length === 0) break
        const written = writtenAfter(growing, store.writtenHashes(chain, from - 1))
        for (const [i, text] of texts.entries()) {
          const hash = written[i]
          if (hash !== undefined) appendWritten(growing, text, hash, newest)
          else if (isTooMany(appendRead(growing, text))) throw altered(chain, from, UNSIGNED)
        }
        // Other work runs here.
        await new Promise(setImmediate)
      }
      const { tree, head, nodes } = growing
      if (head.hash !== newest.hash) throw altered(chain, newest.seq, 'is not the one that was written last')
      if (tree.size === from) return []
      return [{ chain, from, size: tree.size, root: tree.root(), nodes, state: { tree, head } }]
    },
    /** Caches the signed tree, so that the next growth need not be read from the start. */
    keep(growth: Growth): void {
      cache.set(growth.chain, growth.state)
    },
  }
}

/**
 * Refuses to sign past a missing checkpoint that `_system` records, unless an operator vouches for it. The entries may
 * have been rewritten; if they differ from that checkpoint, nobody can vouch.
 */
async function assertMayRenew(store: Store, size: number, head: RecordedHead, isAdopted: boolean): Promise<void> {
  const [root] = await store.treeHashes(head.chain, [{ begin: 0, end: head.size }])
  if (root === undefined || formatDigest(root) !== head.root)
    throw altered(head.chain, size, 'is not what _system records as signed')
  if (!isAdopted) throw altered(head.chain, size, UNSIGNED)
}

const UNSIGNED =
  'was signed before, and its signature is missing now (if the log key was missing then, run `audit restore`)'

/** The hashes that follow in the tree, of entries that this process wrote after the one that is its newest. */
function writtenAfter({ tree, head }: Growing, written: WrittenHashes | undefined): readonly string[] {
  if (written === undefined) return []
  const at = tree.size - written.first
  return written.hashes[at - 1] === head.hash ? written.hashes.slice(at, at + HEADERS_AT_ONCE) : []
}

/**
 * Appends an entry of which this process wrote this hash: it follows, since the one before it was read under the lock.
 *
 * @throws GateError `audit_unavailable` when the text has another hash
 */
function appendWritten(growing: Growing, headerText: string, hash: string, newest: Head): void {
  const { chain, tree, head } = growing
  if (hashHeader(headerText) !== hash) throw altered(chain, tree.size, 'is not what was written')
  appendLeaf(growing, hash)
  growing.head = hash === newest.hash ? newest : { ...head, seq: head.seq + 1, hash }
}

/** @throws GateError `audit_unavailable` for an entry that does not follow */
function appendRead(growing: Growing, headerText: string): Header {
  const { chain, tree, head } = growing
  const entry = entryOf(headerText)
  if (entry === undefined) throw altered(chain, tree.size, 'is not JSON')
  const fault = entryFault(chain, head, entry, { sections: false })
  if (fault !== undefined) throw altered(chain, fault.seq, `does not follow: ${fault.what}`)
  appendLeaf(growing, entry.hash)
  growing.head = headOf(entry)
  return entry.header
}

function appendLeaf({ tree, nodes }: Growing, hash: string): void {
  tree.append(leafHash(parseDigest(hash)), 0, (place, node) => {
    if (place.level % STORED_LEVELS === 0) nodes.push({ ...place, hash: node })
  })
}

/** The entry of a header's text; its hash is computed, not read. */
function entryOf(headerText: string): StoredEntry | undefined {
  const header = readHeader(headerText)
  return header && { header, headerText, hash: hashHeader(headerText), sections: [] }
}

/** True when one of our log keys has signed this tree for this chain. */
function isSigned(store: Store, { chain, size, note }: StoredCheckpoint, root: Hash): boolean {
  const opened = openCheckpoint(note, trustOf(store).logKeys, quickVerifier())
  const isThis = opened?.origin === store.origin && opened.chain === chain && opened.size === size
  return isThis && equalBytes(opened.root, root)
}

function altered(chain: string, seq: number, what: string): GateError {
  return new GateError(
    'audit_unavailable',
    `Audit chain ${chain}, entry ${seq} ${what}. Nothing was signed; see \`audit verify\`.`,
  )
}
