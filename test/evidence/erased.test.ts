import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redact } from '../../src/actions/audit/redact.ts'
import type { RedactionTarget } from '../../src/audit/redaction.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Bundle, Redactable } from '../../src/evidence/bundle.ts'
import { randomPool } from '../../src/store/random-pool.ts'
import { assertRefused } from '../http/support.ts'
import { archive, notOk } from './bundles.ts'

const { gate, owner, decide, approved, bundleOf, verify, resign } = await archive()
const { store } = gate.server
const deps = { store, clock: Date.now, newId: idMaker(Date.now, randomPool()) }
const HOST = { kind: 'host', id: 'host:0' } as const
const chain = 'acme/live'

const overHttp = async (bundle: Bundle) => {
  const result = (await gate.call(owner, 'POST', '/evidence/verify', { bundle })).body.data
  return { verdict: result.verdict, notOk: notOk(result), redacted: result.redacted, erasedSince: result.erasedSince }
}
const VALID = { verdict: 'valid', notOk: {}, redacted: [], erasedSince: [] }
const seqOf = ({ proof }: Bundle): number => proof.entries.at(-1)?.seq ?? assert.fail('no entries')

/** Returns the bundle with this part left out and named as redacted. */
function withheld(bundle: Bundle, name: Redactable): Bundle {
  const { [name as 'request']: _, ...openings } = bundle.proof.openings
  const { originalRequest, riskAssessment } = bundle.context
  return {
    ...bundle,
    context: {
      originalRequest: name === 'request' ? {} : originalRequest,
      riskAssessment: name === 'risk' ? {} : riskAssessment,
    },
    proof: {
      ...bundle.proof,
      openings,
      approval: name === 'approval' ? [] : bundle.proof.approval,
      keys: name === 'approval' || name === 'keys' ? [] : bundle.proof.keys,
      redacted: [name],
    },
  }
}

test('what the trail still has is not erased, whoever signs that it is', async () => {
  const bundle = await bundleOf(await approved('payment.refund', 11))
  assert.deepEqual(await overHttp(bundle), VALID)
  for (const [name, check] of [
    ['request', 'openings'],
    ['risk', 'openings'],
    ['approval', 'approval'],
    ['keys', 'approval'],
  ] as const) {
    const forged = resign(withheld(bundle, name))
    assert.equal(verify(forged).verdict, 'valid', 'offline, nobody can tell')
    assert.deepEqual(await overHttp(forged), {
      verdict: 'invalid',
      notOk: { [check]: 'failed' },
      redacted: [name],
      erasedSince: [],
    })
  }
})

test('a bundle from before an erasure is valid, and what was erased since is told', async () => {
  const before = await bundleOf(await decide(12))
  const { chain } = before.proof.entries.at(-1) ?? assert.fail('no entries')
  await redact(deps, HOST, { chain, first: seqOf(before), end: seqOf(before) + 1, reason: 'asked for' })
  assert.deepEqual(await overHttp(before), { ...VALID, erasedSince: ['request'] })
  const after = await bundleOf(before.decision.id)
  assert.deepEqual(await overHttp(after), { ...VALID, redacted: ['request'] })
  assert.deepEqual(await overHttp(resign(withheld(before, 'risk'))), {
    verdict: 'invalid',
    notOk: { openings: 'failed' },
    redacted: ['risk'],
    erasedSince: [],
  })
})

/** Erases sections, and puts on record that these were. */
async function erase(targets: RedactionTarget[]): Promise<void> {
  const json = canonicalJson({ targets, reason: 'asked for' })
  await store.commit({
    guards: [],
    writes: [{ kind: 'erase', chain, targets, approvals: [] }],
    entries: [
      { kind: 'event', id: deps.newId('entry'), chain, type: 'audit.redaction', data: JSON.parse(json), actor: HOST },
    ],
  })
}

for (const [name, which] of [
  ['the request', 0],
  ['the last vote', -1],
] as const) {
  test(`of an approval of which one entry was erased, ${name}, nothing is shown, and the bundle says so`, async () => {
    const before = await bundleOf(await approved('payment.refund', 13 + which))
    const seq = before.proof.approval.at(which)?.header.seq ?? assert.fail()
    await erase([{ first: seq, last: seq, section: 'data' }])
    const bundle = await bundleOf(before.decision.id)
    assert.deepEqual([bundle.proof.redacted, bundle.proof.approval], [['approval'], []])
    assert.equal(verify(bundle).verdict, 'valid')
    assert.deepEqual(await overHttp(bundle), { ...VALID, redacted: ['approval'] })
    assert.deepEqual(await overHttp(before), { ...VALID, erasedSince: ['approval'] })
  })
}

test('of an approval of which an entry is missing that no command erased, there is no bundle', async () => {
  const world = await archive()
  const before = await world.bundleOf(await world.approved('payment.refund', 15))
  const seq = before.proof.approval[1]?.header.seq ?? assert.fail()
  const targets = [{ first: seq, last: seq, section: 'data' }]
  const writes = [{ kind: 'erase', chain, targets, approvals: [] } as const]
  await world.gate.server.store.commit({ guards: [], writes, entries: [] })
  const path = `/evidence/bundle/${before.decision.id}`
  assertRefused(await world.gate.call(world.owner, 'GET', path), 'audit_unavailable')
  assertRefused(await world.gate.call(world.owner, 'POST', '/evidence/verify', { bundle: before }), 'audit_unavailable')
})
