import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entriesOf } from '../http/support.ts'
import { POLICY, type Scene, scene, type TestKey } from './scenes.ts'

const main = await scene()
const { gate, agent, owner, ask, vote, reject, status } = main
let n = 0
const approved = async (action = 'pay.one', more: object = {}): Promise<string> => {
  const { approvalId } = await ask(action, ++n, more)
  await vote(owner, approvalId)
  return approvalId
}

test('the same request while it waits leads to the same approval', async () => {
  const first = await ask('pay.one', ++n)
  const second = await ask('pay.one', n)
  assert.equal(second.approvalId, first.approvalId)
  assert.notEqual(second.decisionId, first.decisionId)
  const many = await Promise.all(Array.from({ length: 6 }, () => ask('pay.one', 10_000)))
  assert.equal(new Set(many.map(({ approvalId }) => approvalId)).size, 1)
})

const CHANGED: [name: string, more: object][] = [
  ['an argument', { context: { n: -1 } }],
  ['an argument more', { context: { n: 0, more: 1 } }],
  ['a plan', { plan: { action: 'pay.one' } }],
  ['the action', { action: 'pay.self' }],
]

for (const [name, more] of CHANGED) {
  test(`an approval does not cover a request with another value: ${name}`, async () => {
    const id = await approved()
    const answer = await ask('pay.one', n, more)
    assert.equal(answer.decision, 'require_approval')
    assert.notEqual(answer.approvalId, id)
    assert.equal(await status(id), 'approved')
    assert.equal((await ask('pay.one', n)).decision, 'allow')
  })
}

test("an approval does not cover another key's request, but another key of the same identity's", async () => {
  const id = await approved()
  const stranger = await gate.key({ roles: ['agent'] })
  assert.notEqual((await ask('pay.one', n, {}, stranger)).approvalId, id)
  const [one, two] = [
    await gate.key({ roles: ['agent'], identity: 'bot' }),
    await gate.key({ roles: ['agent'], identity: 'bot' }),
  ]
  const { approvalId } = await ask('pay.one', n, {}, one as TestKey)
  await vote(owner, approvalId)
  assert.equal((await ask('pay.one', n, {}, two as TestKey)).decision, 'allow')
})

test('an unbound argument may change', async () => {
  const id = await approved('pay.one', { context: { n: -5, toolCallId: 'a' }, plan: { note: 1 } })
  const answer = await ask('pay.one', 0, { context: { n: -5, toolCallId: 'b' }, plan: {} })
  assert.equal(answer.decision, 'allow')
  assert.equal(answer.approvalId, id)
})

test('an approval is used once', async () => {
  const id = await approved()
  const allowed = await ask('pay.one', n)
  assert.deepEqual([allowed.decision, allowed.decidedBy, allowed.approvalId], ['allow', 'approval', id])
  assert.equal(await status(id), 'consumed')
  assert.equal((await ask('pay.one', n)).decision, 'require_approval')
})

test('of many uses at once, exactly one is allowed', async () => {
  for (let round = 0; round < 3; round += 1) {
    await approved()
    const before = await entriesOf(gate, 'approval.consumed')
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask('pay.one', n)))
    assert.equal(answers.filter(({ decision }) => decision === 'allow').length, 1)
    assert.equal(answers.filter(({ decision }) => decision === 'require_approval').length, 5)
    assert.equal(await entriesOf(gate, 'approval.consumed'), before + 1)
  }
})

test('after a rejection the request is denied until the deadline, then it may be asked again', async () => {
  const { approvalId } = await ask('pay.one', ++n)
  await reject(owner, approvalId, 'too much')
  const denied = await ask('pay.one', n)
  assert.deepEqual(
    [denied.decision, denied.decidedBy, denied.retry, denied.approvalId],
    ['deny', 'approval', 'never', approvalId],
  )
  main.wait(3_599_999)
  assert.equal((await ask('pay.one', n)).decision, 'deny')
  main.wait(1)
  const again = await ask('pay.one', n)
  assert.equal(again.decision, 'require_approval')
  assert.notEqual(again.approvalId, approvalId)
})

/** Each gives the id to present, and what the reason must name; the request itself is `n`. */
const PRESENTED: [name: string, id: () => Promise<string>, says: RegExp][] = [
  ['unknown', async () => 'apr_00000000000000000000000000', /approval is unknown/],
  ['no id at all', async () => 'x', /approval is unknown/],
  ['another tenant’s', () => anothers(), /approval is unknown/],
  ["the test side's", () => onTestSide(), /approval is unknown/],
  ["another requester's", () => strangers(), /another requester/],
  ['for another request', () => forAnother(), /another request/],
  ['used', () => used(), /consumed/],
  ['rejected', () => rejectedId(), /[Rr]ejected/],
]

