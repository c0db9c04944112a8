import { genesisHead, type Head } from '../../audit/chain.ts'
import { hashHeader, readHeader, type StoredEntry } from '../../audit/entry.ts'
import { coverRanges, GrowingTree, type Hash, leafHash, STORED_LEVELS } from '../../audit/merkle.ts'
import { unsignedTail } from '../../audit/unsigned.ts'
import { entryFault, headOf } from '../../audit/verify.ts'
import { equalBytes } from '../../base/bytes.ts'
import { formatDigest, parseDigest } from '../../base/digest.ts'
import { GateError } from '../../base/errors.ts'
import { quickVerifier } from '../../evidence/ed25519.ts'
import { openCheckpoint } from '../../evidence/trust.ts'
import type { RecordedHead } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
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

// About 2 ms of the event loop, in which no request is answered.
const HEADERS_AT_ONCE = 50

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
    store.refresh()
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
      const tree = start.tree.copy()
      let { head } = start
      const nodes: TreeNode[] = []
      // Entries that this process itself could not sign, such as without the key's file, were not taken away.
      const isKnown = isAdopted || cache.get(chain)?.tree.size === start.tree.size
      const isTooMany = isKnown ? () => false : unsignedTail()
      for (;;) {
        const left = Math.max(0, newest.seq + 1 - tree.size)
        const texts = await store.headersFrom(chain, tree.size, Math.min(left, HEADERS_AT_ONCE))
        if (texts.length === 0) break
        for (const text of texts) {
          const entry = entryOf(text)
          if (entry === undefined) throw altered(chain, tree.size, 'is no JSON')
          const fault = entryFault(chain, head, entry, { sections: false })
          if (fault !== undefined) throw altered(chain, fault.seq, `does not follow: ${fault.what}`)
          if (isTooMany(entry.header)) throw altered(chain, start.tree.size, UNSIGNED)
          head = headOf(entry)
          tree.append(leafHash(parseDigest(entry.hash)), 0, (place, hash) => {
            if (place.level % STORED_LEVELS === 0) nodes.push({ ...place, hash })
          })
        }
        // Other work runs here.
        await new Promise(setImmediate)
      }
      if (head.hash !== newest.hash) throw altered(chain, newest.seq, 'is not the one that was written last')
      const from = start.tree.size
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

const UNSIGNED = 'was signed once, and is not any more (if the log key was away then, `audit restore` takes it up)'

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
