import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Explanation } from '../../src/gate/explain.ts'
import { ACME_POLICY, startGate } from '../helpers.ts'
import { assertDone, assertRefused } from './support.ts'

const policies = {
  'acme/main.yaml': ACME_POLICY,
  'closed/main.yaml': `explain: reason\n${ACME_POLICY.replace('tenant: acme', 'tenant: closed')}`,
  'broken/main.yaml': 'apiVersion: gate-sidecar/v1\ntenant: broken\nrules: 1\n',
}
const gate = await startGate({ after }, { policies })
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver'] })
const operator = await gate.key({ roles: ['operator'] })

type Key = typeof agent
const payment = (amount: unknown, tenantId = 'acme') => ({ tenantId, action: 'payment.transfer', context: { amount } })
const explained = (body: object, key: Key = agent, query = '?explain=1', headers = {}) =>
  gate.call(key, 'POST', `/gate/check${query}`, body, headers)
const toldOf = ({ rules }: Explanation): string[] => rules.map(({ id, decides }) => `${id}${decides ? '*' : ''}`)

const ASKED: [name: string, body: object, decidedBy: string, rules: string[], contributions: number[]][] = [
  ['allow', payment(5), 'allow_rule', ['payments*', 'huge', 'large'], [0]],
  ['deny', payment(200_000), 'deny_rule', ['huge*', 'large', 'payments'], [30]],
  ['hold', payment(5000), 'hold_rule', ['large*', 'payments', 'huge'], [15]],
  ['what does not fit', payment('x'), 'invalid_context', ['huge', 'large', 'payments'], [30]],
  ['no rule', { tenantId: 'acme', action: 'db.drop' }, 'default', [], []],
]

for (const [name, body, decidedBy, rules, contributions] of ASKED) {
  test(`?explain=1 explains: ${name}`, async () => {
    const answer = await explained(body)
    assertDone(answer)
    const { data } = answer.body
    const why: Explanation = data.explanation
    assert.deepEqual([data.decidedBy, toldOf(why)], [decidedBy, rules])
    assert.deepEqual(
      why.factors.map(({ contribution }) => contribution),
      contributions,
    )
    const place = why.rules[0]
    if (place !== undefined) assert.match(`${place.file}:${place.line}`, /^acme\/main\.yaml:\d+$/)
  })
}

test('without it, or with 0, nothing is explained', async () => {
  for (const query of ['', '?explain=0', '?wait=0', '?'])
    assert.equal('explanation' in (await explained(payment(5), agent, query)).body.data, false, query)
  for (const query of ['?explain=2', '?explain=true', '?explain='])
    assertRefused(await explained(payment(5), agent, query), 'invalid_request', query)
})

test('a stop is told, and what the rules say beside it', async () => {
  const stopped = await startGate({ after })
  const key = await stopped.key()
  const stop = { level: 'L1', scope: 'email.send', reason: 'Phishing.', triggeredBy: 'ann' }
  assertDone(await stopped.call(key, 'POST', '/killswitch/trigger', stop))
  const { data } = (
    await stopped.call(key, 'POST', '/gate/check?explain=1', { tenantId: 'acme', action: 'email.send' })
  ).body
  const why: Explanation = data.explanation
  assert.deepEqual([data.decidedBy, why.killSwitch], ['kill_switch', data.reason])
  assert.deepEqual(toldOf(why), ['mail'])
})

test('without a policy in force there is nothing to explain but that', async () => {
  const key = await gate.key({ tenant: 'broken', roles: ['agent'] })
  const { data } = (await explained({ tenantId: 'broken', action: 'a.b' }, key)).body
  assert.deepEqual([data.decidedBy, data.explanation.rules, data.explanation.thresholds], ['no_policy', [], null])
})

test('policies with explain: reason are not explained to anyone who asks for a decision', async () => {
  for (const roles of [['agent'], ['owner'], ['agent', 'auditor']] as const) {
    const key = await gate.key({ tenant: 'closed', roles: [...roles] })
    for (const amount of [5, 5000, 200_000, 'x']) {
      const plain = (await explained(payment(amount, 'closed'), key, '')).body
      const asked = await explained(payment(amount, 'closed'), key)
      assertDone(asked)
      assert.deepEqual(Object.keys(asked.body.data).sort(), Object.keys(plain.data).sort())
      // No name of a rule or factor, no value that is compared with, no place.
      assert.doesNotMatch(JSON.stringify(asked.body), /"(huge|large|payments)"|100000|main\.yaml|"line"/)
    }
  }
})

test('an approval that is used: the decision is its, the rule that held is told', async () => {
  const { approvalId } = (await explained(payment(7000))).body.data
  assertDone(await gate.call(approver, 'POST', `/approvals/${approvalId}/approve`, { approverId: 'ann' }))
  const { data } = (await explained(payment(7000))).body
  assert.deepEqual([data.decision, data.decidedBy], ['allow', 'approval'])
  assert.deepEqual(toldOf(data.explanation), ['large*', 'payments', 'huge'])
})

test('a check that waits is explained as it is decided in the end', async () => {
  const waiting = explained(payment(8000), agent, '?wait=25&explain=1')
  let pending: { id: string; context: { amount: number } } | undefined
  while (pending === undefined) {
    const { data } = (await gate.call(approver, 'GET', '/approvals')).body
    pending = data.find((item: { context: { amount: number } }) => item.context.amount === 8000)
  }
  assertDone(await gate.call(approver, 'POST', `/approvals/${pending.id}/reject`, { approverId: 'ann' }))
  const { data } = (await waiting).body
  assert.deepEqual([data.decision, data.decidedBy], ['deny', 'approval'])
  assert.deepEqual(toldOf(data.explanation), ['large*', 'payments', 'huge'])
})

test('what an Idempotency-Key repeats is the recorded decision, without an explanation', async () => {
  const headers = { 'idempotency-key': 'once' }
  const first = (await explained(payment(9), agent, '?explain=1', headers)).body.data
  const again = (await explained(payment(9), agent, '?explain=1', headers)).body.data
  assert.equal(again.decisionId, first.decisionId)
  const { explanation, ...rest } = first
  assert.ok(explanation)
  assert.deepEqual(again, rest)
})

test('what a key may not ask, it may not ask with an explanation', async () => {
  assertRefused(await explained(payment(5), operator), 'forbidden')
})
