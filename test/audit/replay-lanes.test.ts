import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportRange } from '../../src/actions/audit/export-range.ts'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { laneOf } from '../../src/audit/chain.ts'
import { type EntryDraft, SERVICE } from '../../src/audit/draft.ts'
import { lengthsFault } from '../../src/audit/replay/others.ts'
import type { RuleName } from '../../src/audit/replay/place.ts'
import { emptyState } from '../../src/audit/replay/state.ts'
import { MANIFEST_FILE } from '../../src/evidence/export.ts'
import { verifyExport } from '../../src/evidence/verify-export.ts'
import { exportFolder, readExport } from '../../src/files/export-folder.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { creation } from '../../src/store/records.ts'
import { temporaryFolder } from '../helpers.ts'
import { aKey, commit, LIVE } from '../store/drafts.ts'
import { HOST } from './acting.ts'
import { type Forger, forger } from './replay-forge.ts'
import { honestTrail, LATER_MS, type Opened, opened } from './replay-scene.ts'
import { snapshot } from './trail.ts'

const LANE = laneOf(LIVE, 1)
const honest = await honestTrail()
const { keys, approvals } = honest
const inLane = (entry: EntryDraft): EntryDraft => ({ ...entry, chain: LANE })
const append = ({ trail }: Opened, entries: readonly EntryDraft[]) =>
  commit(trail.store, { guards: [], writes: [], entries: [...entries] })
const lengthsIn = async ({ trail }: Opened, type: string) => {
  const { items } = await trail.store.page({ chain: LIVE, eventType: type, order: 'desc', limit: 1, offset: 0 })
  return JSON.parse(items[0]?.sections.find(({ name }) => name === 'data')?.json ?? '{}').lengths
}

/** A trail with a lane of two allows: one before a stop, one after its end. */
async function withLane(): Promise<Opened> {
  const scene = await opened(await snapshot(honest.dir), LATER_MS)
  await append(scene, [inLane(forger(scene).decision(keys.bot, 'email.send'))])
  await scene.stop(keys.operator, { level: 'L3' })
  await scene.recover(keys.operator)
  await append(scene, [inLane(forger(scene).decision(keys.bot, 'email.send'))])
  return scene
}

test('a stop and a key of a trail record the lengths of its lanes, and of no other chain', async () => {
  const scene = await withLane()
  assert.deepEqual(await lengthsIn(scene, 'killswitch.triggered'), { [LANE]: 2 })
  await scene.revoke(keys.other)
  assert.deepEqual(await lengthsIn(scene, 'key.revoked'), { [LANE]: 3 })
  await scene.trail.close()
  const alone = await opened(await snapshot(honest.dir), LATER_MS)
  await alone.revoke(keys.other)
  assert.equal(await lengthsIn(alone, 'key.revoked'), undefined)
  await alone.trail.close()
})

test('allows in a lane before a stop and after its end are lawful, and the keys are those of the trail', async () => {
  const scene = await withLane()
  for (const chain of [LIVE, LANE, '_system']) {
    const { valid, fault, entriesChecked } = await verifySeqs(scene.trail.store, chain, undefined)
    assert.deepEqual([chain, valid, fault, entriesChecked > 2], [chain, true, null, true])
  }
  await scene.trail.close()
})

interface Forgery {
  name: string
  rule: RuleName
  first?(scene: Opened): Promise<unknown>
  entries(forged: Forger): EntryDraft[] | Promise<EntryDraft[]>
}

const allow = (keyId: string) => (forged: Forger) => [inLane(forged.decision(keyId, 'email.send'))]
const stopped =
  (level: 'L1' | 'L3' | 'L4') =>
  (scene: Opened): Promise<unknown> =>
    scene.stop(level === 'L4' ? keys.admin : keys.operator, level === 'L1' ? { level, scope: 'email.*' } : { level })
