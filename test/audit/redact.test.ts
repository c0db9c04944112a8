import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { redact } from '../../src/actions/audit/redact.ts'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { idMaker } from '../../src/base/id.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { randomPool } from '../../src/store/random-pool.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { fileTest, type Gate, openFile, startGate, temporaryFolder } from '../helpers.ts'
import { entries } from '../http/support.ts'
import { commit, enrolment, note, only } from '../store/drafts.ts'
import { changesBy } from '../store/old-tables.ts'
import { tamper } from '../store/used-folder.ts'
import { interrupted } from './interrupted.ts'

const HOST = { kind: 'host', id: 'host:0' } as const
const SECRET = 'DE89370400440532013000'
const LIVE = 'acme/live'
const REASON = 'asked for by the person concerned'

/** Returns whether the text occurs anywhere in the files of the data folder. */
function isOnDisk(gate: Gate, text: string): boolean {
  const dir = join(gate.dir, 'data')
  return readdirSync(dir).some((name) => readFileSync(join(dir, name)).includes(text))
}

function depsOf(gate: Gate) {
  return { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomPool()) }
}

const erase = async (gate: Gate, first: number, end: number) =>
  redact(depsOf(gate), HOST, { chain: LIVE, first, end, reason: REASON })

const lengthOf = async (gate: Gate) => (await gate.server.store.lengths([LIVE])).get(LIVE) ?? 0

async function scene(t: { after(work: () => void | Promise<void>): void }) {
  const gate = await startGate(t)
  const owner = await gate.key({ identity: 'olga' })
  const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
  const check = async (amount: number) => {
    const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount, to: SECRET } }
    return (await gate.call(owner, 'POST', '/gate/check', body)).body.data
  }
  const seqOf = async (decisionId: string) =>
    (await gate.server.store.entry(decisionId.replace('dec_', 'aud_')))?.header.seq ?? assert.fail()
  return { gate, owner, approver, check, seqOf }
}

fileTest('a request that was erased is gone, and everything else of its decision is still proved', async (t) => {
  const { gate, owner, check, seqOf } = await scene(t)
  const { decisionId } = await check(5)
  const before = (await gate.call(owner, 'GET', `/evidence/bundle/${decisionId}`)).body.data
  assert.equal(isOnDisk(gate, SECRET), true)
  const seq = await seqOf(decisionId)
  assert.deepEqual(await erase(gate, seq, seq + 1), { entries: 1, sections: 1, approvals: 0, kept: 0 })
  assert.equal(await gate.server.store.scrub(), true)
  assert.equal(isOnDisk(gate, SECRET), false)

  const trust = trustOf(gate.server.store)
  const bundle = (await gate.call(owner, 'GET', `/evidence/bundle/${decisionId}`)).body.data
  const result = verifyBundle(bundle, { trust, nowMs: Date.now() })
  assert.deepEqual([result.verdict, result.redacted], ['valid', ['request']])
  assert.deepEqual([bundle.context.originalRequest, bundle.decision.decision], [{}, 'allow'])
  assert.equal(verifyBundle(before, { trust, nowMs: Date.now() }).verdict, 'valid', 'the bundle from before stays good')

  const verified = await verifySeqs(gate.server.store, LIVE, undefined)
  assert.deepEqual([verified.valid, verified.redactedEntries, verified.fault], [true, 1, null])
  const { body } = await gate.call(owner, 'GET', '/audit/chain?limit=10')
  const [redaction] = body.data.filter(({ eventType }: { eventType: string }) => eventType === 'audit.redaction')
  assert.deepEqual(redaction.data, { reason: REASON, targets: [{ first: seq, last: seq, section: 'request' }] })
  assert.equal((await gate.call(owner, 'GET', `/decisions/${decisionId}`)).status, 200)
})

test('what is erased twice is erased once', async (t) => {
  const { gate, check, seqOf } = await scene(t)
  const seq = await seqOf((await check(5)).decisionId)
  await erase(gate, seq, seq + 1)
  const before = await entries(gate)
  assert.deepEqual(await erase(gate, seq, seq + 1), { entries: 0, sections: 0, approvals: 0, kept: 0 })
  assert.equal(await entries(gate), before, 'nothing was written')
})

fileTest("callers' own entries are erased with who wrote them; the service's own are not", async (t) => {
  const { gate, owner } = await scene(t)
  const body = { eventType: 'invoice.read', data: { iban: SECRET }, userId: 'joe@example.com' }
  await gate.call(owner, 'POST', '/audit/log', body)
  await erase(gate, 0, await lengthOf(gate))
  await gate.server.store.scrub()
  for (const text of [SECRET, 'joe@example.com']) assert.equal(isOnDisk(gate, text), false, text)
  assert.equal(isOnDisk(gate, 'audit.genesis'), true)
  assert.equal((await verifySeqs(gate.server.store, LIVE, undefined)).valid, true)
})

