import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Explanation } from '../../src/gate/explain.ts'
import { ACME_POLICY, fileTest, type Gate, startGate } from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused } from './support.ts'

const POLICY = `${ACME_POLICY.replace('risk:', 'timezone: Europe/Berlin\nrisk:')}
  - {id: bots, actions: ["bot.*"], effect: allow, reason: R., when: {fact: agent, operator: equal, value: bot-7}}
  - {id: hours, actions: ["hour.*"], effect: deny, reason: R., when: {fact: time.hour, operator: equal, value: 23}}
  - {id: sandbox, actions: ["env.*"], effect: allow, reason: R., when: {fact: environment, operator: equal, value: test}}
`
const OTHER = POLICY.replace('tenant: acme', 'tenant: other').replace('Payments within limits.', 'Theirs.')

const gate = await startGate({ after }, { policies: { 'acme/main.yaml': POLICY, 'other/main.yaml': OTHER } })
const agent = await gate.key({ roles: ['agent'], identity: 'bot-7' })
const nameless = await gate.key({ roles: ['agent'] })
const tester = await gate.key({ roles: ['agent', 'auditor'], environment: 'test' })
const auditor = await gate.key({ roles: ['auditor'] })
const approver = await gate.key({ roles: ['approver'], identity: 'ann' })
const operator = await gate.key({ roles: ['operator'] })
const stranger = await gate.key({ tenant: 'other', roles: ['agent', 'auditor'] })

type Key = typeof agent
const post = (key: Key, path: string, body: object, at: Gate = gate) => at.call(key, 'POST', path, body)
const check = async (key: Key, body: object, at: Gate = gate) => {
  const answer = await post(key, '/gate/check', { tenantId: key.tenant, ...body }, at)
  assertDone(answer)
  return answer.body.data
}
const payment = (amount: unknown) => ({ action: 'payment.transfer', context: { amount } })
const show = (id: string, key: Key = auditor, at: Gate = gate) => at.call(key, 'GET', `/decisions/${id}`)
const shown = async (id: string, key: Key = auditor, at: Gate = gate) => {
  const answer = await show(id, key, at)
  assertDone(answer)
  return answer.body.data
}
const decidingRule = ({ rules }: Explanation): string | null => rules.find(({ decides }) => decides)?.id ?? null

/** A new file, read by the service within seconds. */
async function replacePolicy(at: Gate, text: string, key: Key): Promise<void> {
  const digest = async () => (await at.call(key, 'GET', '/policies')).body.data.digest
  const before = await digest()
  writeFileSync(join(at.dir, 'policies/acme/main.yaml'), text)
  await until('it is in force', async () => (await digest()) !== before)
}

const KINDS: [name: string, key: Key, body: object, decidedBy: string][] = [
  ['allow', agent, payment(5), 'allow_rule'],
  ['deny', agent, payment(200_000), 'deny_rule'],
  ['hold', agent, payment(5000), 'hold_rule'],
  ['what does not fit', agent, payment('x'), 'invalid_context'],
  ['a plan of another action', agent, { ...payment(5), plan: { action: 'email.send' } }, 'invalid_context'],
  ['no rule', agent, { action: 'db.drop', context: { deep: { list: [1, null, 'x'] } } }, 'default'],
  ['the identity of the caller', agent, { action: 'bot.run' }, 'allow_rule'],
  ['the id of a key without one', nameless, { action: 'bot.run' }, 'default'],
  ['another environment', tester, { action: 'env.use' }, 'allow_rule'],
  ['live', agent, { action: 'env.use' }, 'default'],
  ['an unknown approval presented', agent, { ...payment(6000), approvalId: 'apr_x' }, 'hold_rule'],
]

