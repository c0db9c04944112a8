import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { cancelApproval } from '../../src/actions/approvals/cancel-approval.ts'
import { decisionTimeline, MAX_MOMENTS } from '../../src/actions/decisions/timeline.ts'
import { callerOf } from '../../src/actions/deps.ts'
import { idMaker } from '../../src/base/id.ts'
import { change, creation } from '../../src/store/records.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { ACME_POLICY, startGate, temporaryFolder } from '../helpers.ts'
import { aDecision, aKey, anApproval, changing, commit, START_MS } from '../store/drafts.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused } from './support.ts'

const POLICY = ACME_POLICY.replace('risk:', 'approval: {quorum: 2, expiresIn: 30m}\nrisk:')

let now = Date.parse('2026-03-01T10:00:00.000Z')
const gate = await startGate({ after }, { policies: { 'acme/main.yaml': POLICY }, clock: () => now })
const agent = await gate.key({ roles: ['agent'], identity: 'bot-7' })
const ann = await gate.key({ roles: ['approver'], identity: 'ann' })
const ben = await gate.key({ roles: ['approver'], identity: 'ben' })
const auditor = await gate.key({ roles: ['auditor'] })
const operator = await gate.key({ roles: ['operator'] })
const stranger = await gate.key({ tenant: 'other', roles: ['owner'] })
const tester = await gate.key({ roles: ['owner'], environment: 'test' })

type Key = typeof agent
const post = async (key: Key, path: string, body: object) => {
  now += 1000
  const answer = await gate.call(key, 'POST', path, body)
  assertDone(answer)
  return answer.body.data
}
const check = (amount: number) =>
  post(agent, '/gate/check', { tenantId: 'acme', action: 'payment.transfer', context: { amount } })
const show = (id: string, key: Key = auditor) => gate.call(key, 'GET', `/decisions/${id}/timeline`)
const shown = async (id: string) => {
  const answer = await show(id)
  assertDone(answer)
  return answer.body.data
}
interface Item {
  event: string
  decisionId: string | null
  approvalStatus: string | null
  actor: { kind: string; identity: string | null }
  vote: object | null
}
const eventsIn = ({ items }: { items: Item[] }) =>
  items.map(({ event, approvalStatus }) => `${event}${approvalStatus === null ? '' : ` ${approvalStatus}`}`)

test('both decisions of an approval tell one story: asked, held, voted on, used, and what became of it', async () => {
  const held = await check(5000)
  await post(ann, `/approvals/${held.approvalId}/approve`, { approverId: 'ann', comment: 'the invoice is here' })
  await post(ben, `/approvals/${held.approvalId}/approve`, { approverId: 'ben' })
  const used = await check(5000)
  await post(agent, '/gate/outcome', { decisionId: used.decisionId, status: 'failed', error: 'no funds' })
  const story = await shown(used.decisionId)
  assert.deepEqual(eventsIn(story), [
    'gate.decision',
    'approval.requested pending',
    'approval.approved pending',
    'approval.approved approved',
    'gate.decision',
    'approval.consumed consumed',
    'outcome.recorded',
  ])
  const { heldDecisionId, usedByDecisionId, ...approval } = story.approval
  assert.deepEqual(approval, { id: held.approvalId, status: 'consumed' })
  assert.deepEqual([heldDecisionId, usedByDecisionId], [held.decisionId, used.decisionId])
  assert.deepEqual(
    story.items.map(({ decisionId }: Item) => decisionId),
    [held, held, null, null, used, used, used].map((one) => one?.decisionId ?? null),
  )
  assert.deepEqual(
    story.items.map(({ actor }: Item) => actor.identity),
    ['bot-7', 'bot-7', 'ann', 'ben', 'bot-7', 'bot-7', 'bot-7'],
  )
  const [first, requested, vote, , second, , outcome] = story.items
  assert.deepEqual(
    [first.decision.decision, first.decision.rule, second.decision.decision, second.decision.decidedBy],
    ['require_approval', 'large', 'allow', 'approval'],
  )
  assert.deepEqual(requested.hold, { requestedBy: 'bot-7', quorum: 2, expiresAt: held.approvalExpiresAt })
  assert.deepEqual(vote.vote, { principal: 'ann', approverId: 'ann', comment: 'the invoice is here' })
  assert.deepEqual([outcome.outcome.status, outcome.outcome.error], ['failed', 'no funds'])
  assert.deepEqual((await shown(held.decisionId)).items, story.items)
  assert.deepEqual((await shown(first.entryId)).items, story.items, 'by the id of the entry')
})

