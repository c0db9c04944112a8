import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { genesisHead, SALT_BYTES, seal } from '../../src/audit/chain.ts'
import { headOf } from '../../src/audit/verify.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { buildBundle } from '../../src/evidence/bundle.ts'
import { publicKeyOf, signBundle } from '../../src/evidence/sign.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { assertRefused, entries } from '../http/support.ts'
import { archive, verifyOverHttp } from './bundles.ts'

const first = await archive()
const { gate, owner, decide, bundleOf, verify, resign, privateKey, publicKeys } = first
const ids = [await decide(1), await decide(4000), await decide(200_000)]
const [allow = '', hold = '', deny = ''] = ids
const bundle = await bundleOf(hold)
const other = await bundleOf(allow)
const ALL = { valid: true, signatureValid: true, chainValid: true, timestampValid: true }

for (const [decision, id] of [
  ['allow', allow],
  ['require_approval', hold],
  ['deny', deny],
]) {
  test(`the bundle of a decision to ${decision} proves it, offline and over HTTP`, async () => {
    const exported = await bundleOf(id ?? '')
    assert.equal(exported.decision.id, id)
    assert.equal(exported.decision.decision, decision)
    assert.equal(exported.proof.entries[exported.proof.index]?.id, id?.replace('dec_', 'aud_'))
    for (const result of [verify(exported), await verifyOverHttp(gate, owner, exported)]) {
      assert.deepEqual({ ...result, reasons: undefined }, { ...ALL, reasons: undefined })
    }
  })
}

test('the id of the entry leads to the same decision, and exporting writes nothing', async () => {
  const before = await entries(gate)
  const byEntry = await bundleOf(hold.replace('dec_', 'aud_'))
  assert.deepEqual(byEntry.decision, bundle.decision)
  assert.notEqual(byEntry.bundleId, bundle.bundleId)
  assert.equal(await entries(gate), before)
})

test('what is no decision of this tenant is not found', async () => {
  const strangers = await gate.key({ tenant: 'other' })
  const sandbox = await gate.key({ environment: 'test' })
  const note = await gate.call(owner, 'POST', '/audit/log', { eventType: 'my.note', data: {} })
  for (const [key, id] of [
    [strangers, hold],
    [sandbox, hold],
    [strangers, hold.replace('dec_', 'aud_')],
    [owner, note.body.data.id],
    [owner, note.body.data.id.replace('aud_', 'dec_')],
    [owner, hold.replace('dec_', 'bun_')],
    [owner, hold.toUpperCase()],
  ]) {
    assertRefused(await gate.call(key, 'GET', `/evidence/bundle/${id}`), 'not_found')
  }
})

test('a key of another tenant may verify, and a bundle of another tenant is verified', async () => {
  const strangers = await gate.key({ tenant: 'other', roles: ['agent'] })
  assert.equal((await verifyOverHttp(gate, strangers, bundle)).valid, true)
})

const { privateKey: forger } = generateKeyPairSync('ed25519')
const { signatures: _, ...unsigned } = bundle

test('a bundle signed with a key of its own is not valid', async () => {
  const forged = signBundle(unsigned, forger)
  assert.deepEqual({ ...verify(forged), reasons: 0 }, { ...ALL, valid: false, signatureValid: false, reasons: 0 })
  assert.equal((await verifyOverHttp(gate, owner, forged)).signatureValid, false)
  // With the pinned key pinned too, the same bundle is good: it was the key, nothing else.
  assert.equal(verifyBundle(forged, { publicKeys: [publicKeyOf(forger)], nowMs: Date.now() }).valid, true)
})

test('a signature of its own under the name of the service’s key is not valid', () => {
  const forged = signBundle(unsigned, forger)
  const service = { ...forged.signatures.service, publicKey: publicKeys[0] }
  assert.equal(verify({ ...forged, signatures: { service } }).signatureValid, false)
})

const SIGNATURES: [name: string, change: object][] = [
  ['no algorithm of ours', { algorithm: 'none' }],
  ['the algorithm in capitals', { algorithm: 'Ed25519' }],
  ['the key of another', { publicKey: publicKeyOf(forger) }],
  ['an empty signature', { signature: '' }],
  ['the signature of another bundle', { signature: other.signatures.service?.signature }],
]

for (const [name, change] of SIGNATURES) {
  test(`is not signed: ${name}`, () => {
    const service = { ...bundle.signatures.service, ...change }
    const result = verify({ ...bundle, signatures: { service } })
    assert.deepEqual([result.valid, result.signatureValid, result.chainValid], [false, false, true])
  })
}

test('the service’s signature under another name is none', () => {
  assert.equal(verify({ ...bundle, signatures: { auditor: bundle.signatures.service } }).signatureValid, false)
  assert.equal(verify({ ...bundle, signatures: {} }).signatureValid, false)
})

for (const part of ['decision', 'context', 'auditChain', 'proof', 'exportedAt', 'bundleId', 'signatures'] as const) {
  test(`two good bundles with ${part} swapped are not valid`, () => {
    assert.equal(verify({ ...bundle, [part]: other[part] }).valid, false)
    assert.equal(verify({ ...other, [part]: bundle[part] }).valid, false)
  })
}

