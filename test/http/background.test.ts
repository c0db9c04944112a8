import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ACME_POLICY, fileTest, type Gate, startGate } from '../helpers.ts'
import { tamper } from '../store/used-folder.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused } from './support.ts'

const LARGE = '  - {id: large,'
const WRITTEN = `  - id: wire   # checked by finance
    actions: [wire.*]
    effect: require_approval
    approval: {quorum: 2, approvers: [finance, risk]}
    reason: |
      Wires are looked at
      by two people.

  # what follows is no part of it
`
const POLICY = `${ACME_POLICY.replace('risk:', 'session: {fact: context.run}\nrisk:').replace(
  'facts: {',
  'facts: {context.run: {type: string}, ',
)}  - {id: own, actions: ["own.*"], effect: require_approval, reason: R., approval: {selfApproval: true}}
`.replace(LARGE, `${WRITTEN}${LARGE}`)
const lineOf = (text: string, policy = POLICY): number => policy.slice(0, policy.indexOf(text)).split('\n').length

let now = Date.parse('2026-03-01T10:00:00.000Z')
const options = { policies: { 'acme/main.yaml': POLICY }, clock: () => now }
const gate = await startGate({ after }, options)
const bot = await gate.key({ roles: ['agent'], identity: 'bot-7' })
const other = await gate.key({ roles: ['agent'] })
const ann = await gate.key({ roles: ['approver'], identity: 'ann', groups: ['finance'] })
const ben = await gate.key({ roles: ['approver'], identity: 'ben' })
const operator = await gate.key({ roles: ['operator'] })
const stranger = await gate.key({ tenant: 'other', roles: ['owner'] })
const tester = await gate.key({ roles: ['owner'], environment: 'test' })
await until('the set is noted', () => gate.server.store.state().policies.has('acme'))

type Key = typeof bot
const post = async (key: Key, path: string, body: object, at: Gate = gate) => {
  now += 1000
  const answer = await at.call(key, 'POST', path, body)
  assertDone(answer)
  return answer.body.data
}
const check = (key: Key, action: string, context: object = {}, at: Gate = gate) =>
  post(key, '/gate/check', { tenantId: 'acme', action, context }, at)
const background = (id: string, key: Key = ann, at: Gate = gate) => at.call(key, 'GET', `/approvals/${id}/background`)
const shown = async (id: string, key: Key = ann, at: Gate = gate) => {
  const answer = await background(id, key, at)
  assertDone(answer)
  return answer.body.data
}

test('the rule is shown as it is written, with its place', async () => {
  const wire = await check(bot, 'wire.send')
  const found = await shown(wire.approvalId)
  const text = WRITTEN.slice(0, WRITTEN.indexOf('\n\n'))
  const line = lineOf(WRITTEN)
  assert.deepEqual(found.rule, { id: 'wire', file: 'acme/main.yaml', line, endLine: line + 6, text })
  assert.deepEqual([found.unshown, found.policyDigest, found.approvalId], [null, wire.policyDigest, wire.approvalId])
  assert.deepEqual(found.approvers, { groups: [['finance', 'risk']], quorum: 2, selfApproval: false })
  const large = await check(bot, 'payment.transfer', { amount: 5000 })
  const { rule } = await shown(large.approvalId)
  assert.deepEqual([rule.line, rule.endLine], [lineOf(LARGE), lineOf(LARGE)])
  assert.equal(rule.text, POLICY.split('\n')[rule.line - 1])
})

test('what the agent did before, in the session too, is told to who decides, and nothing of others', async () => {
  const run = { run: 'run-9' }
  const mine = [await check(bot, 'email.send', run), await check(bot, 'payment.transfer', { amount: 7, ...run })]
  await check(bot, 'email.send', { run: 'run-10' })
  await check(other, 'email.send', run)
  await post(bot, '/gate/outcome', { decisionId: mine[0].decisionId, status: 'failed' })
  const held = await check(bot, 'payment.transfer', { amount: 6000, ...run })
  const found = await shown(held.approvalId)
  const { principal, name, keyId, recent, lastDay } = found.agent
  assert.deepEqual([principal, name, keyId], ['bot-7', null, bot.id])
  assert.deepEqual(
    recent.slice(0, 3).map(({ action }: { action: string }) => action),
    ['email.send', 'payment.transfer', 'email.send'],
  )
  assert.deepEqual(found.session, {
    id: 'run-9',
    recent: mine.reverse().map(({ decisionId: id, timestamp, plan: { action }, decision, riskScore }, i) => {
      return { id, timestamp, action, decision, riskScore, outcome: i === 1 ? 'failed' : null }
    }),
  })
  assert.deepEqual(lastDay, { allow: 3, deny: 0, require_approval: 3, complete: true })
  assert.equal(found.searchedTo, null)
})

