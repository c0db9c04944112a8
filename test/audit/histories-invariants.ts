import assert from 'node:assert/strict'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { consistencyPath, inclusionPath, isConsistent, isIncluded, leafHash } from '../../src/audit/merkle.ts'
import { parseDigest } from '../../src/base/digest.ts'
import { memo } from '../../src/base/memo.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { type LogKey, openCheckpoint, type SignedCheckpoint, type Trust } from '../../src/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { anchored } from '../anchors/support.ts'
import { notOk, verifiedHere } from '../evidence/bundles.ts'
import { checkpointOf } from '../evidence/forge.ts'
import type { Life, World } from './histories.ts'
import {
  beginOf,
  failedChecks,
  isOfThisHistory,
  lengthOf,
  type Model,
  newestAnchors,
  redactedEntries,
  statusOf,
} from './histories-model.ts'

/** Asserts the invariants that hold after every command. */
export async function assertAsModelled(model: Model, world: World): Promise<void> {
  const { life, anchorFile } = world
  assert.equal(life.trail.anchors.fault() !== null, model.isSuspended, 'whether nothing is written')
  await assertChains(model, life)
  await assertCheckpoints(model, life)
  const lines = model.anchors.map(({ chain, size }) => `${chain} ${size}`)
  assert.deepEqual(anchored(anchorFile), lines, 'the anchor file')
  await assertBundles(model, life)
}

async function assertChains(model: Model, { store, trail }: Life): Promise<void> {
  const { stored } = model
  assert.deepEqual((await store.chains()).sort(), [...stored.chains.keys()].sort())
  const inputs = await trail.readAnchors()
  for (const chain of new Set([...stored.chains.keys(), ...newestAnchors(model).keys()])) {
    const status = statusOf(model, chain)
    const found = await verifySeqs(store, chain, undefined, inputs)
    assert.equal(found.status, status, `${chain}: ${found.fault}`)
    assert.equal((await store.lengths([chain])).get(chain) ?? 0, lengthOf(stored, chain), `entries of ${chain}`)
    if (found.valid) assert.equal(found.redactedEntries, redactedEntries(model, chain), `erased of ${chain}`)
  }
}

/** Strict verification takes milliseconds, and what is signed stays so. */
const opened = memo((note: string) => {
  const kept = new Map<string, SignedCheckpoint | undefined>()
  return (keys: readonly LogKey[]): SignedCheckpoint | undefined => {
    const pins = keys.map(({ publicKey }) => publicKey).join()
    if (!kept.has(pins)) kept.set(pins, openCheckpoint(note, keys))
    return kept.get(pins)
  }
})

/** Each is signed, larger than those before it, and goes on from each of them; entries are included in it. */
async function assertCheckpoints({ stored, nowMs }: Model, { store }: Life): Promise<void> {
  const { logKeys } = trustOf(store)
  const all = await store.checkpointsAfter(0, 100_000)
  const said = all.map(({ chain, size }) => `${chain} ${size}`)
  assert.deepEqual(
    said,
    stored.checkpoints.map(({ chain, size }) => `${chain} ${size}`),
    'checkpoints',
  )
  for (const chain of stored.chains.keys()) {
    const own = all.filter((one) => one.chain === chain)
    const signed = own.map(({ note, size }) => opened(note)(logKeys) ?? assert.fail(`${chain} ${size} is not signed`))
    const newest = signed.pop()
    if (newest === undefined) continue
    assert.equal(newest.size, own.at(-1)?.size)
    for (const earlier of signed) {
      assert.equal(earlier.size < newest.size, true, `${chain}: ${newest.size} after ${earlier.size}`)
      const proof = await store.treeHashes(chain, consistencyPath(earlier.size, newest.size))
      assert.equal(isConsistent(earlier, newest, proof), true, `${chain}: ${newest.size} goes on from ${earlier.size}`)
    }
    const begin = beginOf(stored, chain)
    if (newest.size === begin) continue
    for (const seq of [seqBetween(begin, newest.size, nowMs), newest.size - 1]) await assertIncluded(store, newest, seq)
  }
}

function seqBetween(first: number, end: number, random: number): number {
  return first + ((random * 7919) % Math.max(1, end - first))
}

async function assertIncluded(store: Life['store'], checkpoint: SignedCheckpoint, seq: number): Promise<void> {
  const { chain, size } = checkpoint
  const entry = await store.entryAt(chain, seq)
  const proof = await store.treeHashes(chain, inclusionPath(seq, size))
  const leaf = leafHash(parseDigest(entry?.hash ?? ''))
  assert.equal(isIncluded(leaf, seq, checkpoint, proof), true, `entry ${seq} of ${chain} in ${size}`)
}

/** By the keys that were trusted then: what a bundle is worth does not change while these do not. */
const verdicts = new WeakMap<Bundle, { pins: string; failed: string[] }>()

function failedOf(bundle: Bundle, trust: Trust, nowMs: number): string[] {
  const pins = JSON.stringify(trust.logKeys)
  const known = verdicts.get(bundle)
  if (known?.pins === pins) return known.failed
  const failed = Object.keys(notOk(verifyBundle(bundle, { trust, nowMs })))
  verdicts.set(bundle, { pins, failed })
  return failed
}

/** Bundles that were exported earlier, in this history or in one that was taken back. */
async function assertBundles(model: Model, life: Life): Promise<void> {
  const trust = trustOf(life.store)
  for (const exported of model.exported) {
    const { bundle, decision } = exported
    assert.deepEqual(failedOf(bundle, trust, life.clock()), failedChecks(model, exported), `bundle of ${decision}`)
  }
  const newest = model.exported.at(-1)
  if (newest === undefined || failedChecks(model, newest).length > 0) return
  // Pruned entries cannot be told from another history.
  const isKept = checkpointOf(newest.bundle).size >= beginOf(model.stored, newest.chain)
  const { verdict } = await verifiedHere(life, newest.bundle)
  assert.equal(
    verdict,
    isOfThisHistory(model, newest) || !isKept ? 'valid' : 'invalid',
    `${newest.decision}, held to the trail`,
  )
}
