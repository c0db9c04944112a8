import assert from 'node:assert/strict'
import { test } from 'node:test'
import { genesisHead } from '../../src/audit/chain.ts'
import { SALT_BYTES, seal } from '../../src/audit/entry.ts'
import { GrowingTree, leafHash } from '../../src/audit/merkle.ts'
import { headOf } from '../../src/audit/verify.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { parseDigest } from '../../src/base/digest.ts'
import { type Bundle, buildBundle } from '../../src/evidence/bundle.ts'
import type { Envelope } from '../../src/evidence/envelope.ts'
import { assertRefused, entries } from '../http/support.ts'
import { archive, notOk, verifyOverHttp } from './bundles.ts'
import { certified, checkpointOf, signCheckpoint, treeAround } from './forge.ts'

const { gate, owner, ann, ask, decide, approved, bundleOf, verify, resign, logKey } = await archive()
const { origin } = gate.server.store
const [allow, hold, deny] = [await decide(1), await decide(4000), await decide(200_000)]
const bundle = await bundleOf(hold)

const rejected = async (): Promise<string> => {
  const { approvalId } = await ask('payment.transfer', 6000)
  await gate.call(ann, 'POST', `/approvals/${approvalId}/reject`, { approverId: 'ann', reason: 'no' })
  return (await ask('payment.transfer', 6000)).decisionId
}
const DECISIONS: [name: string, id: () => Promise<string>, decision: string, decidedBy: string, approval: number][] = [
  ['allow', async () => allow, 'allow', 'allow_rule', 0],
  ['hold', async () => hold, 'require_approval', 'hold_rule', 0],
  ['deny', async () => deny, 'deny', 'deny_rule', 0],
  ['deny after a rejection', rejected, 'deny', 'approval', 0],
  ['allow after one vote', () => approved('payment.transfer', 7000), 'allow', 'approval', 2],
  ['allow after two votes', () => approved('payment.refund', 7), 'allow', 'approval', 3],
]

for (const [name, idOf, decision, decidedBy, approval] of DECISIONS) {
  test(`the bundle of a decision proves it, offline and over HTTP: ${name}`, async () => {
    const id = await idOf()
    const exported = await bundleOf(id)
    assert.deepEqual([exported.decision.id, exported.decision.decision], [id, decision])
    assert.deepEqual([exported.proof.grounds.decidedBy, exported.proof.approval.length], [decidedBy, approval])
    assert.equal(exported.proof.entries.at(-1)?.id, id.replace('dec_', 'aud_'))
    for (const result of [verify(exported), await verifyOverHttp(gate, owner, exported)])
      assert.deepEqual([result.verdict, result.valid, result.reasons], ['valid', true, []])
  })
}

test('the id of the entry leads to the same decision, and exporting writes nothing into its chain', async () => {
  const before = await entries(gate)
  const byEntry = await bundleOf(hold.replace('dec_', 'aud_'))
  assert.deepEqual(byEntry.decision, bundle.decision)
  assert.deepEqual(byEntry.proof, bundle.proof)
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
  ] as const) {
    for (const query of ['', '?format=dsse'])
      assertRefused(await gate.call(key, 'GET', `/evidence/bundle/${id}${query}`), 'not_found')
  }
})

test('a key of another tenant may verify, and a bundle of another tenant is verified', async () => {
  const strangers = await gate.key({ tenant: 'other', roles: ['agent'] })
  assert.equal((await verifyOverHttp(gate, strangers, bundle)).valid, true)
})

test('another instance cannot tell who made the bundles of this one', async () => {
  const elsewhere = await archive()
  const result = await verifyOverHttp(elsewhere.gate, elsewhere.owner, bundle)
  assert.deepEqual([result.valid, result.verdict], [false, 'incomplete'])
  assert.deepEqual(notOk(result), { certificate: 'unknown', checkpoint: 'unknown' })
})

const envelope = async (id: string): Promise<Envelope> =>
  (await gate.call(owner, 'GET', `/evidence/bundle/${id}?format=dsse`)).body.data

test('the envelope of a decision proves it too, over HTTP', async () => {
  const exported = await envelope(hold)
  assert.deepEqual(Object.keys(exported).sort(), ['payload', 'payloadType', 'signatures'])
  const result = await verifyOverHttp(gate, owner, exported)
  assert.deepEqual([result.verdict, result.reasons], ['valid', []])
})

test('another format is refused', async () => {
  assertRefused(await gate.call(owner, 'GET', `/evidence/bundle/${hold}?format=jwt`), 'invalid_request')
})

test('of exports that come at once, all are by one bundle key', async (t) => {
  const fresh = await archive()
  t.after(() => fresh.gate.server.close())
  const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => fresh.decide(i)))
  const exported = await Promise.all(ids.map(fresh.bundleOf))
  assert.equal(new Set(exported.map(({ signatures }) => signatures.service.publicKey)).size, 1)
  for (const one of exported) assert.equal(fresh.verify(one).verdict, 'valid')
})