test('a decision that needed nobody is its own story', async () => {
  const { decisionId } = await check(5)
  assert.deepEqual(eventsIn(await shown(decisionId)), ['gate.decision'])
  assert.equal((await shown(decisionId)).approval, null)
})

test('a rejection, and the deny of the next one who asks, are in the story', async () => {
  const held = await check(6000)
  await post(ann, `/approvals/${held.approvalId}/reject`, { approverId: 'ann', reason: 'not our supplier' })
  const denied = await check(6000)
  assert.equal(denied.decision, 'deny')
  const told = ['gate.decision', 'approval.requested pending', 'approval.rejected rejected']
  assert.deepEqual(eventsIn(await shown(held.decisionId)), told)
  const story = await shown(denied.decisionId)
  assert.deepEqual(eventsIn(story), [...told, 'gate.decision'])
  assert.deepEqual(story.items[2].vote, { principal: 'ann', approverId: 'ann', comment: 'not our supplier' })
})

test('an approval that expired, and one that a stop cancelled, end so, and the stop is named', async () => {
  const [expiring, stopped] = [await check(7000), await check(7001)]
  for (const [key, name] of [
    [ann, 'ann'],
    [ben, 'ben'],
  ] as const)
    await post(key, `/approvals/${stopped.approvalId}/approve`, { approverId: name })
  const stop = await post(operator, '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x' })
  await post(operator, '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
  now += 3_600_000
  for (const [{ decisionId }, end] of [
    [expiring, 'expired'],
    [stopped, 'cancelled'],
  ] as const) {
    assert.equal((await shown(decisionId)).approval.status, end, 'before an entry says so')
    const story = await until(end, async () => {
      const now = await shown(decisionId)
      return eventsIn(now).length > 2 && eventsIn(now).at(-1) === `approval.${end} ${end}` && now
    })
    assert.deepEqual(story.items.at(-1).actor, { kind: 'service', id: 'gate-sidecar', identity: null, name: null })
    const named = end === 'cancelled' ? { id: stop.switches[0].id, level: 'L3', scope: 'acme' } : null
    assert.deepEqual(story.items.at(-1).stop, named)
  }
})

test('an approval that a person cancelled names no stop, also where one came later', async () => {
  const held = await check(7100)
  const deps = { store: gate.server.store, clock: () => now, newId: idMaker(() => now, randomBytes) }
  const key = deps.store.state().keys.get(ann.id)
  assert.ok(key)
  await cancelApproval(deps, callerOf(key, 'acme'), held.approvalId)
  await post(operator, '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x' })
  await post(operator, '/killswitch/recover', { recoveredBy: 'x', comment: 'x' })
  const { items } = await shown(held.decisionId)
  assert.deepEqual(
    [items.at(-1).event, items.at(-1).actor.identity, items.at(-1).stop],
    ['approval.cancelled', 'ann', null],
  )
})

test('only who reads the trail is told, and only of the own tenant and environment', async () => {
  const { decisionId, approvalId } = await check(8000)
  for (const key of [agent, ann, operator]) assertRefused(await show(decisionId, key), 'forbidden')
  for (const key of [stranger, tester]) assertRefused(await show(decisionId, key), 'not_found')
  for (const id of ['x', approvalId, `${decisionId}x`]) assertRefused(await show(id), 'not_found', id)
  assertRefused(await gate.call(auditor, 'GET', `/decisions/${decisionId}/timeline?x=1`), 'invalid_request')
})

test('of an approval that was voted on without end, the newest entries are told, and how many are not', async (t) => {
  const store = openStore({ dir: temporaryFolder(), create: true, clock: () => START_MS })
  t.after(() => store.close())
  const decision = aDecision('require_approval')
  const made = creation('approval', anApproval({ decisionId: decision.decision.id }))
  await commit(store, {
    guards: [],
    writes: [],
    entries: [{ ...decision, grounds: { ...decision.grounds, approvalId: made.record.id } }],
  })
  await commit(store, changing(made))
  for (let i = 0, record = made.record; i < MAX_MOMENTS; i += 1) {
    const again = change('approval', record, { votes: [] })
    await commit(store, changing(again, 'approval.approved'))
    record = again.record
  }
  const deps = { store, clock: () => START_MS, newId: () => '' }
  const caller = callerOf(aKey({ roles: ['auditor'] }), 'acme')
  const story = await decisionTimeline(deps, caller, decision.decision.id)
  assert.deepEqual([story.items.length, story.leftOut], [MAX_MOMENTS + 1, 1])
  assert.equal(story.approval?.heldDecisionId, decision.decision.id)
  const end = (await store.lengths([caller.chain])).get(caller.chain)
  assert.equal(story.items.at(-1)?.seq, Number(end) - 1)
})
