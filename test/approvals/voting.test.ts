import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../helpers.ts'
import { assertDone, assertRefused, entries, entriesOf } from '../http/support.ts'
import { scene, type TestKey } from './scenes.ts'

const { gate, agent, owner, ask, vote, reject, status } = await scene()
const approver = (identity?: string, groups: string[] = []): Promise<TestKey> =>
  gate.key({ roles: ['approver'], groups, ...(identity !== undefined && { identity }) })
const [ann, annToo, bob, nobody] = await Promise.all([approver('ann'), approver('ann'), approver('bob'), approver()])
let n = 0
const held = async (action: string, key?: TestKey): Promise<string> => (await ask(action, ++n, {}, key)).approvalId
/** A key that `maker` makes over HTTP. */
const madeBy = async (maker: TestKey, body: object = {}): Promise<TestKey> => {
  const { data } = (await gate.call(maker, 'POST', '/keys', { roles: ['owner'], ...body })).body
  return { id: data.id, secret: data.key, tenant: 'acme' }
}
const asAnn = { approverId: 'ann' }
const asBob = { approverId: 'bob' }

test('one vote approves, and the answer is the approval', async () => {
  const id = await held('pay.one')
  const answer = await vote(ann, id, { approverId: 'ann', comment: 'fine' })
  assertDone(answer)
  const { status: now, votes, decidedAt } = answer.body.data
  assert.equal(now, 'approved')
  assert.ok(decidedAt)
  assert.deepEqual(
    votes.map(({ principal, approverId, comment }: never) => ({ principal, approverId, comment })),
    [{ principal: 'ann', approverId: 'ann', comment: 'fine' }],
  )
  assert.equal((await ask('pay.one', n)).decision, 'allow')
})

test('a claimed name is kept beside the key that called', async () => {
  const id = await held('pay.one')
  const { votes } = (await vote(nobody, id, { approverId: 'the-boss' })).body.data
  assert.equal(votes[0].principal, nobody.id)
  assert.equal(votes[0].approverId, 'the-boss')
})

test('a key with an identity votes under it and no other', async () => {
  const id = await held('pay.one')
  const before = await entries(gate)
  assertRefused(await vote(ann, id, asBob), 'approver_mismatch')
  assertRefused(await gate.call(ann, 'POST', `/approvals/${id}/reject`, asBob), 'approver_mismatch')
  assert.equal(await entries(gate), before)
  assert.equal(await status(id), 'pending')
})

test('who asked does not approve, unless the policy says so', async () => {
  const id = await held('pay.one', owner)
  const before = await entries(gate)
  assertRefused(await vote(owner, id), 'self_approval')
  assertRefused(await vote(await madeBy(owner), id), 'self_approval')
  assert.equal(await entries(gate), before + 1, 'only the key that was made')
  assert.equal(await status(id), 'pending')
  assertDone(await vote(owner, await held('pay.self', owner)))
})

test('another key of the asking person is the same person', async () => {
  const hers = await gate.key({ roles: ['agent'], identity: 'ann' })
  assertRefused(await vote(ann, await held('pay.one', hers), asAnn), 'self_approval')
})

test('who asked may reject', async () => {
  const id = await held('pay.one', owner)
  assertDone(await reject(owner, id))
  assert.equal(await status(id), 'rejected')
})

test('quorum two: two people, and one person once however many keys', async () => {
  const id = await held('pay.two')
  assert.equal((await vote(ann, id, asAnn)).body.data.status, 'pending')
  const again = await vote(annToo, id, asAnn)
  assert.equal(again.body.data.status, 'pending')
  assert.equal(again.body.data.votes.length, 1)
  assert.equal((await ask('pay.two', n)).decision, 'require_approval')
  assert.equal((await vote(bob, id, asBob)).body.data.status, 'approved')
  assert.equal((await ask('pay.two', n)).decision, 'allow')
})

test('voting again changes nothing and is no entry', async () => {
  const id = await held('pay.two')
  await vote(ann, id, asAnn)
  const before = await entriesOf(gate, 'approval.approved')
  assertDone(await vote(ann, id, asAnn))
  assert.equal(await entriesOf(gate, 'approval.approved'), before)
})

test('a key made by another voter is no second person, whoever votes first', async () => {
  const child = await madeBy(owner, { identity: 'somebody-else' })
  const grandchild = await madeBy(child, { identity: 'a-third' })
  const first = await held('pay.two')
  await vote(owner, first)
  assertRefused(await vote(child, first, { approverId: 'somebody-else' }), 'forbidden')
  assertRefused(await vote(grandchild, first, { approverId: 'a-third' }), 'forbidden')
  const second = await held('pay.two')
  assert.equal((await vote(grandchild, second, { approverId: 'a-third' })).body.data.status, 'pending')
  assert.equal((await vote(owner, second)).body.data.status, 'pending')
  assert.equal((await ask('pay.two', n)).decision, 'require_approval')
})

