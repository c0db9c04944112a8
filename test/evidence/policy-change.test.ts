import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventEntry } from '../../src/actions/deps.ts'
import type { EventType } from '../../src/audit/events.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { CHANGE_EVENTS, type PolicyChange } from '../../src/evidence/policy-change.ts'
import { publicKeyOf, signStatement } from '../../src/evidence/signature.ts'
import { trustFile } from '../../src/evidence/trust.ts'
import { verifyBundleText } from '../../src/evidence/verify.ts'
import { HOST } from '../audit/histories.ts'
import { run } from '../cli/program.ts'
import { fileTest, temporaryFolder } from '../helpers.ts'
import { assertDone, assertRefused } from '../http/support.ts'
import { FULL } from '../tier.ts'
import { until } from '../until.ts'
import { archive, envelopeFor, notOk, verifyOverHttp } from './bundles.ts'
import { aPrivateKey, certify } from './forge.ts'
import { mutations, type Value } from './mutations.ts'
import { byPython, ours } from './python.ts'

const { gate, owner, logKey, trust, decide, bundleOf } = await archive()
const { store } = gate.server
const trustText = JSON.stringify(trustFile(trust))
const policyDigest = await until('the set in force is recorded', () => store.state().policies.get('acme')?.digest)
const other = `sha256:${'0'.repeat(64)}`

