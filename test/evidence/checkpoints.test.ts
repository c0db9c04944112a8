import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLogger } from '../../src/service/log.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import type { Store } from '../../src/store/store.ts'
import { fileTest, type GateOptions, openFile, startGate } from '../helpers.ts'
import { assertRefused, untilLoaded } from '../http/support.ts'
import { commit, note, only } from '../store/drafts.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { assertOneHistory, checkpointsOf, signerOf } from './signed.ts'

/** The service looks each half second; a look takes little. */
const LOOKS_MS = 1200
const LIVE = 'acme/live'

/** A service whose clock moves when it is told to, and of which nothing is left to be signed. */
async function watched(options: GateOptions = {}) {
  let now = Date.now()
  const gate = await startGate({ after }, { ...options, clock: () => now })
  const owner = await gate.key()
  await untilLoaded(gate, owner)
  const { store } = gate.server
  const signed = async (chain = LIVE): Promise<number> => (await checkpointsOf(store, chain)).at(-1)?.size ?? 0
  const length = async (chain = LIVE): Promise<number> => await lengthOf(store, chain)
  const wait = (ms: number): void => {
    now += ms
  }
  const settle = async (): Promise<void> => {
    await sleep(LOOKS_MS)
    wait(10_000)
    await until('it is signed', async () => (await signed()) === (await length()))
    await sleep(LOOKS_MS)
  }
  await settle()
  return { gate, owner, store, signed, length, wait, settle, now: () => now }
}
const notes = (count: number, chain = LIVE) => only(...Array.from({ length: count }, () => note({}, { chain })))
const total = async (store: Store): Promise<number> => (await checkpointsOf(store)).length

const service = await watched()
const { gate, owner, store, signed, length, wait, settle } = service

test('a checkpoint is due after 256 entries, and not before', async () => {
  const size = await signed()
  await commit(store, notes(255))
  await sleep(LOOKS_MS)
  assert.equal(await signed(), size)
  await commit(store, notes(1))
  await until('it is signed', async () => (await signed()) === size + 256)
})

test('a checkpoint is due ten seconds after the first entry that waits, and not before', async () => {
  const size = await signed()
  await commit(store, notes(1))
  wait(5000)
  await commit(store, notes(1))
  wait(4999)
  await sleep(LOOKS_MS)
  assert.equal(await signed(), size)
  wait(1)
  await until('it is signed', async () => (await signed()) === size + 2)
})