/** A whole history of its own, well made and signed with the stolen log key. */
function forgedHistory({
  decision = {},
  id = hold.replace('dec_', 'aud_'),
  at = origin,
  genesisType = 'audit.genesis',
} = {}): Bundle {
  const salts = new Uint8Array(SALT_BYTES * 4).fill(1)
  const ts = bundle.decision.timestamp
  const chain = 'acme/live'
  const first = { id: 'aud_0', chain, type: genesisType, sections: [] }
  const genesis = seal(genesisHead(at, chain), first, ts, salts)
  const shown = { ...bundle.decision, decision: 'deny', ...decision }
  const sections = [
    { name: 'decision', json: canonicalJson(shown) },
    { name: 'request', json: canonicalJson(bundle.context.originalRequest) },
    { name: 'risk', json: canonicalJson(bundle.context.riskAssessment) },
    { name: 'grounds', json: canonicalJson(bundle.proof.grounds) },
  ]
  const decided = seal(headOf(genesis), { id, chain, type: 'gate.decision', sections }, ts, salts)
  const leaves = [genesis, decided].map(({ hash }) => leafHash(parseDigest(hash)))
  const tree = new GrowingTree()
  for (const leaf of leaves) tree.append(leaf)
  const built = buildBundle({
    bundleId: 'bun_1',
    origin: at,
    exportedAt: ts,
    decided: { entry: decided, inclusion: leaves.slice(0, 1) },
    previous: genesis,
    approval: [],
    keys: [],
    beside: [],
    checkpoint: signCheckpoint({ origin: at, chain, size: 2, root: tree.root() }, logKey),
    certificate: bundle.proof.certificate,
    rotations: [],
  })
  return certified({ ...built, signatures: bundle.signatures }, logKey)
}

test('a whole history of its own, well made and signed with the stolen log key, is not the one stored here', async () => {
  const forged = forgedHistory()
  assert.equal(verify(forged).verdict, 'valid', 'offline, only an anchor could tell')
  const result = await verifyOverHttp(gate, owner, forged)
  assert.deepEqual([result.verdict, result.signatureValid, result.chainValid], ['invalid', true, false])
})

for (const [name, more, why] of [
  ['of other entries beside this one', 0, 'The audit chain here has another tree than the checkpoint says.'],
  ['of more entries than there are', 1_000_000, 'The audit chain here is shorter than the checkpoint says.'],
] as const) {
  test(`a checkpoint ${name}, signed with the stolen log key, is not of the chain stored here`, async () => {
    const { chain, size } = checkpointOf(bundle)
    const { root, inclusion } = treeAround(bundle, size + more)
    const checkpoint = signCheckpoint({ origin, chain, size: size + more, root }, logKey)
    const forged = resign({ ...bundle, proof: { ...bundle.proof, inclusion, checkpoint } })
    assert.equal(verify(forged).verdict, 'valid', 'offline, only an anchor could tell')
    const result = await verifyOverHttp(gate, owner, forged)
    assert.deepEqual([result.verdict, result.reasons, notOk(result)], ['invalid', [why], { inclusion: 'failed' }])
  })
}

test('a history of another instance under a key that is trusted here is attributed to nobody', async () => {
  const result = await verifyOverHttp(gate, owner, forgedHistory({ at: 'gate-elsewhere' }))
  assert.deepEqual([result.verdict, notOk(result)], ['incomplete', { certificate: 'unknown', checkpoint: 'unknown' }])
})

test('entry 0 of a chain is its genesis, and of no other type', () => {
  const result = verify(forgedHistory({ genesisType: 'custom.first' }))
  assert.deepEqual([notOk(result), result.reasons], [{ segment: 'failed' }, ['Entry 0 is of the type custom.first.']])
})

test('an entry of another id or time than its decision is not valid, well made and signed as it may be', () => {
  assert.deepEqual(verify(forgedHistory({ id: allow.replace('dec_', 'aud_') })).reasons, [
    'The entry is that of another decision.',
  ])
  assert.deepEqual(verify(forgedHistory({ decision: { timestamp: '2020-01-01T00:00:00.000Z' } })).reasons, [
    "The decision's time is not that of its entry.",
  ])
})

test('the audit chain is asked about valid bundles only', async () => {
  const { store } = gate.server
  const { headersFrom } = store
  const asked: [seq: number, limit: number][] = []
  store.headersFrom = (chain, ...range) => {
    asked.push(range)
    return headersFrom(chain, ...range)
  }
  const { entries } = bundle.proof
  // Checkpoints are made meanwhile, which ask for other ranges.
  const isAsked = (): boolean => asked.some(([seq, limit]) => seq === entries[0]?.seq && limit === entries.length)
  await verifyOverHttp(gate, owner, { ...bundle, bundleId: 'bun_2' })
  assert.equal(isAsked(), false)
  assert.equal((await verifyOverHttp(gate, owner, bundle)).valid, true)
  assert.equal(isAsked(), true)
  Object.assign(store, { headersFrom })
})
