import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inclusionPath } from '../../src/audit/merkle.ts'
import { encodeBase64 } from '../../src/base/bytes.ts'
import type { Bundle } from '../../src/evidence/bundle.ts'
import { NO_TRUST } from '../../src/evidence/trust.ts'
import { verifyBundle } from '../../src/evidence/verify.ts'
import { archive, notOk } from './bundles.ts'
import { aPrivateKey, certified, certify, checkpointOf, pin, signBundle, underLogKey } from './forge.ts'

const { gate, decide, approved, bundleOf, verify, resign, logKey, trust } = await archive()
/** A bundle of a decision whose time is not that of the entry before, which the service may write in the same instant. */
async function decidedApart(): Promise<Bundle> {
  const made = await bundleOf(await decide(4000))
  return made.proof.entries[0]?.ts === made.decision.timestamp ? decidedApart() : made
}
const bundle = await decidedApart()
const other = await bundleOf(await decide(1))
const one = await bundleOf(await approved('payment.transfer', 5000))
const two = await bundleOf(await approved('payment.refund', 3))
const { origin } = gate.server.store
const attacker = aPrivateKey()

type Check = Record<string, 'failed' | 'unknown'>
const withProof = (base: Bundle, changes: Partial<Bundle['proof']>): Bundle => ({
  ...base,
  proof: { ...base.proof, ...changes },
})

const SIGNATURES: [name: string, change: Partial<Bundle['signatures']['service']>][] = [
  ['no algorithm of ours', { algorithm: 'none' }],
  ['the algorithm in capitals', { algorithm: 'Ed25519' }],
  ['the signature of another bundle', { signature: other.signatures.service.signature }],
  ['a signature by its own key', { signature: signBundle(bundle, attacker).signatures.service.signature }],
  ['bits that are no signature', { signature: `${'/'.repeat(85)}w==` }],
]
for (const [name, change] of SIGNATURES) {
  test(`is not signed: ${name}`, () => {
    const service = { ...bundle.signatures.service, ...change }
    const result = verify({ ...bundle, signatures: { service } })
    assert.deepEqual([result.verdict, notOk(result)], ['invalid', { signature: 'failed' }])
  })
}

test('a signature by a key of its own is not under the certificate of the service', () => {
  const result = verify(signBundle(bundle, attacker))
  assert.deepEqual([result.verdict, notOk(result)], ['invalid', { certificate: 'failed' }])
})

test('the service’s signature under another name is none, and further ones take nothing from it', () => {
  const { service } = bundle.signatures
  assert.deepEqual(notOk(verify({ ...bundle, signatures: { auditor: service } })), { form: 'failed' })
  assert.deepEqual(notOk(verify({ ...bundle, signatures: {} })), { form: 'failed' })
  assert.equal(verify({ ...bundle, signatures: { service, auditor: { anything: 1 } } }).verdict, 'valid')
})

for (const [name, keyed] of [
  ['everything', underLogKey(bundle, attacker)],
  ['the certificate', certified(bundle, attacker)],
  ['the checkpoint', withProof(bundle, { checkpoint: underLogKey(bundle, attacker).proof.checkpoint })],
] as const) {
  test(`${name} under a log key of one’s own is invalid for who pinned ours`, () => {
    assert.equal(verify(name === 'the checkpoint' ? resign(keyed) : keyed).verdict, 'invalid')
  })
}

test('everything under a log key of one’s own is of nobody for who pinned none, or one of another instance', () => {
  const forged = underLogKey(bundle, attacker)
  for (const pinned of [NO_TRUST, { ...NO_TRUST, logKeys: [pin('gate-elsewhere', logKey)] }]) {
    const result = verifyBundle(forged, { trust: pinned, nowMs: Date.now() })
    assert.deepEqual([result.valid, result.verdict], [false, 'incomplete'])
    assert.deepEqual(notOk(result), { certificate: 'unknown', checkpoint: 'unknown' })
  }
})

test('unpinned, only the key of the certificate can have signed the checkpoint', () => {
  const result = verifyBundle(certified(bundle, attacker), { trust: NO_TRUST, nowMs: Date.now() })
  assert.deepEqual([result.verdict, notOk(result).checkpoint], ['invalid', 'failed'])
})

for (const part of ['decision', 'context', 'auditChain', 'proof', 'exportedAt', 'bundleId', 'signatures'] as const) {
  test(`two good bundles with ${part} swapped are not valid`, () => {
    assert.equal(verify({ ...bundle, [part]: other[part] }).verdict, 'invalid')
    assert.equal(verify({ ...other, [part]: bundle[part] }).verdict, 'invalid')
  })
}