for (const [name, key, body, decidedBy] of KINDS) {
  test(`GET /decisions/:id explains from the trail: ${name}`, async () => {
    const told = await check(key, body)
    assert.equal(told.decidedBy, decidedBy)
    const found = await shown(told.decisionId, key === tester ? tester : auditor)
    for (const member of ['decision', 'reason', 'rule', 'decidedBy', 'riskScore', 'factors', 'policyDigest', 'retry'])
      assert.deepEqual(found[member], told[member], member)
    assert.deepEqual(
      [found.id, found.request, found.caller.keyId],
      [told.decisionId, { tenantId: 'acme', ...body }, key.id],
    )
    assert.deepEqual([found.reproduced, found.differences, found.unexplained, found.verified], [true, [], null, true])
    assert.equal(decidingRule(found.explanation), told.rule)
    const again = (await post(key, '/gate/check?explain=1', { tenantId: 'acme', ...body })).body.data.explanation
    assert.deepEqual(found.explanation, again, 'the same as when it is asked for at once')
    assert.deepEqual(await shown(found.entryId, key === tester ? tester : auditor), found)
  })
}

test('a decision is evaluated again at the time of then, in the time zone of its policies', async (t) => {
  let now = Date.parse('2026-01-14T22:30:00Z')
  const own = await startGate(t, { policies: { 'acme/main.yaml': POLICY }, clock: () => now })
  const key = await own.key()
  const told = await check(key, { action: 'hour.strike' }, own)
  assert.deepEqual([told.decidedBy, told.rule], ['deny_rule', 'hours'])
  now += 3_600_000
  assert.equal((await check(key, { action: 'hour.strike' }, own)).decidedBy, 'default')
  const found = await shown(told.decisionId, key, own)
  assert.deepEqual([found.reproduced, found.explanation.rules[0].condition.seen], [true, { value: 23 }])
})

test('a decision of an approval: the policies held the request, and say so again', async () => {
  for (const [verb, decision, amount] of [
    ['approve', 'allow', 7000],
    ['reject', 'deny', 7001],
  ] as const) {
    const held = await check(agent, payment(amount))
    assertDone(await post(approver, `/approvals/${held.approvalId}/${verb}`, { approverId: 'ann' }))
    const used = await check(agent, payment(amount))
    assert.deepEqual([used.decision, used.decidedBy], [decision, 'approval'])
    const found = await shown(used.decisionId)
    assert.deepEqual([found.decision, found.reproduced, found.differences], [decision, true, []])
    assert.deepEqual([found.approval.id, decidingRule(found.explanation)], [held.approvalId, 'large'])
    assert.equal((await shown(held.decisionId)).reproduced, true)
  }
})

test('a stop that has ended is told of the decisions that it made', async () => {
  const stop = { level: 'L1', scope: 'email.*', reason: 'Phishing.', triggeredBy: 'ann' }
  const before = await check(agent, { action: 'email.send' })
  assertDone(await post(operator, '/killswitch/trigger', stop))
  const during = await check(agent, { action: 'email.send' })
  assertDone(await post(operator, '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' }))
  const found = await shown(during.decisionId)
  assert.deepEqual([found.decidedBy, found.reproduced, found.differences], ['kill_switch', true, []])
  assert.match(found.explanation.killSwitch, /L1 \(email\.\*\).*Phishing/)
  const earlier = await shown(before.decisionId)
  assert.deepEqual([earlier.decision, earlier.reproduced, earlier.explanation.killSwitch], ['allow', true, null])
})

test('without a policy in force the decision was that, and is again', async () => {
  const bare = await startGate({ after }, { policies: {} })
  const key = await bare.key()
  const told = await check(key, { action: 'a.b' }, bare)
  const found = await shown(told.decisionId, key, bare)
  assert.deepEqual([found.policyDigest, found.reproduced, found.explanation.rules], [null, true, []])
})