test('an approval that is over is erased wholly, an open one is kept, and the service starts on what is left', async (t) => {
  const { gate, owner, approver, check } = await scene(t)
  const used = await check(2000)
  await gate.call(approver, 'POST', `/approvals/${used.approvalId}/approve`, { approverId: 'ann' })
  const { decisionId } = await check(2000)
  const waiting = await check(3000)
  const done = await erase(gate, 0, await lengthOf(gate))
  assert.deepEqual([done.approvals, done.kept], [1, 1])
  assert.equal((await gate.call(owner, 'GET', `/approvals/${used.approvalId}`)).status, 404)
  assert.equal((await gate.call(owner, 'GET', `/approvals/${waiting.approvalId}`)).status, 200)

  const bundle = (await gate.call(owner, 'GET', `/evidence/bundle/${decisionId}`)).body.data
  const result = verifyBundle(bundle, { trust: trustOf(gate.server.store), nowMs: Date.now() })
  assert.deepEqual([result.verdict, result.redacted], ['valid', ['request', 'approval']])

  await gate.call(approver, 'POST', `/approvals/${waiting.approvalId}/approve`, { approverId: 'ann' })
  assert.equal((await check(3000)).decision, 'allow', 'the one that was kept can be used')
  await gate.server.close()
  const store = openStore({ dir: join(gate.dir, 'data'), create: false, clock: Date.now, check: 'all' })
  assert.equal((await verifySeqs(store, LIVE, undefined)).valid, true)
  await store.close()
})

fileTest('an entry that says it erased what no command erases, erases nothing', async (t) => {
  const { gate, check, seqOf } = await scene(t)
  const seq = await seqOf((await check(5)).decisionId)
  await gate.server.close()
  const dir = join(gate.dir, 'data')
  const store = openFile(dir)
  const targets = ['decision', 'grounds'].map((section) => ({ first: seq, last: seq, section }))
  const data = { targets, reason: 'forged' }
  await commit(store, only(note(data, { chain: LIVE, type: 'audit.redaction' })))
  await store.close()
  tamper(dir, (db) => db.prepare("DELETE FROM section WHERE seq = ? AND name IN ('decision', 'grounds')").run(seq))
  const altered = openStore({ dir, create: false, clock: Date.now, check: 'nothing' })
  const { status, firstBadSeq } = await verifySeqs(altered, LIVE, undefined)
  assert.deepEqual([status, firstBadSeq], ['tampered', seq])
  await altered.close()
})

fileTest('what stands between two erased entries is covered by neither, and who takes it away is found', async (t) => {
  const { gate, seqOf } = await scene(t)
  const notes = [note(), note(), note()] as const
  await commit(gate.server.store, only(...notes))
  const between = await seqOf(notes[1].id)
  for (const seq of [between - 1, between + 1]) await erase(gate, seq, seq + 1)
  await gate.server.close()
  const dir = join(gate.dir, 'data')
  const taken = "DELETE FROM section WHERE chain = ? AND seq = ? AND name = 'data'"
  tamper(dir, (db) => assert.equal(changesBy(db, taken, LIVE, between), 1))
  const altered = openStore({ dir, create: false, clock: Date.now, check: 'nothing' })
  const { status, firstBadSeq } = await verifySeqs(altered, LIVE, undefined)
  assert.deepEqual([status, firstBadSeq], ['tampered', between])
  await altered.close()
})

test('a verification is not misled by an erasure that comes after any of its reads of erasures', async (t) => {
  for (let read = 1; read <= 8; read += 1) {
    const { makeVerifier, after, wasInterrupted } = interrupted()
    const store = openStore({ dir: temporaryFolder(), create: true, clock: Date.now, makeVerifier })
    t.after(() => store.close())
    await commit(store, enrolment())
    await commit(store, { guards: [], writes: [], entries: Array.from({ length: 20 }, (_, n) => note({ n })) })
    const deps = { store, clock: Date.now, newId: idMaker(Date.now, randomPool()) }
    after(read, () => redact(deps, HOST, { chain: LIVE, first: 5, end: 15, reason: REASON }))
    const { valid, fault, redactedEntries } = await verifySeqs(store, LIVE, undefined)
    assert.deepEqual(
      { valid, fault, erased: redactedEntries > 0 },
      { valid: true, fault: null, erased: wasInterrupted() },
    )
  }
})