async function anothers(): Promise<string> {
  const key = await gate.key({ tenant: 'other' })
  const note = await gate.call(key, 'POST', '/audit/log', { eventType: 'my.note', data: {} })
  return String(note.body.data.id).replace('aud_', 'apr_')
}
async function onTestSide(): Promise<string> {
  const key = await gate.key({ roles: ['agent'], environment: 'test' })
  return (await ask('pay.one', n, {}, key)).approvalId
}
async function strangers(): Promise<string> {
  const stranger = await gate.key({ roles: ['agent'] })
  const { approvalId } = await ask('pay.one', ++n, {}, stranger)
  await vote(owner, approvalId)
  return approvalId
}
async function forAnother(): Promise<string> {
  const id = await approved()
  n += 1
  return id
}
async function used(): Promise<string> {
  const id = await approved()
  await ask('pay.one', n)
  return id
}
async function rejectedId(): Promise<string> {
  const { approvalId } = await ask('pay.one', ++n)
  await reject(owner, approvalId)
  return approvalId
}

for (const [name, idOf, says] of PRESENTED) {
  test(`an approval presented counts as absent: ${name}`, async () => {
    const approvalId = await idOf()
    const answer = await ask('pay.one', n, { approvalId })
    assert.equal(answer.decision, name === 'rejected' ? 'deny' : 'require_approval')
    assert.match(answer.reason, says)
  })
}

test('an expired approval presented counts as absent', async () => {
  const id = await approved()
  main.wait(3_600_000)
  const answer = await ask('pay.one', n, { approvalId: id })
  assert.equal(answer.decision, 'require_approval')
  assert.match(answer.reason, /expired/)
  assert.notEqual(answer.approvalId, id)
})

test('a valid approval may be presented, and a false one does no harm beside it', async () => {
  const id = await approved()
  assert.equal((await ask('pay.one', n, { approvalId: id })).decision, 'allow')
  await approved()
  assert.equal((await ask('pay.one', n, { approvalId: id })).decision, 'allow')
})

/** The policy changes between approval and use: what does the same request come to? */
async function afterChange(
  policy: string,
): Promise<{ later: Scene; answer: Awaited<ReturnType<Scene['ask']>>; approvalId: string }> {
  const earlier = await scene()
  const key = await earlier.gate.key({ roles: ['agent'] })
  const { approvalId } = await earlier.ask('pay.one', 1, {}, key)
  await earlier.vote(earlier.owner, approvalId)
  await earlier.gate.server.close()
  const later = await scene({ dir: earlier.gate.dir, policy })
  return { later, answer: await later.ask('pay.one', 1, {}, key), approvalId }
}

test('a deny rule that came after the approval denies, and the approval is not used', async () => {
  const rule = '  - {id: no, actions: [pay.one], effect: deny, reason: Not any more.}\n'
  const { later, answer, approvalId } = await afterChange(POLICY + rule)
  assert.deepEqual([answer.decision, answer.decidedBy], ['deny', 'deny_rule'])
  assert.equal(await later.status(approvalId), 'approved')
})

const HELD_AFTER: [name: string, terms: string][] = [
  ['a larger quorum', '{quorum: 2}'],
  ['a group that the approver is not in', '{approvers: [treasury]}'],
]

for (const [name, terms] of HELD_AFTER) {
  test(`${name} that came after the approval holds the request`, async () => {
    const policy = POLICY.replace('reason: One person.', `reason: One person., approval: ${terms}`)
    const { later, answer, approvalId } = await afterChange(policy)
    assert.equal(answer.decision, 'require_approval')
    assert.notEqual(answer.approvalId, approvalId)
    assert.equal(await later.status(approvalId), 'approved')
  })
}

test('a rejection counts more than an approval of before', async () => {
  const strict = POLICY.replace('reason: One person.', 'reason: One person., approval: {quorum: 2}')
  const first = await scene()
  const key = await first.gate.key({ roles: ['agent'] })
  await first.vote(first.owner, (await first.ask('pay.one', 1, {}, key)).approvalId)
  await first.gate.server.close()
  const second = await scene({ dir: first.gate.dir, policy: strict })
  await second.reject(second.owner, (await second.ask('pay.one', 1, {}, key)).approvalId)
  await second.gate.server.close()
  const third = await scene({ dir: first.gate.dir })
  assert.equal((await third.ask('pay.one', 1, {}, key)).decision, 'deny')
})

test('an approval is still good after a restart', async () => {
  const { answer } = await afterChange(POLICY)
  assert.equal(answer.decision, 'allow')
  assert.equal(agent.tenant, 'acme')
})