test('a stop is signed while no time passes, and so is its end', async () => {
  const stop = { level: 'L3', reason: 'x', triggeredBy: 'x' }
  assert.equal((await gate.call(owner, 'POST', '/killswitch/trigger', stop)).status, 200)
  await until('it is signed', async () => (await signed()) === (await length()))
  await gate.call(owner, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
  await until('it is signed', async () => (await signed()) === (await length()))
})

test('a stop of everything is signed while no time passes', async () => {
  const admin = await gate.key({ roles: ['admin'] })
  await settle()
  const before = await signed('_system')
  const stop = { level: 'L4', reason: 'x', triggeredBy: 'x' }
  assert.equal((await gate.call(admin, 'POST', '/killswitch/trigger', stop)).status, 200)
  await until('it is signed', async () => (await signed('_system')) > before)
  await gate.call(admin, 'POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
})

test('an idle service makes no checkpoints, but one each hour', async () => {
  await settle()
  const before = await total(store)
  for (let minutes = 0; minutes < 50; minutes += 10) {
    await sleep(LOOKS_MS / 2)
    assert.equal(await total(store), before)
    // The first of these is ten seconds and more after whatever was written last.
    wait(60_000)
  }
  wait(3_600_000)
  await until('it is signed', async () => (await total(store)) === before + 1)
  await sleep(LOOKS_MS)
  assert.equal(await total(store), before + 1)
  assert.equal((await checkpointsOf(store)).at(-1)?.chain, '_system')
})

test('all checkpoints of the service are of one history, and recorded', async () => {
  assert.ok((await assertOneHistory(store)) > 6)
})

fileTest('a service that ends signs what it has written', async () => {
  const ending = await startGate({ after })
  const key = await ending.key()
  await ending.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  await ending.server.close()
  const kept = openFile(`${ending.dir}/data`)
  try {
    const [ofTenant] = (await checkpointsOf(kept, LIVE)).slice(-1)
    assert.equal(ofTenant?.size, (await kept.lengths([LIVE])).get(LIVE))
    // Recording the checkpoints writes one more entry to `_system`.
    const [ofService] = (await checkpointsOf(kept, '_system')).slice(-1)
    assert.equal(ofService?.size, Number((await kept.lengths(['_system'])).get('_system')) - 1)
    await assertOneHistory(kept)
  } finally {
    await kept.close()
  }
})

fileTest('two processes that sign at once, as entries are written, sign one history', async (t) => {
  const beside = await startGate(t)
  await beside.key()
  const signers = await Promise.all([signerOf(t, beside.dir), signerOf(t, beside.dir)])
  for (let round = 0; round < 15; round += 1) {
    await Promise.all([
      ...signers.map(({ checkpoints }) => checkpoints.signAll()),
      ...signers.map((signer, i) => commit(signer.store, notes(round + 1, i === 0 ? LIVE : 'acme/test'))),
    ])
  }
  await Promise.all(signers.map(({ checkpoints }) => checkpoints.signAll()))
  assert.deepEqual(
    signers.flatMap(({ faults }) => faults),
    [],
  )
  assert.ok((await assertOneHistory(beside.server.store)) > 20)
})

const REPLACED: [name: string, change: string][] = [
  [
    'another text',
    "UPDATE entry SET header = replace(header, 'gate.decision', 'gate.decisiom') WHERE chain = ? AND seq = ?",
  ],
  ['nothing', 'DELETE FROM entry WHERE chain = ? AND seq = ?'],
]
for (const [name, change] of REPLACED) {
  fileTest(`an entry with ${name} in its place is not signed, nor what comes after it; other chains are`, async () => {
    const errors: object[] = []
    const log = Object.assign(createLogger('silent'), { error: (told: object) => errors.push(told) })
    const altered = await watched({ log })
    const check = async (): Promise<string> =>
      (await altered.gate.call(altered.owner, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })).body
        .data.decisionId
    const early = await check()
    await altered.settle()
    const [size, seq] = [await altered.signed(), await altered.length()]
    await check()
    const late = await check()
    tamper(`${altered.gate.dir}/data`, (db) => db.prepare(change).run(LIVE, seq))
    altered.wait(10_000)
    const other = { secret: (await altered.gate.key({ tenant: 'other' })).secret, tenant: 'other' }
    await altered.gate.call(other, 'POST', '/gate/check', { tenantId: 'other', action: 'email.send' })
    altered.wait(10_000)
    await until('it is signed', async () => (await altered.signed('other/live')) > 0)
    assert.equal(await altered.signed(), size)
    const told = errors.filter((one) => 'chain' in one && one.chain === LIVE)
    assert.equal(told.length, 1, 'it is told once')
    assert.match(JSON.stringify(told), new RegExp(`entry ${seq} |entry ${seq + 1} `))
    const exported = (id: string) => altered.gate.call(altered.owner, 'GET', `/evidence/bundle/${id}`)
    assertRefused(await exported(late), 'audit_unavailable')
    assert.equal((await exported(early)).status, 200)
  })
}

const AS_SIGNED: [name: string, change: string][] = [
  ['its text', `UPDATE entry SET header = replace(header, '"ts":"20', '"ts":"19') WHERE chain = ? AND seq = ?`],
  ['its hash', 'UPDATE entry SET hash = zeroblob(32) WHERE chain = ? AND seq = ?'],
  ['a section', "UPDATE section SET json = replace(json, 'email.send', 'email.sens') WHERE chain = ? AND seq = ?"],
  ['the hash of the one before', 'UPDATE entry SET hash = zeroblob(32) WHERE chain = ? AND seq + 1 = ?'],
  [
    'the text of the one before',
    "UPDATE entry SET header = replace(header, 'aud_01', 'aud_02') WHERE chain = ? AND seq + 1 = ?",
  ],
]
for (const [name, change] of AS_SIGNED) {
  fileTest(`an entry that was altered after it was signed is not exported: ${name}`, async () => {
    const altered = await watched()
    const answer = await altered.gate.call(altered.owner, 'POST', '/gate/check', {
      tenantId: 'acme',
      action: 'email.send',
    })
    const path = `/evidence/bundle/${answer.body.data.decisionId}`
    const seq = (await altered.length()) - 1
    assert.equal((await altered.gate.call(altered.owner, 'GET', path)).status, 200)
    tamper(`${altered.gate.dir}/data`, (db) => db.prepare(change).run(LIVE, seq))
    assertRefused(await altered.gate.call(altered.owner, 'GET', path), 'audit_unavailable')
  })
}
