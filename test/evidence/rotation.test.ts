import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { eventEntry } from '../../src/actions/deps.ts'
import { exportBundle } from '../../src/actions/evidence/evidence.ts'
import { revokeSigningKey, rotateLogKey } from '../../src/actions/evidence/signing-key-changes.ts'
import { idOf, type KeyFile, keyInUse, openKeyring, WrongSigningKey } from '../../src/actions/evidence/signing-keys.ts'
import { trustOf } from '../../src/actions/evidence/trust.ts'
import { SERVICE } from '../../src/audit/draft.ts'
import { GateError } from '../../src/base/errors.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { publicKeyOf } from '../../src/evidence/signature.ts'
import type { LogKey } from '../../src/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { sealKeysAt, signingKeyFile } from '../../src/files/signing-key.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import type { SealKeys } from '../../src/store/store.ts'
import { fileTest, startGate, temporaryFolder } from '../helpers.ts'
import { until } from '../until.ts'
import { archive, notOk, verifyOverHttp } from './bundles.ts'
import { assertOneHistory, signerOf } from './signed.ts'

const verdict = (bundle: Bundle, logKeys: readonly LogKey[]): string =>
  verifyBundle(bundle, { trust: { logKeys, revoked: new Map() }, nowMs: Date.now() }).verdict
const HOST = { kind: 'host', id: 'host:0' } as const
const inUse = ({ name, publicKey }: LogKey): LogKey => ({ name, publicKey, until: null })

type World = Awaited<ReturnType<typeof archive>>
const untilFollowed = ({ gate }: World, publicKey: string | undefined) =>
  until('the key is taken in', async () => keyInUse(gate.server.store)?.publicKey === publicKey)

test('log keys that follow one another while the service runs, decides and exports: all evidence stays good', async (t) => {
  const world = await archive()
  const beside = await signerOf(t, world.gate.dir)
  const bundles = [await world.bundleOf(await world.decide(1))]
  let running = true
  const exporting = (async () => {
    for (let n = 0; running; n += 1) {
      bundles.push(await world.bundleOf(await world.decide(n % 900)))
      await sleep(20)
    }
  })()
  for (let turn = 0; turn < 8; turn += 1) {
    await Promise.all([
      rotateLogKey(beside, beside.keyFile, SERVICE),
      // On a busy machine the service is first each time.
      beside.checkpoints.signAll().catch((error: unknown) => {
        if (!(error instanceof GateError && error.code === 'overloaded')) assert.match(String(error), /rotated/)
      }),
    ])
    await sleep(Math.random() * 400)
    const { length } = bundles
    await until('some are exported', () => bundles.length > length + 1)
  }
  running = false
  await exporting
  await untilFollowed(world, keyInUse(beside.store)?.publicKey)
  bundles.push(await world.bundleOf(await world.decide(2)), await world.bundleOf(bundles[0]?.decision.id ?? ''))

  const { logKeys } = trustOf(beside.store)
  assert.equal(logKeys.length, 9)
  const newest = logKeys.find(({ until: end }) => end === null)
  const [pinned] = world.trust.logKeys
  assert.ok(newest !== undefined && pinned !== undefined)
  const made = new Set(bundles.map(({ proof }) => proof.certificate.signedBy))
  assert.ok(made.size > 3, `bundles under ${made.size} keys`)
  const every = Math.ceil(bundles.length / 12)
  for (const bundle of [...bundles.filter((_, i) => i % every === 0), ...bundles.slice(-2)]) {
    // A reader who pinned a log key made after the export finds the earlier ones in the trust file alone.
    assert.equal(verdict(bundle, [inUse(pinned)]), 'valid')
    assert.equal(verdict(bundle, logKeys), 'valid')
    assert.equal((await verifyOverHttp(world.gate, world.owner, bundle)).verdict, 'valid')
  }
  for (const bundle of bundles.slice(-2)) assert.equal(verdict(bundle, [newest]), 'valid')
  await assertOneHistory(beside.store)
  assert.deepEqual(beside.faults, [])
})