for (const part of ['entries', 'inclusion', 'checkpoint', 'grounds', 'openings', 'approval'] as const) {
  test(`with both private keys, two good bundles with ${part} of the proof swapped are not valid`, () => {
    assert.notDeepEqual(two.proof[part], other.proof[part])
    for (const [to, from] of [
      [two, other],
      [other, two],
    ] as const) {
      const result = verify(resign(withProof(to, { [part]: from.proof[part] })))
      assert.deepEqual([result.verdict, result.signatureValid, result.chainValid], ['invalid', true, false])
    }
  })
}

const later = (ms: number): string => new Date(Date.now() + ms).toISOString()
const { openings } = bundle.proof
const STOLEN: [name: string, forged: () => Bundle, checks: Check][] = [
  ['an empty chain', () => withProof({ ...bundle, auditChain: [] }, { entries: [] }), { form: 'failed' }],
  ['headers without their hashes', () => ({ ...bundle, auditChain: [] }), { form: 'failed' }],
  [
    'the decision’s entry alone left out',
    () =>
      withProof(
        { ...bundle, auditChain: bundle.auditChain.slice(0, 1) },
        { entries: bundle.proof.entries.slice(0, 1) },
      ),
    { openings: 'failed', inclusion: 'failed', times: 'failed' },
  ],
  ['another decision’s request', () => ({ ...bundle, context: other.context }), { openings: 'failed' }],
  [
    'a salt for another',
    () => withProof(bundle, { openings: { ...openings, risk: openings.grounds } }),
    { openings: 'failed' },
  ],
  [
    'a decision turned to allow',
    () => ({ ...bundle, decision: { ...bundle.decision, decision: 'allow' } }),
    { openings: 'failed' },
  ],
  ['an export 310 seconds ahead', () => ({ ...bundle, exportedAt: later(310_000) }), { times: 'failed' }],
  ['an export 290 seconds ahead', () => ({ ...bundle, exportedAt: later(290_000) }), {}],
  ['an export before the decision', () => ({ ...bundle, exportedAt: '2020-01-02T00:00:00.000Z' }), { times: 'failed' }],
  ['an export on no day', () => ({ ...bundle, exportedAt: '2026-02-30T00:00:00.000Z' }), { form: 'failed' }],
  ['a version that is not known', () => ({ ...bundle, version: '0.1' }), { form: 'failed' }],
  ['a version to come', () => ({ ...bundle, version: '1.1' }), { form: 'failed' }],
]
for (const [name, forged, checks] of STOLEN) {
  test(`even with both private keys: ${name}`, () => {
    const result = verify(resign(forged()))
    assert.deepEqual(notOk(result), checks)
    assert.equal(result.verdict, Object.keys(checks).length === 0 ? 'valid' : 'invalid')
  })
}

const { exportedAt } = bundle
const CERTIFICATES: [name: string, statement: Partial<Bundle['proof']['certificate']['statement']>, isGood: boolean][] =
  [
    ['from the export on', { notBefore: exportedAt }, true],
    ['up to the export', { notAfter: exportedAt }, true],
    ['from after the export on', { notBefore: later(1000) }, false],
    ['up to before the export', { notAfter: '2026-01-01T00:00:00.000Z' }, false],
    ['of another instance', { origin: 'gate-elsewhere' }, false],
    ['for another key', { publicKey: pin('', attacker).publicKey }, false],
  ]
for (const [name, statement, isGood] of CERTIFICATES) {
  test(`a certificate ${name} is ${isGood ? 'good' : 'none'}`, () => {
    assert.deepEqual(notOk(verify(certified(bundle, logKey, statement))), isGood ? {} : { certificate: 'failed' })
  })
}

test('a certificate whose time was moved is not signed', () => {
  const good = certified(bundle, logKey, {}, attacker)
  const { certificate } = good.proof
  const statement = { ...certificate.statement, notAfter: '2098-01-01T00:00:00.000Z' }
  const moved = signBundle(withProof(good, { certificate: { ...certificate, statement } }), attacker)
  assert.deepEqual(notOk(verify(moved)), { certificate: 'failed' })
})

test('a certificate for another purpose has not the form of one', () => {
  const statement = { ...bundle.proof.certificate.statement, purpose: 'log' as 'bundle' }
  const forged = withProof(bundle, { certificate: certify(statement, logKey) })
  assert.deepEqual(notOk(verify(forged)), { form: 'failed' })
})

test('a bundle that reaches back to the first entry binds the instance', async () => {
  const fresh = await gate.key({ roles: ['admin'], tenant: 'fresh' })
  const answer = await gate.call(fresh, 'POST', '/gate/check', { tenantId: 'fresh', action: 'x' })
  const early = (await gate.call(fresh, 'GET', `/evidence/bundle/${answer.body.data.decisionId}`)).body.data
  assert.equal(early.proof.entries[0].seq, 0)
  assert.equal(verify(early).verdict, 'valid')
  const moved = underLogKey({ ...early, proof: { ...early.proof, origin: 'gate-elsewhere' } }, logKey)
  const result = verifyBundle(moved, {
    trust: { ...NO_TRUST, logKeys: [pin('gate-elsewhere', logKey)] },
    nowMs: Date.now(),
  })
  assert.equal(notOk(result).segment, 'failed')
})

