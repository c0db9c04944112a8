import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { checkpointer } from '../../src/actions/evidence/checkpoints.ts'
import { openKeyring } from '../../src/actions/evidence/signing-keys.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { parseCheckpoint } from '../../src/audit/checkpoint.ts'
import { consistencyPath, GrowingTree, isConsistent, leafHash } from '../../src/audit/merkle.ts'
import { encodeBase64 } from '../../src/base/bytes.ts'
import { parseDigest } from '../../src/base/digest.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Clock } from '../../src/base/time.ts'
import { openCheckpoint, type SignedCheckpoint } from '../../src/evidence/trust.ts'
import { signingKeyFile } from '../../src/files/signing-key.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoredCheckpoint } from '../../src/store/submission.ts'
import { type Cleanup, openBeside } from '../helpers.ts'

/** Opens the store of a service's folder, the keyring and the checkpointer, as a process beside the service has them. */
export async function signerOf(t: Cleanup, dir: string, clock: Clock = Date.now) {
  const store = await openBeside(dir, clock)
  t.after(() => store.close())
  const deps = { store, clock, newId: idMaker(clock, randomBytes) }
  const keyFile = signingKeyFile(`${dir}/data/signing-key.pem`)
  const keyring = await openKeyring(deps, keyFile)
  const faults: string[] = []
  const checkpoints = checkpointer({ ...deps, keyring, onFault: (chain, why) => faults.push(`${chain}: ${why}`) })
  return { ...deps, keyring, keyFile, checkpoints, faults }
}

export async function checkpointsOf(store: Store, chain?: string): Promise<StoredCheckpoint[]> {
  const all = await store.checkpointsAfter(0, 100_000)
  return chain === undefined ? all : all.filter((one) => one.chain === chain)
}

/**
 * Every checkpoint is signed, is of the tree that its chain has, is larger than those before, and is shown to go on from each of
 * them; and `_system` records it.
 */
export async function assertOneHistory(store: Store): Promise<number> {
  const { logKeys } = trustOf(store)
  const all = await checkpointsOf(store)
  const recorded = await recordedHeads(store)
  for (const chain of new Set(all.map((one) => one.chain))) {
    const signed: SignedCheckpoint[] = all
      .filter((one) => one.chain === chain)
      .map(({ note, size }) => {
        const opened = openCheckpoint(note, logKeys)
        assert.ok(opened !== undefined, `${chain} ${size} is not signed`)
        assert.deepEqual([opened.origin, opened.chain, opened.size], [store.origin, chain, size])
        assert.equal(
          recorded.has(`${chain} ${size} ${encodeBase64(opened.root)}`),
          true,
          `${chain} ${size} is not recorded`,
        )
        return opened
      })
    const roots = await rootsOf(store, chain)
    for (const [i, later] of signed.entries()) {
      assert.equal(encodeBase64(later.root), roots[later.size], `${chain} ${later.size}`)
      for (const earlier of signed.slice(0, i)) {
        assert.ok(earlier.size < later.size, `${chain}: ${later.size} after ${earlier.size}`)
        const proof = await store.treeHashes(chain, consistencyPath(earlier.size, later.size))
        assert.equal(isConsistent(earlier, later, proof), true, `${chain}: ${earlier.size} and ${later.size}`)
      }
    }
  }
  return all.length
}

/** The roots of all sizes, computed from the headers alone. */
async function rootsOf(store: Store, chain: string): Promise<string[]> {
  const tree = new GrowingTree()
  const roots = [encodeBase64(tree.root())]
  for (const { hash } of await store.entriesFrom(chain, 0, 1_000_000)) {
    tree.append(leafHash(parseDigest(hash)))
    roots.push(encodeBase64(tree.root()))
  }
  return roots
}

interface Head {
  chain: string
  size: number
  root: string
}
async function recordedHeads(store: Store): Promise<Set<string>> {
  const entries = await store.entriesFrom('_system', 0, 1_000_000)
  const heads = entries
    .filter(({ header }) => header.type === 'audit.checkpoint')
    .flatMap(({ sections }): Head[] => JSON.parse(sections.find(({ name }) => name === 'data')?.json ?? '').checkpoints)
  return new Set(heads.map(({ chain, size, root }) => `${chain} ${size} ${encodeBase64(parseDigest(root))}`))
}

/** Returns the content of a checkpoint note, unverified. */
export function saidBy({ note }: StoredCheckpoint) {
  return parseCheckpoint(note.slice(0, note.indexOf('\n\n') + 1))
}