test('a service that lacks the rotated key writes nothing, says which one it lacks, and goes on once it is there', async (t) => {
  const { gate, owner } = await archive()
  const { store } = gate.server
  const beside = await signerOf(t, gate.dir)
  const inPlace = `${gate.dir}/data/signing-key.pem`
  const elsewhere = join(temporaryFolder(), 'signing-key.pem')
  copyFileSync(inPlace, elsewhere)
  const { to } = await rotateLogKey(beside, signingKeyFile(elsewhere), SERVICE)
  const lacks = `The log key was rotated to ${to.id}, and its file is not in place here yet.`
  await until('it says so', async () => store.altered().some(({ message }) => message === lacks))
  // The ends of all chains are compared, and signed, each second meanwhile.
  await sleep(1500)
  const { details } = (await gate.call(owner, 'GET', '/readyz')).body
  const reasons: string[] = details.map(({ message }: { message: string }) => message)
  assert.deepEqual(
    reasons.filter((reason) => !/cannot be written since/.test(reason)),
    [lacks],
  )
  const lengths = async () => store.lengths(await store.chains())
  const before = await lengths()
  const check = () =>
    gate.call(owner, 'POST', '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context: { amount: 1 } })
  const { status, body } = await check()
  assert.deepEqual([status, body.error], [503, 'audit_unavailable'])
  assert.deepEqual(await lengths(), before)
  copyFileSync(elsewhere, inPlace)
  await until('it goes on', async () => (await check()).status === 200)
  assert.deepEqual([store.altered(), await store.unsealed()], [[], []])
})

fileTest('a rotation is taken in as a whole, whenever the new key comes into its place', async (t) => {
  const { gate } = await archive()
  await gate.server.close()
  const beside = await signerOf(t, gate.dir)
  const atHand = sealKeysAt(`${gate.dir}/data/signing-key.pem`)
  let absent = 0
  let rotated: string | undefined
  const sealKeys: SealKeys = (id) => {
    if (id === rotated && absent > 0) absent -= 1
    else return atHand(id)
    return undefined
  }
  const late = openStore({ create: false, dir: `${gate.dir}/data`, clock: Date.now, sealKeys })
  t.after(() => late.close())
  for (let times = 0; times < 5; times += 1) {
    const { to } = await rotateLogKey(beside, beside.keyFile, SERVICE)
    ;[rotated, absent] = [to.id, times]
    const commits = Array.from({ length: 5 }, async () => {
      await late.refresh()
      const note = eventEntry(
        { store: late, clock: Date.now, newId: beside.newId },
        '_system',
        'audit.verified',
        {},
        SERVICE,
      )
      await late.commit({ guards: [], writes: [], entries: [note] }).catch(() => undefined)
    })
    for (const commit of commits) await commit
    await beside.store.refresh()
    await late.refresh()
    assert.deepEqual([late.altered(), await late.unsealed()], [[], []], `absent ${times} times`)
  }
})

test('a store that has not read a rotation yet takes no chain for altered', async (t) => {
  const { gate } = await archive()
  const [one, other] = [await signerOf(t, gate.dir), await signerOf(t, gate.dir)]
  await rotateLogKey(one, one.keyFile, HOST)
  assert.ok((await other.store.sealedHead('_system')) !== undefined)
  await rotateLogKey(one, one.keyFile, HOST)
  assert.deepEqual(await other.store.unsealed(), [])
  await rotateLogKey(one, one.keyFile, HOST)
  await one.checkpoints.signAll()
  const { valid, fault, sealed } = await verifySeqs(other.store, '_system', undefined)
  assert.deepEqual({ valid, fault, sealed }, { valid: true, fault: null, sealed: true })
})

test('a bundle has the rotation to the key that signed its checkpoint, read or not', async (t) => {
  const { gate, decide, verify } = await archive()
  const [one, other] = [await signerOf(t, gate.dir), await signerOf(t, gate.dir)]
  await other.keyring.bundleKey()
  const id = await decide(1)
  await one.store.refresh()
  await rotateLogKey(one, one.keyFile, HOST)
  await one.checkpoints.signAll()
  const { verdict, reasons } = verify(await exportBundle(other, 'acme/live', id))
  assert.deepEqual({ verdict, reasons }, { verdict: 'valid', reasons: [] })
})

test('once a log key was rotated, its certificates are no longer used: it may be revoked', async (t) => {
  const world = await archive()
  const old = await world.bundleOf(await world.decide(1))
  const beside = await signerOf(t, world.gate.dir)
  const { from, to } = await rotateLogKey(beside, beside.keyFile, SERVICE)
  await revokeSigningKey(beside, from.id, '2020-01-01T00:00:00.000Z', SERVICE)
  await untilFollowed(world, to.publicKey)
  const bundle = await world.bundleOf(await world.decide(2))
  assert.equal(bundle.proof.certificate.signedBy, to.publicKey)
  const inputs = { trust: trustOf(beside.store), nowMs: Date.now() }
  assert.deepEqual(notOk(verifyBundle(bundle, inputs)), {})
  assert.deepEqual(notOk(verifyBundle(old, inputs)), { revocation: 'unknown' })
})

test('a decision from before its log key was revoked is proved by a later checkpoint, once there is one', async (t) => {
  const world = await archive()
  const id = await world.decide(1)
  await world.bundleOf(id)
  const beside = await signerOf(t, world.gate.dir)
  const { from, to } = await rotateLogKey(beside, beside.keyFile, SERVICE)
  await revokeSigningKey(beside, from.id, '2020-01-01T00:00:00.000Z', SERVICE)
  await untilFollowed(world, to.publicKey)
  const judged = async () =>
    notOk(verifyBundle(await world.bundleOf(id), { trust: trustOf(beside.store), nowMs: Date.now() }))
  assert.deepEqual(await judged(), { revocation: 'unknown' })
  await world.bundleOf(await world.decide(2))
  assert.deepEqual(await judged(), {})
})

test('a bundle key that was revoked is used no more', async (t) => {
  const world = await archive()
  const old = await world.bundleOf(await world.decide(1))
  const beside = await signerOf(t, world.gate.dir)
  const revoked = trustOf(beside.store)
  const key = [...beside.store.state().signingKeys.values()].find(({ purpose }) => purpose === 'bundle')
  await revokeSigningKey(beside, key?.id ?? '', '2020-01-01T00:00:00.000Z', SERVICE)
  await until(
    'the revocation is taken in',
    async () => world.gate.server.store.state().signingKeys.get(key?.id ?? '')?.revokedAt !== null,
  )
  const again = await world.bundleOf(old.decision.id)
  assert.notEqual(again.signatures.service.publicKey, old.signatures.service.publicKey)
  assert.equal(revoked.revoked.size, 0)
  const inputs = { trust: trustOf(beside.store), nowMs: Date.now() }
  assert.deepEqual(
    [notOk(verifyBundle(again, inputs)), notOk(verifyBundle(old, inputs))],
    [{}, { revocation: 'unknown' }],
  )
})

class Killed extends Error {}
/** As a process that is killed before the new key lies in its place. */
const killed = (file: KeyFile): KeyFile => ({
  ...file,
  promoteNext: () => {
    throw new Killed()
  },
})

test('killed before the new key lies in its place: the running service puts it there', async (t) => {
  const world = await archive()
  const beside = await signerOf(t, world.gate.dir)
  await assert.rejects(rotateLogKey(beside, killed(beside.keyFile), SERVICE), Killed)
  const recorded = keyInUse(beside.store)
  await untilFollowed(world, recorded?.publicKey)
  const bundle = await world.bundleOf(await world.decide(1))
  assert.equal(fileKey(beside.keyFile), recorded?.publicKey)
  assert.equal(beside.keyFile.readNext(recorded?.id ?? ''), undefined)
  assert.equal(verdict(bundle, trustOf(beside.store).logKeys), 'valid')
})

test('killed before the new key lies in its place: the next start puts it there', async (t) => {
  const { gate } = await archive()
  await gate.server.close()
  const beside = await signerOf(t, gate.dir)
  await assert.rejects(rotateLogKey(beside, killed(beside.keyFile), SERVICE), Killed)
  const recorded = keyInUse(beside.store)
  assert.notEqual(fileKey(beside.keyFile), recorded?.publicKey)
  await openKeyring(beside, beside.keyFile)
  assert.equal(fileKey(beside.keyFile), recorded?.publicKey)
  assert.equal(beside.keyFile.readNext(recorded?.id ?? ''), undefined)
})

test('killed after the new key was made, before it is recorded: the old one goes on', async (t) => {
  const world = await archive()
  const beside = await signerOf(t, world.gate.dir)
  const made = publicKeyOf(beside.keyFile.createNext())
  await openKeyring(beside, beside.keyFile)
  const { signedBy } = (await world.bundleOf(await world.decide(1))).proof.certificate
  assert.deepEqual([signedBy, fileKey(beside.keyFile)], [world.trust.logKeys[0]?.publicKey, signedBy])
  const { to } = await rotateLogKey(beside, beside.keyFile, SERVICE)
  assert.notEqual(to.publicKey, made)
  assert.equal(fileKey(beside.keyFile), to.publicKey)
})

test('two rotations at once: each that is done is in the line, and the file is that of the last', async (t) => {
  const world = await archive()
  const processes = await Promise.all([1, 2, 3].map(() => signerOf(t, world.gate.dir)))
  const [first] = processes
  assert.ok(first !== undefined)
  for (let round = 0; round < 5; round += 1) {
    const ended = await Promise.allSettled(processes.map((one) => rotateLogKey(one, one.keyFile, SERVICE)))
    const failed = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    assert.ok(failed.length < processes.length)
    for (const error of failed) assert.ok(error instanceof WrongSigningKey, String(error))
    for (const { store } of processes) await store.refresh()
    await openKeyring(first, first.keyFile)
    assert.equal(fileKey(first.keyFile), keyInUse(first.store)?.publicKey)
  }
  const { keyFile, store } = await signerOf(t, world.gate.dir)
  assert.equal(fileKey(keyFile), keyInUse(store)?.publicKey)
  const pem = filesIn(world.gate.dir).filter((path) => path.includes('.pem'))
  assert.deepEqual(pem, [`${world.gate.dir}/data/signing-key.pem`])
})

test('of two processes that put the new key in its place, the later one finds it there', () => {
  const dir = temporaryFolder()
  const file = signingKeyFile(join(dir, 'signing-key.pem'))
  file.create()
  const [next, other] = [publicKeyOf(file.createNext()), publicKeyOf(file.createNext())]
  assert.notEqual(next, other)
  for (const id of [idOf(next), idOf(next)]) file.promoteNext(id)
  assert.equal(fileKey(file), next)
  file.removeNext(idOf(other))
  assert.deepEqual(filesIn(dir), [join(dir, 'signing-key.pem')])
})

fileTest(
  'two services that start at once on a new folder have one log key, and evidence of either is good',
  async (t) => {
    const dir = temporaryFolder()
    const gates = await Promise.all([startGate(t, { dir }), startGate(t, { dir })])
    const [here, there] = gates
    assert.ok(here !== undefined && there !== undefined)
    const { logKeys } = trustOf(here.server.store)
    assert.equal(logKeys.length, 1)
    assert.equal(logKeys[0]?.publicKey, fileKey(signingKeyFile(`${dir}/data/signing-key.pem`)))
    const key = await here.key()
    await until('the key is taken in', async () => (await there.call(key, 'GET', '/approvals')).status === 200)
    for (const gate of gates) {
      const asked = await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
      const exported = await gate.call(key, 'GET', `/evidence/bundle/${asked.body.data.decisionId}`)
      assert.equal(verdict(exported.body.data, logKeys), 'valid')
    }
    await assertOneHistory(here.server.store)
  },
)

test('no file has a private key, but that of the log key', async () => {
  const world = await archive()
  await world.bundleOf(await world.decide(1))
  const files = filesIn(world.gate.dir).filter((path) => holdsPrivateKey(readFileSync(path)))
  assert.deepEqual(files, [`${world.gate.dir}/data/signing-key.pem`])
  assert.equal(statSync(files[0] ?? '').mode & 0o777, 0o600)
  assert.equal(fileKey(signingKeyFile(files[0] ?? '')), world.trust.logKeys[0]?.publicKey)
})

function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** PEM, or the DER of an Ed25519 key (RFC 8410, 7), as bytes or in base64 at any offset that PKCS #8 has. */
function holdsPrivateKey(content: Buffer): boolean {
  const der = Buffer.from('302e020100300506032b657004220420', 'hex')
  return (
    content.includes('PRIVATE KEY') || content.includes(der) || content.includes(der.toString('base64').slice(0, 20))
  )
}

function fileKey(file: KeyFile): string | undefined {
  const key = file.read()
  return key && publicKeyOf(key)
}