const entriesOfApproval = (count: number, from = two) => from.proof.approval.slice(0, count)
/** The entries of another approval, each with its place under the checkpoint of this bundle. */
async function movedInto(base: Bundle, from: Bundle): Promise<Bundle['proof']['approval']> {
  const { chain, size } = checkpointOf(base)
  const moved = from.proof.approval.map(async (entry) => {
    const hashes = await gate.server.store.treeHashes(chain, inclusionPath(entry.header.seq, size))
    return { ...entry, inclusion: hashes.map(encodeBase64) }
  })
  return Promise.all(moved)
}
const APPROVALS: [name: string, approval: () => Promise<Bundle['proof']['approval']>, why: RegExp][] = [
  ['none', async () => [], /not approved/],
  ['the last vote left out', async () => entriesOfApproval(2), /not approved/],
  ['both votes left out', async () => entriesOfApproval(1), /not approved/],
  ['the first vote left out', async () => two.proof.approval.toSpliced(1, 1), /are missing/],
  ['the request left out', async () => two.proof.approval.slice(1), /not that of a request/],
  ['the votes turned round', async () => [0, 2, 1].flatMap((i) => two.proof.approval[i] ?? []), /are missing/],
  ['the request twice', async () => [...entriesOfApproval(1), ...two.proof.approval], /not in order/],
  ['of another approval', () => movedInto(two, one), /of another approval/],
  ['with the places of another', async () => one.proof.approval, /not shown to be in the tree/],
]
for (const [name, approval, why] of APPROVALS) {
  test(`even with both private keys, not the approval that it came from: ${name}`, async () => {
    const result = verify(resign(withProof(two, { approval: await approval() })))
    assert.deepEqual([result.verdict, notOk(result)], ['invalid', { approval: 'failed' }])
    assert.match(result.reasons.join(), why)
  })
}

test('a decision that came from no approval has no entries of one', () => {
  assert.deepEqual(notOk(verify(resign(withProof(bundle, { approval: two.proof.approval })))), { approval: 'failed' })
})

const { request: _, ...unopened } = bundle.proof.openings
const { request: __, ...unopenedTwo } = two.proof.openings
const erased = (base: Bundle, proof: Partial<Bundle['proof']>): Bundle =>
  withProof({ ...base, context: { ...base.context, originalRequest: {} } }, { redacted: ['request'], ...proof })
const REDACTED: [name: string, claim: Bundle, checks: Check, redacted: string[]][] = [
  ['the request, which is left out', erased(bundle, { openings: unopened }), {}, ['request']],
  ['the request of what was approved', erased(two, { openings: unopenedTwo }), {}, ['request']],
  ['the approval', withProof(two, { approval: [], keys: [], redacted: ['approval'] }), {}, ['approval']],
  ['the request, whose salt is shown', erased(bundle, {}), { openings: 'failed' }, ['request']],
  [
    'the request, which is shown',
    withProof(bundle, { redacted: ['request'], openings: unopened }),
    { openings: 'failed' },
    ['request'],
  ],
  [
    'the request, which is shown with its salt',
    withProof(bundle, { redacted: ['request'] }),
    { openings: 'failed' },
    ['request'],
  ],
  [
    'nothing, and the request is left out',
    erased(bundle, { openings: unopened, redacted: [] }),
    { openings: 'failed' },
    [],
  ],
  ['nothing, and the salt is left out', withProof(bundle, { openings: unopened }), { openings: 'failed' }, []],
  [
    'an approval that there was not',
    withProof(bundle, { redacted: ['approval'] }),
    { approval: 'failed' },
    ['approval'],
  ],
  ['an approval that is shown', withProof(two, { redacted: ['approval'] }), { approval: 'failed' }, ['approval']],
  ['the decision itself', withProof(bundle, { redacted: ['decision'] }), { form: 'failed' }, []],
  ['the grounds', withProof(bundle, { redacted: ['grounds'] }), { form: 'failed' }, []],
]
for (const [name, claim, checks, redacted] of REDACTED) {
  test(`with both private keys, said to be erased: ${name}`, () => {
    const result = verify(resign(claim))
    assert.deepEqual([notOk(result), result.redacted], [checks, redacted])
    assert.equal(result.verdict, Object.keys(checks).length === 0 ? 'valid' : 'invalid')
  })
}

test('the bundle of which all this is made is trusted by one key', () => {
  assert.deepEqual(trust.logKeys, [pin(origin, logKey)])
})