test('only who reads the trail may ask, and only of the own tenant and environment', async () => {
  const { decisionId } = await check(agent, payment(5))
  for (const key of [agent, approver, operator]) assertRefused(await show(decisionId, key), 'forbidden')
  for (const key of [stranger, tester]) assertRefused(await show(decisionId, key), 'not_found')
  const theirs = await check(stranger, payment(5))
  assert.equal((await shown(theirs.decisionId, stranger)).reason, 'Theirs.')
  assertRefused(await show(theirs.decisionId), 'not_found')
  for (const id of ['dec_x', 'x', decisionId.replace('dec_', 'apr_'), `${decisionId}x`])
    assertRefused(await show(id), 'not_found', id)
  const { data } = (await gate.call(auditor, 'GET', '/audit/chain?eventType=policy.loaded')).body
  assertRefused(await show(data[0].id), 'not_found', 'an entry that is no decision')
})

/** Changes made to the file, each with the code given in place of an explanation. */
const CHANGED: [name: string, sql: string, code: string][] = [
  ['the policies are not kept any more', 'DELETE FROM policy_text WHERE loaded = 1', 'policy_not_kept'],
  [
    'other policies stand in their place',
    'UPDATE policy_text SET source = (SELECT source FROM policy_text WHERE loaded = 2) WHERE loaded = 1',
    'policy_altered',
  ],
  ['the stored text is none', 'UPDATE policy_text SET source = \'{"files": 1}\' WHERE loaded = 1', 'policy_altered'],
  ['the stored text is no JSON', "UPDATE policy_text SET source = 'x' WHERE loaded = 1", 'policy_altered'],
  [
    'the stored policies have faults',
    `UPDATE policy_text SET source = '{"files":[{"name":"main.yaml","base64":"eA=="}],"lists":[],"ignored":[]}' WHERE loaded = 1`,
    'policy_unloadable',
  ],
  ['the request has been erased', "DELETE FROM section WHERE name = 'request'", 'redacted'],
]

fileTest('after the policies changed, a decision is explained by those that made it', async (t) => {
  for (const [name, sql, code] of [['', '', ''], ...CHANGED]) {
    const own = await startGate(t, { policies: { 'acme/main.yaml': POLICY } })
    const key = await own.key()
    // The set is noted within a second of the tenant's making.
    while (!own.server.store.state().policies.has('acme')) await sleep(20)
    const told = await check(key, payment(5), own)
    await replacePolicy(
      own,
      POLICY.replace('effect: allow, reason: Payments', 'effect: deny, reason: No payments'),
      key,
    )
    assert.equal((await check(key, payment(5), own)).decision, 'deny')
    if (sql !== '') {
      tamper(join(own.dir, 'data'), (db) => db.exec(sql ?? ''))
    }
    const found = await shown(told.decisionId, key, own)
    assert.equal(found.decision, 'allow', name)
    if (code === '') {
      assert.deepEqual([found.reproduced, decidingRule(found.explanation)], [true, 'payments'])
      // Once more, from those that are kept ready.
      assert.deepEqual(await shown(told.decisionId, key, own), found)
    } else {
      assert.deepEqual([found.explanation, found.reproduced, found.unexplained.code], [null, null, code], name)
      assert.match(found.unexplained.message, /^It cannot be explained: .*\.$/)
    }
    await own.server.close()
  }
})

fileTest('what is on record stays the decision where evaluating it again gives another', async (t) => {
  const own = await startGate(t, { policies: { 'acme/main.yaml': POLICY } })
  const key = await own.key()
  const told = await check(key, payment(5), own)
  const altered = "UPDATE section SET json = replace(json, '\"amount\":5', '\"amount\":200000') WHERE name = 'request'"
  tamper(join(own.dir, 'data'), (db) => db.exec(altered))
  const found = await shown(told.decisionId, key, own)
  assert.deepEqual([found.decision, found.rule, found.verified, found.reproduced], ['allow', 'payments', false, false])
  const members = found.differences.map(({ member }: { member: string }) => member)
  assert.deepEqual(members, ['decision', 'decidedBy', 'reason', 'retry', 'rule', 'riskScore', 'factors'])
  assert.deepEqual(found.differences[0], { member: 'decision', recorded: { value: 'allow' }, again: { value: 'deny' } })
})