const FORGED: [name: string, forged: () => object, fault: 'chainValid' | 'timestampValid' | 'signatureValid'][] = [
  ['an empty chain', () => ({ auditChain: [], proof: { ...bundle.proof, entries: [], index: 0 } }), 'chainValid'],
  [
    'the decision’s entry alone left out',
    () => ({
      auditChain: bundle.auditChain.slice(0, 1),
      proof: { ...bundle.proof, entries: bundle.proof.entries.slice(0, 1) },
    }),
    'chainValid',
  ],
  ['another decision’s proof', () => ({ proof: other.proof, auditChain: other.auditChain }), 'chainValid'],
  ['another decision’s request', () => ({ context: other.context }), 'chainValid'],
  ['the index of the entry before', () => ({ proof: { ...bundle.proof, index: 0 } }), 'chainValid'],
  [
    'openings swapped',
    () => ({ proof: { ...bundle.proof, openings: { ...bundle.proof.openings, risk: bundle.proof.openings.request } } }),
    'chainValid',
  ],
  ['a decision turned to allow', () => ({ decision: { ...bundle.decision, decision: 'allow' } }), 'chainValid'],
  ['an export in the future', () => ({ exportedAt: new Date(Date.now() + 400_000).toISOString() }), 'timestampValid'],
  ['an export before the decision', () => ({ exportedAt: '2020-01-01T00:00:00.000Z' }), 'timestampValid'],
  ['an export on no day', () => ({ exportedAt: '2026-02-30T00:00:00.000Z' }), 'timestampValid'],
  ['a version that is not known', () => ({ version: '9.9' }), 'signatureValid'],
]

for (const [name, forged, fault] of FORGED) {
  test(`even under the service's own signature, not ${fault}: ${name}`, () => {
    const result = verify(resign({ ...bundle, ...forged() }))
    assert.deepEqual([result.valid, result[fault]], [false, false])
  })
}

test('a bundle that reaches back to the first entry binds the instance', async () => {
  const admin = await gate.key({ roles: ['admin'], tenant: 'fresh' })
  const answer = await gate.call(admin, 'POST', '/gate/check', { tenantId: 'fresh', action: 'x' })
  const early = (await gate.call(admin, 'GET', `/evidence/bundle/${answer.body.data.decisionId}`)).body.data
  assert.equal(early.proof.entries[0].seq, 0)
  assert.equal(verify(early).valid, true)
  const moved = resign({ ...early, proof: { ...early.proof, origin: 'gate-elsewhere' } })
  assert.equal(verify(moved).chainValid, false)
})

test('another instance does not trust this one', async () => {
  const elsewhere = await archive()
  const result = await verifyOverHttp(elsewhere.gate, elsewhere.owner, bundle)
  assert.deepEqual([result.valid, result.signatureValid, result.chainValid], [false, false, true])
})

interface History {
  /** Of the decision and of its entry. */
  decision?: object
  id?: string
  origin?: string
}

/** A whole history of its own, well made and signed with the stolen key. */
function forgedHistory({
  decision = {},
  id = hold.replace('dec_', 'aud_'),
  origin = gate.server.store.origin,
}: History) {
  const salts = new Uint8Array(SALT_BYTES * 4).fill(1)
  const ts = bundle.decision.timestamp
  const chain = 'acme/live'
  const genesis = seal(
    genesisHead(origin, chain),
    { id: 'aud_0', chain, type: 'audit.genesis', sections: [] },
    ts,
    salts,
  )
  const shown = { ...bundle.decision, decision: 'allow', ...decision }
  const sections = [
    { name: 'decision', json: canonicalJson(shown) },
    { name: 'request', json: canonicalJson(bundle.context.originalRequest) },
    { name: 'risk', json: canonicalJson(bundle.context.riskAssessment) },
    { name: 'grounds', json: canonicalJson(bundle.proof.grounds) },
  ]
  const decided = seal(headOf(genesis), { id, chain, type: 'gate.decision', sections }, ts, salts)
  const built = buildBundle({ bundleId: 'bun_1', origin, exportedAt: ts, segment: [genesis, decided], entryId: id })
  assert.ok(built)
  return signBundle(built, privateKey)
}

test('a whole history of its own, well made and signed with the stolen key, is not the one stored here', async () => {
  const forged = forgedHistory({})
  assert.equal(verify(forged).valid, true, 'offline, only a witness could tell')
  const result = await verifyOverHttp(gate, owner, forged)
  assert.deepEqual([result.valid, result.signatureValid, result.chainValid], [false, true, false])
})

test('a history of another instance with a key that is trusted here is not held to the chain here', async () => {
  assert.equal((await verifyOverHttp(gate, owner, forgedHistory({ origin: 'gate-elsewhere' }))).valid, true)
})

test('an entry of another id or time than its decision is not valid, well made and signed as it may be', () => {
  assert.deepEqual(verify(forgedHistory({ id: allow.replace('dec_', 'aud_') })).reasons, [
    'The entry is that of another decision.',
  ])
  assert.deepEqual(verify(forgedHistory({ decision: { timestamp: '2020-01-01T00:00:00.000Z' } })).reasons, [
    "The decision's time is not that of its entry.",
  ])
})

test('the audit chain is asked about valid bundles only, and for headers alone', async () => {
  const { store } = gate.server
  const { headersFrom, entryAt } = store
  const asked: string[] = []
  store.headersFrom = (...range) => {
    asked.push('headers')
    return headersFrom(...range)
  }
  store.entryAt = (...place) => {
    asked.push('entry')
    return entryAt(...place)
  }
  await verifyOverHttp(gate, owner, signBundle(unsigned, forger))
  assert.deepEqual(asked, [])
  assert.equal((await verifyOverHttp(gate, owner, bundle)).valid, true)
  assert.deepEqual(asked, ['headers'])
  Object.assign(store, { headersFrom, entryAt })
})