const FORGERIES: Forgery[] = [
  { name: 'an allow under a stop of its tenant', rule: 'stopped', first: stopped('L3'), entries: allow(keys.bot) },
  { name: 'an allow under a stop of its action', rule: 'stopped', first: stopped('L1'), entries: allow(keys.bot) },
  { name: 'an allow under a global stop', rule: 'stopped', first: stopped('L4'), entries: allow(keys.bot) },
  {
    name: 'an allow for a key that was revoked in the trail',
    rule: 'active',
    first: (scene) => scene.revoke(keys.bot),
    entries: allow(keys.bot),
  },
  { name: 'an allow for a key of another world', rule: 'actor', entries: allow(keys.tester) },
  {
    name: 'an allow for a key that nobody made',
    rule: 'actor',
    entries: (forged) => [inLane(forged.decision('key_ghost', 'email.send', {}, { key: aKey({ id: 'key_ghost' }) }))],
  },
  {
    name: 'the use of an approval',
    rule: 'state',
    entries: async (forged) => (await forged.use(approvals.approved, keys.bot)).map(inLane),
  },
  {
    name: 'a vote',
    rule: 'type',
    entries: async (forged) => [inLane(await forged.vote(approvals.pending, forged.keyOf(keys.ann)))],
  },
  {
    name: 'a new key',
    rule: 'type',
    entries: (forged) => [inLane(forged.entry('key.created', creation('key', aKey()).data, HOST))],
  },
  {
    name: 'the count of refused requests',
    rule: 'type',
    entries: (forged) => [inLane(forged.entry('auth.refused', {}, SERVICE))],
  },
]

for (const { name, rule, first, entries } of FORGERIES) {
  test(`${rule}: ${name}`, async () => {
    const scene = await withLane()
    await first?.(scene)
    const { store } = scene.trail
    const length = await lengthOf(store, LANE)
    await append(scene, await entries(forger(scene)))
    const { status, firstBadSeq, fault } = await verifySeqs(store, LANE, undefined)
    const found = { status, firstBadSeq, rule: /\(rule (\w+)\)/.exec(fault ?? '')?.[1] }
    assert.deepEqual(found, { status: 'unlawful', firstBadSeq: length, rule }, fault ?? '')
    await scene.trail.close()
  })
}

test('the places of a trail among its lanes only grow, and are in no other chain', () => {
  const faultOf = (chain: string, ...lengths: object[]) => {
    const state = emptyState(chain, { own: true, others: true })
    return lengths.map((told) => lengthsFault(state, { lengths: told } as never)?.rule).at(-1)
  }
  assert.equal(faultOf(LIVE, { [LANE]: 1 }, { [LANE]: 1, [laneOf(LIVE, 2)]: 7 }), undefined)
  assert.equal(faultOf(LIVE, { [LANE]: 2 }, { [LANE]: 1 }), 'order')
  assert.equal(faultOf(LIVE, { [LANE]: 2 }, {}), 'order')
  assert.equal(faultOf(LIVE, { 'other/live': 1 }), 'form')
  assert.equal(faultOf(LIVE, { [laneOf('acme/test', 1)]: 1 }), 'form')
  assert.equal(faultOf('_system', { [LANE]: 1, 'other/live': 1 }), undefined)
  assert.equal(lengthsFault(emptyState(LIVE, { own: true, others: true }), {}), undefined)
})

test('the export of a lane is verified without the keys of its trail, which are not at hand', async () => {
  const { trail } = await withLane()
  await trail.checkpoints.signAll()
  const end = await lengthOf(trail.store, LANE)
  const out = join(temporaryFolder(), 'lane')
  const folder = exportFolder(out)
  const manifest = await exportRange(trail, LANE, { first: 0, end }, folder)
  folder.writeText(MANIFEST_FILE, JSON.stringify(manifest))
  const { verdict, rules } = await verifyExport(readExport(out), { trust: trustOf(trail.store), nowMs: LATER_MS })
  assert.deepEqual([verdict, rules?.unlawfulEntries, rules?.unjudged], ['valid', 0, 2])
  await trail.close()
})