test('ten decisions of the agent at most are told, twenty of the session, and of the last day a number', async () => {
  now += 2 * 86_400_000
  for (let i = 0; i < 25; i += 1) await check(bot, 'email.send', { run: 'long', i })
  const held = await check(bot, 'payment.transfer', { amount: 6001, run: 'long' })
  const { agent, session } = await shown(held.approvalId)
  assert.deepEqual([agent.recent.length, session.recent.length], [10, 20])
  assert.deepEqual(agent.lastDay, { allow: 25, deny: 0, require_approval: 1, complete: true })
})

const permission = async (id: string, key: Key) => {
  const { mayVote, mayReject } = await shown(id, key)
  return [mayVote, mayReject]
}
const YES = { allowed: true, reason: null }

/** The background says what voting would, before it is done. */
async function assertSame(id: string, key: Key, identity: string): Promise<void> {
  for (const [verb, member] of [
    ['approve', 'mayVote'],
    ['reject', 'mayReject'],
  ] as const) {
    const told = (await shown(id, key))[member]
    const { body } = await gate.call(key, 'POST', `/approvals/${id}/${verb}`, { approverId: identity })
    assert.deepEqual([told.allowed, told.reason], [body.success, body.message ?? null], verb)
  }
}

test('whether this key may vote is told as voting would have it', async () => {
  const wire = await check(bot, 'wire.send', { n: 1 })
  assert.deepEqual(await permission(wire.approvalId, ann), [YES, YES])
  const reason = 'Approvers need a key group: finance or risk.'
  assert.deepEqual(
    await permission(wire.approvalId, ben),
    [0, 1].map(() => ({ allowed: false, reason })),
  )
  await post(ann, `/approvals/${wire.approvalId}/approve`, { approverId: 'ann' })
  const [again, against] = await permission(wire.approvalId, ann)
  assert.match(again.reason, /have already voted for it/)
  assert.deepEqual([again.allowed, against], [false, YES])

  const both = await gate.key({ roles: ['agent', 'approver'], identity: 'bot-7' })
  const asked = await check(both, 'payment.transfer', { amount: 9000 })
  const [self, ownReject] = await permission(asked.approvalId, both)
  assert.match(self.reason, /The requester, or a key made by/)
  assert.deepEqual([self.allowed, ownReject], [false, YES])
  const allowed = await check(both, 'own.run')
  assert.deepEqual(await permission(allowed.approvalId, both), [YES, YES])

  await post(operator, '/killswitch/trigger', { level: 'L3', reason: 'Stop it.', triggeredBy: 'x' })
  const [stopped, rejecting] = await permission(allowed.approvalId, ben)
  assert.match(stopped.reason, /^Kill switch L3 .*Stop it\./)
  assert.deepEqual([stopped.allowed, rejecting], [false, YES])
  await assertSame(allowed.approvalId, ben, 'ben')
  await post(operator, '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
  assert.match((await permission(allowed.approvalId, ben))[0].reason, /is rejected, no longer pending/)

  for (const [key, name] of [
    [ben, 'ben'],
    [both, 'bot-7'],
  ] as const) {
    const { approvalId } = await check(bot, 'wire.send', { name })
    await assertSame(approvalId, key, name)
  }
  const late = await check(bot, 'wire.send', { n: 2 })
  now += 30 * 86_400_000
  assert.match((await permission(late.approvalId, ann))[1].reason, /has expired/)
  await assertSame(late.approvalId, ann, 'ann')
})

test('only approvers are told, and only of approvals of the own tenant and environment', async () => {
  const { approvalId } = await check(bot, 'wire.send', { n: 3 })
  const auditor = await gate.key({ roles: ['auditor'] })
  for (const key of [bot, operator, auditor]) assertRefused(await background(approvalId, key), 'forbidden')
  for (const key of [stranger, tester]) assertRefused(await background(approvalId, key), 'not_found')
  assertRefused(await background('apr_x'), 'not_found')
  const sandbox = await check(tester, 'wire.send')
  const { agent } = await shown(sandbox.approvalId, tester)
  assert.deepEqual([agent.recent, agent.lastDay.require_approval], [[], 1])
})

/** Changes made to the file, each with the code of why the rule is not shown; null when it is shown. */
const CHANGED: [name: string, sql: string, code: string | null][] = [
  ['nothing', 'DELETE FROM policy_text WHERE loaded = 99', null],
  ['the policies are not kept any more', 'DELETE FROM policy_text', 'policy_not_kept'],
  [
    'other policies stand in their place',
    'UPDATE policy_text SET source = (SELECT source FROM policy_text WHERE loaded = 2) WHERE loaded = 1',
    'policy_altered',
  ],
  ['the decision has been erased', "DELETE FROM section WHERE name = 'grounds'", 'redacted'],
]

fileTest('after the policies changed, the rule is shown as it was, or why it cannot be', async (t) => {
  for (const [name, sql, code] of CHANGED) {
    const own = await startGate(t, options)
    const owner = await own.key()
    await until('the set is noted', () => own.server.store.state().policies.has('acme'))
    const { approvalId } = await check(owner, 'wire.send', {}, own)
    const digest = async () => (await own.call(owner, 'GET', '/policies')).body.data.digest
    const before = await digest()
    writeFileSync(join(own.dir, 'policies/acme/main.yaml'), POLICY.replace('by two people', 'by many'))
    await until('another set', async () => (await digest()) !== before)
    tamper(join(own.dir, 'data'), (db) => db.exec(sql))
    const { rule, unshown, policyDigest, mayVote, agent } = await shown(approvalId, owner, own)
    assert.equal(policyDigest, code === 'redacted' ? null : before, name)
    assert.equal(unshown?.code ?? null, code, name)
    if (code === null) assert.match(rule.text, /by two people/)
    else {
      assert.equal(rule, null, name)
      assert.match(unshown.message, /^The rule cannot be shown: .*\.$/)
    }
    assert.match(mayVote.reason, /The requester, or a key made by/)
    assert.equal(agent.principal, owner.id)
    await own.server.close()
  }
})

test('where comments were added since, which changes no digest, the lines are those of the text that is kept', async (t) => {
  const own = await startGate(t, options)
  const owner = await own.key()
  await until('the set is noted', () => own.server.store.state().policies.has('acme'))
  writeFileSync(join(own.dir, 'policies/acme/main.yaml'), `# new\n# lines\n${POLICY}`)
  await own.call(owner, 'POST', '/policies/reload', {})
  const { approvalId, decisionId } = await check(owner, 'wire.send', {}, own)
  const { explanation } = (await own.call(owner, 'GET', `/decisions/${decisionId}`)).body.data
  assert.equal(explanation.rules[0].line, lineOf(WRITTEN) + 2, 'the set in force has been read anew')
  const { rule } = await shown(approvalId, owner, own)
  assert.equal(rule.line, lineOf(WRITTEN))
  assert.match(rule.text, /^ {2}- id: wire/)
})

test('where no rule held the action, that is said', async (t) => {
  const policy = ACME_POLICY.replace('risk:', 'thresholds: {requireApproval: 1, deny: 90}\nrisk:')
  const own = await startGate(t, { policies: { 'acme/main.yaml': policy }, clock: () => now })
  const owner = await own.key()
  const { approvalId, rule } = await check(owner, 'payment.transfer', { amount: 900 }, own)
  assert.equal(rule, null)
  const found = await shown(approvalId, owner, own)
  assert.deepEqual([found.rule, found.unshown.code], [null, 'no_rule'])
})
