import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { ACME_POLICY, type Answer, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key()
const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
const get = (path: string): Promise<Answer> => gate.call(owner, 'GET', path)
const post = (path: string, body: object, key = owner): Promise<Answer> => gate.call(key, 'POST', path, body)
const PAY = {
  tenantId: 'acme',
  action: 'payment.transfer',
  context: { amount: 5000 },
  plan: { action: 'payment.transfer' },
}
const held = (await post('/gate/check', PAY)).body.data

const CHECK =
  'decision reason riskScore plan decisionId timestamp rule decidedBy retry policyDigest approvalId approvalExpiresAt validUntil factors unevaluable'
const APPROVAL =
  'id action status createdAt context plan decisionId riskScore factors reason rule requestedBy quorum votes expiresAt decidedAt digest unbound stop'
const ENTRY = 'id timestamp eventType data hash chain seq previousHash actor'
const STOPPED = 'active level scope triggeredAt triggeredBy reason switches'
const KEY =
  'id tenantId environment roles identity groups name createdAt createdBy expiresAt revokedAt rotatedFrom rotatedBy replacedBy'

/** Every answer has exactly these members: no more by accident. */
const ANSWERS: [name: string, send: () => Promise<Answer>, members: string, page?: boolean][] = [
  ['check', () => post('/gate/check', PAY), CHECK],
  ['risk', () => post('/gate/risk', { action: PAY.action, context: PAY.context }), 'score factors'],
  ['approvals', () => get('/approvals'), APPROVAL, true],
  ['approval', () => get(`/approvals/${held.approvalId}`), APPROVAL],
  ['approval, waiting', () => get(`/approvals/${held.approvalId}?wait=0`), APPROVAL],
  ['approve', () => post(`/approvals/${held.approvalId}/approve`, { approverId: 'ann' }, approver), APPROVAL],
  ['chain', () => get('/audit/chain'), ENTRY, true],
  ['log', () => post('/audit/log', { eventType: 'my.note', data: {} }), ENTRY],
  [
    'verify',
    () => post('/audit/verify', { startDate: '2020-01-01', endDate: '2020-01-02' }),
    'valid status entriesChecked firstEntry lastEntry fault firstBadChain firstBadSeq redactedEntries unanchoredEntries signedEntries anchoredEntries unsignedEntries sealed unlawfulEntries',
  ],
  [
    'bundle',
    () => get(`/evidence/bundle/${held.decisionId}`),
    'bundleId version decision context auditChain exportedAt proof signatures',
  ],
  [
    'verify bundle',
    () => post('/evidence/verify', { bundle: {} }),
    'valid signatureValid chainValid timestampValid verdict assurance redacted erasedSince reasons checks',
  ],
  ['status, inactive', () => get('/killswitch/status'), 'active level scope switches'],
  [
    'trigger',
    () => post('/killswitch/trigger', { level: 'L1', scope: 'x', reason: 'x', triggeredBy: 'x' }),
    `${STOPPED} covers warning persisted`,
  ],
  ['status, active', () => get('/killswitch/status'), STOPPED],
  [
    'preview',
    () => post('/killswitch/preview', { level: 'L3' }),
    'level scope covers warning approvals cancels moreApprovals allowed refusal',
  ],
  [
    'history',
    () => get('/killswitch/history'),
    'id level scope triggeredAt triggeredBy reason recoveredAt recoveredBy comment durationMs',
    true,
  ],
  ['recover', () => post('/killswitch/recover', { recoveredBy: 'x', comment: 'x' }), 'active level scope switches'],
  ['make a key', () => post('/keys', { roles: ['agent'] }), `${KEY} key`],
  ['keys', () => get('/keys'), `${KEY} lastUsedAt`],
  ['rotate a key', () => post(`/keys/${approver.id}/rotate`, {}), `${KEY} key replaces`],
  ['usage', () => get('/usage'), 'plan environment requestsPerMinute remaining statusRequestsPerMinute keys'],
  [
    'policies',
    () => get('/policies'),
    'digest mode loadedAt files rules factors domains actions current watching checkedAt faults diagnostics groupsWithoutKeys',
  ],
  ['healthz', () => get('/healthz'), 'status'],
  ['readyz', () => get('/readyz'), 'ready policySetsOutdated verified anchors'],
]

for (const [name, send, members, page = false] of ANSWERS) {
  test(`${name} answers with its members`, async () => {
    const answer = await send()
    assertDone(answer)
    const { data } = answer.body
    assert.deepEqual(
      Object.keys(answer.body).sort(),
      page ? ['data', 'page', 'requestId', 'success'] : ['data', 'requestId', 'success'],
    )
    for (const item of Array.isArray(data) ? data : [data])
      assert.deepEqual(Object.keys(item).sort(), members.split(' ').sort())
    assert.ok(!Array.isArray(data) || data.length > 0)
  })
}

test('a check tells why, how risky, and what to do', () => {
  assert.deepEqual(
    { ...held, decisionId: 0, timestamp: 0, policyDigest: 0, approvalId: 0, approvalExpiresAt: 0 },
    {
      decision: 'require_approval',
      reason: 'Large payments need a person.',
      riskScore: 15,
      plan: { action: 'payment.transfer', validated: true },
      rule: 'large',
      decidedBy: 'hold_rule',
      retry: 'after_approval',
      validUntil: null,
      factors: [{ name: 'amount', weight: 30, contribution: 15 }],
      unevaluable: [],
      decisionId: 0,
      timestamp: 0,
      policyDigest: 0,
      approvalId: 0,
      approvalExpiresAt: 0,
    },
  )
})

test('an allow is good for a minute', async () => {
  const { data } = (await post('/gate/check', { ...PAY, context: { amount: 5 } })).body
  assert.equal(data.decision, 'allow')
  assert.equal(Date.parse(data.validUntil) - Date.parse(data.timestamp), 60_000)
})

test('risk is the score of the check, and writes nothing', async () => {
  const before = await entries(gate)
  const { data } = (await post('/gate/risk', { action: PAY.action, context: PAY.context })).body
  assert.deepEqual(data, { score: 15, factors: [{ name: 'amount', weight: 30, contribution: 15 }] })
  assert.equal(await entries(gate), before)
})

test('a decision is answered with 200, a deny too', async () => {
  for (const body of [
    { ...PAY, context: { amount: 200_000 } },
    { ...PAY, context: {} },
    { ...PAY, action: 'not.known' },
  ]) {
    const answer = await post('/gate/check', body)
    assertDone(answer)
    assert.equal(answer.body.data.decision, 'deny')
  }
})

test('an agent is told no more than the policy wants', async (t) => {
  const quiet = await startGate(t, { policies: { 'acme/main.yaml': `${ACME_POLICY}explain: reason\n` } })
  const agent = await quiet.key({ roles: ['agent'] })
  const { data } = (await quiet.call(agent, 'POST', '/gate/check', PAY)).body
  assert.deepEqual([data.decision, data.rule, data.factors, data.unevaluable], ['require_approval', null, [], []])
  assert.ok(data.reason)
})

test('an agent is told no more of an earlier decision when its policies are not there any more', async (t) => {
  const quiet = await startGate(t, { policies: { 'acme/main.yaml': `${ACME_POLICY}explain: reason\n` } })
  const agent = await quiet.key({ roles: ['agent'] })
  const deny = { ...PAY, context: { amount: 200_000 } }
  const ask = (gate: typeof quiet) => gate.call(agent, 'POST', '/gate/check', deny, { 'idempotency-key': 'one' })
  const first = (await ask(quiet)).body.data
  assert.deepEqual([first.decision, first.rule, first.factors], ['deny', null, []])
  await quiet.server.close()
  const db = new Sqlite(join(quiet.dir, 'data/gate-sidecar.db'))
  db.prepare('DELETE FROM policy_text').run()
  db.close()
  const bare = await startGate(t, { dir: quiet.dir, policies: { 'acme/main.yaml': `${ACME_POLICY}nonsense: 1\n` } })
  assert.deepEqual((await ask(bare)).body.data, first)
})

test('without a policy that can be used it is not ready, and denies', async (t) => {
  const broken = await startGate(t, { policies: { 'acme/main.yaml': `${ACME_POLICY}nonsense: 1\n` } })
  const key = await broken.key()
  assertRefused(await broken.call(key, 'GET', '/readyz'), 'not_ready')
  assertDone(await broken.call(key, 'GET', '/healthz'))
  const { data } = (await broken.call(key, 'POST', '/gate/check', PAY)).body
  assert.deepEqual([data.decision, data.decidedBy, data.riskScore], ['deny', 'no_policy', 100])
  const policies = (await broken.call(key, 'GET', '/policies')).body.data
  assert.equal(policies.current, false)
  assert.equal(policies.faults.length, 1)
})

test('a connection is kept for longer than a slow disk halts the service', async () => {
  for (const answer of [await post('/gate/check', { tenantId: 'acme', action: 'email.send' }), await get('/approvals')])
    assert.equal(answer.headers.get('keep-alive'), 'timeout=75')
})