/** Data of the entries about a set, by their types, but for `policy.loaded`, which is there. */
const about = (digest: string): [EventType, object][] => [
  ['policy.compared', { tenantId: 'acme', from: other, to: digest }],
  ['policy.replayed', { tenantId: 'acme', policyDigest: digest, matrix: [{ from: 'allow', to: 'deny', count: 3 }] }],
  ['policy.overridden', { tenantId: 'acme', digest, reason: 'INC-311' }],
  ['policy.shadowed', { tenantId: 'acme', digest }],
  ['policy.promoted', { tenantId: 'acme', digest }],
]
const deps = { store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
for (const [type, data] of [...about(policyDigest), ...about(`sha256:${'1'.repeat(64)}`)])
  await store.commit({ guards: [], writes: [], entries: [eventEntry(deps, 'acme/live', type, data, HOST)] })

const path = (digest: string): string => `/evidence/policy-change/${digest}`
const exported = await gate.call(owner, 'GET', path(policyDigest))
assertDone(exported)
const change: PolicyChange = exported.body.data
const bundle = await bundleOf(await decide(1))

const verify = (value: unknown) => verifyBundleText(JSON.stringify(value), { trust, nowMs: Date.now() })
const bundleKey = aPrivateKey()

/** Signs as a thief of the log key would: under a bundle key of their own. */
function resign({ signatures: _, ...change }: PolicyChange): PolicyChange {
  const publicKey = publicKeyOf(bundleKey)
  const statement = {
    ...{ origin: store.origin, purpose: 'bundle' as const, publicKey },
    ...{ notBefore: '2020-01-01T00:00:00.000Z', notAfter: '2099-01-01T00:00:00.000Z' },
  }
  const unsigned = { ...change, proof: { ...change.proof, certificate: certify(statement, logKey) } }
  const signature = signStatement('change', unsigned, bundleKey)
  return { ...unsigned, signatures: { service: { algorithm: 'ed25519', publicKey, signature } } }
}

const all = [...mutations(change as unknown as Value)].filter(
  ({ value }) => canonicalJson(value) !== canonicalJson(change),
)
const changed = FULL ? all : all.filter((_, i) => i % 5 === 0)

test('it has the entries about the set in their order, each kind once, and verifies offline', () => {
  assert.deepEqual(change.entries.map(({ header }) => header.type).sort(), [...CHANGE_EVENTS].sort())
  assert.deepEqual([change.policyDigest, change.tenantId], [policyDigest, 'acme'])
  assert.deepEqual(change.entries.find(({ header }) => header.type === 'policy.overridden')?.actor.value, HOST)
  const { verdict, assurance, reasons } = verify(change)
  assert.deepEqual([verdict, assurance, reasons], ['valid', 'self-asserted', []])
  assert.deepEqual(notOk(verify(resign(change))), {})
})

test('no change of it is valid, and none throws', () => {
  assert.ok(all.length > 500, String(all.length))
  for (const { name, value } of changed) {
    const { valid, verdict, signatureValid } = verify(value)
    assert.deepEqual([valid, verdict, signatureValid], [false, 'invalid', false], name)
  }
})

/** Members that no chain commits to; and an entry can be left out. */
const NOT_COMMITTED =
  /^\/(bundleId|exportedAt|leftOut|signatures|proof\/certificate)\b|^ without signatures$|^\/proof without certificate$|^\/entries without /

test('even with both private keys, nothing that the chain commits to can be changed', () => {
  let tried = 0
  for (const { name, value } of changed) {
    const { proof } = Object(value) as Partial<PolicyChange>
    if (NOT_COMMITTED.test(name) || typeof proof !== 'object' || proof === null) continue
    const { valid, chainValid } = verify(resign(value as unknown as PolicyChange))
    assert.deepEqual([valid, chainValid], [false, false], name)
    tried += 1
  }
  assert.ok(tried > (FULL ? 400 : 80), String(tried))
})

const [first, second] = change.entries
assert.ok(first && second)
const FORGED: [name: string, change: () => unknown, failed: readonly string[]][] = [
  ['another set', () => resign({ ...change, policyDigest: other }), ['openings']],
  ['another tenant', () => resign({ ...change, tenantId: 'beta' }), ['checkpoint', 'segment']],
  ['entries in another order', () => resign({ ...change, entries: change.entries.toReversed() }), ['segment']],
  ['an entry twice', () => resign({ ...change, entries: [first, first] }), ['segment']],
  ['no entry', () => resign({ ...change, entries: [] }), ['form']],
  ['another actor', () => resign({ ...change, entries: [{ ...first, actor: second.actor }] }), ['openings']],
  ['the signature of a bundle', () => ({ ...change, signatures: bundle.signatures }), []],
  ['an envelope', () => ({ ...envelopeFor(change as unknown as Bundle) }), ['form']],
  ['another kind', () => resign({ ...change, kind: 'policy' as 'policy-change' }), ['form']],
  ['a bundle with a kind', () => ({ ...bundle, kind: 'policy-change' }), ['form']],
]
for (const [name, forged, failed] of FORGED)
  test(`refused with both private keys: ${name}`, () => {
    const result = verify(forged())
    assert.equal(result.verdict, 'invalid')
    for (const check of failed) assert.equal(notOk(result)[check], 'failed', JSON.stringify(result.reasons))
  })

test('the verifier in Python says the same of it, of changed ones, and of those signed anew', async () => {
  const some = changed.filter((_, i) => i % 3 === 0).map(({ value }) => value)
  const signed = some.filter((value) => typeof Object(Object(value).proof).origin === 'string')
  const values = [
    change,
    resign(change),
    ...some,
    ...signed.map((value) => resign(value as unknown as PolicyChange)),
    ...FORGED.map(([, forged]) => forged()),
  ]
  const now = new Date().toISOString()
  const cases = values.map((value) => ({ evidence: JSON.stringify(value), trust: trustText, now }))
  const theirs = await byPython(cases)
  assert.equal(theirs.length, cases.length)
  for (const [i, { evidence }] of cases.entries())
    assert.deepEqual(theirs[i], ours(verifyBundleText(evidence, { trust, nowMs: Date.parse(now) })), evidence)
})

test('the entry that admitted a set is shown, and others are counted, however many there are', async () => {
  // The tests above let nothing else run: connections that are over must be seen to be, before one is used again.
  await sleep(200)
  const digest = `sha256:${'2'.repeat(64)}`
  const replayed = () =>
    eventEntry(deps, 'acme/live', 'policy.replayed', { tenantId: 'acme', policyDigest: digest }, HOST)
  const admitting = replayed()
  const loaded = { tenantId: 'acme', changes: { digest }, admittedBy: admitting.id }
  const promoted = eventEntry(deps, 'acme/live', 'policy.promoted', { ...loaded, digest }, HOST)
  await store.commit({ guards: [], writes: [], entries: [admitting, promoted] })
  const { body } = await gate.call(owner, 'GET', path(digest))
  assert.deepEqual([body.data.entries.length, body.data.leftOut], [2, 0])
  await store.commit({ guards: [], writes: [], entries: Array.from({ length: 600 }, replayed) })
  const many: PolicyChange = (await gate.call(owner, 'GET', path(digest))).body.data
  assert.equal(many.entries[0]?.header.id, admitting.id)
  assert.equal(many.entries.length + many.leftOut, 602)
  assert.deepEqual([verify(many).verdict, (await verifyOverHttp(gate, owner, many)).valid], ['valid', true])
})

test('the service verifies it against its own trail', async () => {
  assert.deepEqual((await verifyOverHttp(gate, owner, change)).reasons, [])
  const { headersFrom } = store
  // A trail that was rewritten since.
  store.headersFrom = async (...range) => (await headersFrom(...range)).map((text) => text.replace('policy.', 'x.'))
  const { valid, reasons } = await verifyOverHttp(gate, owner, change)
  Object.assign(store, { headersFrom })
  assert.deepEqual([valid, reasons], [false, ['The audit chain here holds other entries.']])
})

test('refused: a set that the trail does not tell of, another tenant, a text that is not a digest, a test key', async () => {
  const beta = await gate.key({ tenant: 'beta' })
  assertRefused(await gate.call(owner, 'GET', path(other)), 'not_found')
  assertRefused(await gate.call(beta, 'GET', path(policyDigest)), 'not_found')
  assertRefused(await gate.call(owner, 'GET', path('x')), 'not_found')
  assertRefused(await gate.call(await gate.key({ environment: 'test' }), 'GET', path(policyDigest)), 'forbidden')
})

fileTest('the command exports it, and the one that verifies bundles verifies it', async () => {
  const folder = temporaryFolder()
  const [file, pins] = [join(folder, 'change.json'), join(folder, 'trust.json')]
  writeFileSync(pins, trustText)
  const at = ['--tenant', 'acme', '--data', join(gate.dir, 'data')]
  const done = await run(['evidence', 'policy-change', policyDigest, ...at, '--out', file])
  assert.deepEqual([done.code, done.stdout], [0, `The entries about the set are in ${file}.\n`], done.stderr)
  const verified = await run(['evidence', 'verify', file, '--trust', pins])
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, /\nVALID /)
  const refused = await run(['evidence', 'policy-change', 'abc', ...at])
  assert.deepEqual([refused.code, /abc is not a digest/.test(refused.stderr)], [2, true])
  assert.equal((await run(['evidence', 'policy-change', other, ...at])).code, 3)
})