test('with self-approval and quorum two, the asker and its key are one', async () => {
  const id = await held('pay.self-two', owner)
  const child = await madeBy(owner)
  assert.equal((await vote(owner, id)).body.data.status, 'pending')
  assertRefused(await vote(child, id), 'forbidden')
  assert.equal((await vote(bob, id, asBob)).body.data.status, 'approved')
})

test('a voter whose key is revoked before the use does not count', async () => {
  const carl = await approver('carl')
  const id = await held('pay.two')
  await vote(ann, id, asAnn)
  assert.equal((await vote(carl, id, { approverId: 'carl' })).body.data.status, 'approved')
  await gate.call(owner, 'DELETE', `/keys/${carl.id}`)
  const answer = await ask('pay.two', n)
  assert.equal(answer.decision, 'require_approval')
  assert.notEqual(answer.approvalId, id)
})

test('a voter whose key is revoked before the quorum does not count', async () => {
  const carl = await approver('carl')
  const id = await held('pay.two')
  await vote(carl, id, { approverId: 'carl' })
  await gate.call(owner, 'DELETE', `/keys/${carl.id}`)
  assert.equal((await vote(ann, id, asAnn)).body.data.status, 'pending')
  assert.equal((await vote(bob, id, asBob)).body.data.status, 'approved')
})

test('each vote says whether it counts: by the keys as they are, and for good once it is settled', async () => {
  const carl = await approver('carl')
  const carlAgain = await approver('carl')
  const id = await held('pay.two')
  const counts = (approval: Answer['body']) =>
    approval.votes.map((one: { principal: string; counts: boolean }) => [one.principal, one.counts])
  assert.deepEqual(counts((await vote(carl, id, { approverId: 'carl' })).body.data), [['carl', true]])
  await gate.call(owner, 'DELETE', `/keys/${carl.id}`)
  assert.deepEqual(counts((await gate.call(owner, 'GET', `/approvals/${id}`)).body.data), [['carl', false]])
  const listed = (await gate.call(owner, 'GET', '/approvals')).body.data
  assert.deepEqual(counts(listed.find((one: { id: string }) => one.id === id)), [['carl', false]])
  const once = [
    ['carl', false],
    ['carl', true],
  ]
  assert.deepEqual(counts((await vote(carlAgain, id, { approverId: 'carl' })).body.data), once)
  assert.deepEqual(counts((await reject(nobody, id)).body.data), [...once, [nobody.id, false]])
  await gate.call(owner, 'DELETE', `/keys/${carlAgain.id}`)
  assert.deepEqual(counts((await gate.call(owner, 'GET', `/approvals/${id}`)).body.data), [...once, [nobody.id, false]])
})

test('groups: one of those named, and no other', async () => {
  const id = await held('pay.groups')
  assertRefused(await vote(ann, id, asAnn), 'forbidden')
  assertRefused(await vote(await approver(undefined, ['Treasury']), id), 'forbidden')
  assertRefused(await vote(owner, id), 'forbidden')
  assert.equal((await vote(await approver(undefined, ['x', 'board']), id)).body.data.status, 'approved')
})

test('a decided approval takes no further vote', async () => {
  const id = await held('pay.one')
  await vote(ann, id, asAnn)
  assertRefused(await vote(bob, id, asBob), 'approval_not_pending')
  assertRefused(await reject(nobody, id), 'approval_not_pending')
  await ask('pay.one', n)
  assertRefused(await reject(nobody, id), 'approval_not_pending')
  assert.equal(await status(id), 'consumed')
})

test('two people voting at once both count', async () => {
  for (let round = 0; round < 5; round += 1) {
    const id = await held('pay.two')
    for (const { status: code } of await Promise.all([vote(ann, id, asAnn), vote(bob, id, asBob)]))
      assert.equal(code, 200)
    assert.equal(await status(id), 'approved')
  }
})

test('a quorum of eight voting at once all count', async () => {
  const voters = await Promise.all(Array.from({ length: 8 }, (_, i) => approver(`voter ${i}`)))
  const id = await held('pay.eight')
  const answers = await Promise.all(voters.map((key, i) => vote(key, id, { approverId: `voter ${i}` })))
  assert.deepEqual(new Set(answers.map(({ status: code }) => code)), new Set([200]))
  assert.equal(await status(id), 'approved')
})

test('an approve and a reject at once: one of them decides', async () => {
  for (let round = 0; round < 5; round += 1) {
    const id = await held('pay.one')
    const answers = await Promise.all([vote(ann, id, asAnn), reject(nobody, id)])
    const done = answers.filter(({ status: code }) => code === 200)
    assert.equal(done.length, 1)
    assert.equal(await status(id), done[0]?.body.data.status)
  }
})

test('waiting for an approval ends with its decision', async () => {
  const id = await held('pay.one')
  const waiting = gate.call(agent, 'GET', `/approvals/${id}?wait=20`)
  await vote(ann, id, asAnn)
  assert.equal((await waiting).body.data.status, 'approved')
})

test('waiting ends after its time', async () => {
  const id = await held('pay.one')
  const start = performance.now()
  assert.equal((await gate.call(agent, 'GET', `/approvals/${id}?wait=1`)).body.data.status, 'pending')
  assert.ok(performance.now() - start >= 1000)
})
