import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { prunable, prune } from '../../src/actions/audit/prune.ts'
import { laneOf, SYSTEM_CHAIN } from '../../src/audit/chain.ts'
import { digestOf } from '../../src/base/digest.ts'
import { DAY_MS } from '../../src/base/time.ts'
import { HEADER } from '../authoring/sources.ts'
import { signerOf } from '../evidence/signed.ts'
import { fileTest, startGate } from '../helpers.ts'
import { lanesBeside } from './lanes.ts'
import { openStream } from './sse.ts'

const LIVE = 'acme/live'
const POLICY = `${HEADER}
history:
  count: {payments: {actions: ["payment.*"], within: 30d, by: agent}}
facts: {context.amount: {type: number, default: 0}}
rules:
  - {id: mail, actions: ["email.*"], effect: allow, reason: Mail is fine.}
  - {id: payments, actions: ["payment.*"], effect: allow, reason: Payments are fine.}
  - {id: many, actions: ["payment.*"], effect: deny, reason: Too many., when: {fact: history.count.payments, operator: greaterThan, value: 3}}
`

/** A running service with entries of half a year ago and of today, of which another process prunes the old ones. */
async function scene(t: TestContext) {
  const time = { ms: Date.now() - 200 * DAY_MS }
  const gate = await startGate(t, { clock: () => time.ms, policies: { 'acme/main.yaml': POLICY } })
  const owner = await gate.key()
  const admin = await gate.key({ roles: ['admin'] })
  const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
  const ask = async (action: string) =>
    (await gate.call(agent, 'POST', '/gate/check', { tenantId: 'acme', action })).body.data
  const stop = async () => {
    await gate.call(admin, 'POST', '/killswitch/trigger', { level: 'L4', reason: 'drill', triggeredBy: 'ann' })
    await gate.call(admin, 'POST', '/killswitch/recover', { level: 'L4', recoveredBy: 'ann', comment: 'over' })
  }
  const beside = await signerOf(t, gate.dir, () => time.ms)
  const pruneChain = async (chain: string, daysAgo = 100) => {
    const range = await prunable(beside, chain, { beforeMs: time.ms - daysAgo * DAY_MS })
    if (range.end <= range.first) return range.end
    await prune(beside, { kind: 'host', id: 'host:0' }, range, {
      archive: { first: 0, manifest: digestOf('the archive') },
      reason: 'kept for half a year',
    })
    return range.end
  }
  const pruneTrail = async (daysAgo?: number) => {
    for (const chain of await beside.store.lanes(LIVE)) await pruneChain(chain, daysAgo)
  }
  const passes = async (days: number) => {
    await beside.checkpoints.signAll()
    time.ms += days * DAY_MS
  }
  return { time, gate, owner, admin, agent, ask, stop, pruneChain, pruneTrail, passes }
}

fileTest('lists, pages and single entries begin where the chain begins', async (t) => {
  const { gate, owner, ask, pruneChain, passes } = await scene(t)
  const old = await ask('email.send')
  for (let i = 0; i < 5; i += 1) await ask('email.send')
  await passes(150)
  const young = await ask('email.send')
  const begin = await pruneChain(LIVE)
  const list = async (query: string) => (await gate.call(owner, 'GET', `/audit/chain?${query}`)).body
  const { data } = await list('limit=100&order=asc')
  assert.equal(data[0].seq, begin)
  assert.deepEqual(
    data.map(({ seq }: { seq: number }) => seq),
    data.map((_: unknown, i: number) => begin + i),
  )
  const decisions = await list('eventType=gate.decision&limit=100')
  assert.deepEqual([decisions.data.length, decisions.data[0].id], [1, young.decisionId.replace('dec_', 'aud_')])
  const never = `dec_${'7'.repeat(26)}`
  for (const path of ['/decisions/:id', '/decisions/:id/timeline', '/evidence/bundle/:id']) {
    const { status, body } = await gate.call(owner, 'GET', path.replace(':id', old.decisionId))
    assert.deepEqual([status, body.error], [410, 'archived'], path)
    assert.ok(body.message.includes(digestOf('the archive')), body.message)
    assert.equal((await gate.call(owner, 'GET', path.replace(':id', never))).status, 404, path)
  }
  assert.equal((await gate.call(owner, 'GET', `/evidence/bundle/${young.decisionId}`)).status, 200)
})

test('days that were pruned verify as pruned', async (t) => {
  const { gate, owner, ask, pruneTrail, passes } = await scene(t)
  await ask('email.send')
  await passes(150)
  await ask('email.send')
  await pruneTrail()
  const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
  const verify = async (from: number, to: number) => {
    const range = { tenantId: 'acme', startDate: day(from), endDate: day(to) }
    const { valid, status } = (await gate.call(owner, 'POST', '/audit/verify', range)).body.data
    return [valid, status]
  }
  assert.deepEqual(await verify(201, 199), [false, 'pruned'])
  assert.deepEqual(await verify(201, 49), [false, 'pruned'])
  assert.deepEqual(await verify(51, 49), [true, 'unanchored'])
})

test('a decision that counted what was pruned is told as it is recorded, and not explained wrongly', async (t) => {
  const { gate, owner, ask, pruneTrail, passes } = await scene(t)
  for (let i = 0; i < 3; i += 1) await ask('payment.send')
  await passes(20)
  const counted = await ask('payment.send')
  const mail = await ask('email.send')
  assert.deepEqual([counted.decision, mail.decision], ['deny', 'allow'])
  await passes(105)
  await ask('payment.send')
  await pruneTrail(105)
  const explained = async ({ decisionId }: { decisionId: string }) => {
    const { decision, reproduced, unexplained } = (await gate.call(owner, 'GET', `/decisions/${decisionId}`)).body.data
    return [decision, reproduced, unexplained?.code ?? null]
  }
  assert.deepEqual(await explained(counted), ['deny', null, 'redacted'])
  assert.deepEqual(await explained(mail), ['allow', true, null])
})

test('a stream goes on from before what was pruned, and misses nothing that is left', async (t) => {
  const { gate, owner, ask, stop, pruneChain, pruneTrail, passes } = await scene(t)
  await stop()
  const first = await openStream(t, gate.server.url, owner)
  const start = first.lastId()
  await stop()
  await ask('email.send')
  await first.find(({ event }) => event === 'gate.decision')
  const middle = first.lastId()
  first.close()
  await passes(150)
  await stop()
  await ask('email.send')
  await pruneTrail()
  assert.ok((await pruneChain(SYSTEM_CHAIN)) > 0)
  // A batch that one stream has read is shared with others for a tenth of a second.
  await sleep(200)
  for (const position of [start, middle]) {
    const stream = await openStream(t, gate.server.url, owner, position)
    await stream.find(({ event }) => event === 'gate.decision')
    await stream.find(({ event }) => event === 'killswitch.recovered')
    const told = stream.events.map(({ event }) => event).filter((event) => /^(gate|killswitch)\./.test(event))
    assert.deepEqual(told.sort(), ['gate.decision', 'killswitch.recovered', 'killswitch.triggered'], position)
    stream.close()
  }
})

test('a decision that was pruned from a lane is archived, and streams go on behind it', async (t) => {
  const { time, gate, owner, agent, pruneChain, passes } = await scene(t)
  const lane = laneOf(LIVE, 8)
  const lanes = await lanesBeside(t, gate, () => time.ms)
  const old = await lanes.decide(8, agent)
  await passes(150)
  const young = await lanes.decide(8, agent)
  const begin = await pruneChain(lane)
  const { body } = await gate.call(owner, 'GET', `/decisions/${old}`)
  assert.equal(body.error, 'archived')
  assert.match(body.message, new RegExp(`${lane}.*${digestOf('the archive')}`))
  for (const position of ['0-0', '0-0~8:1', `0-0~8:${begin}`]) {
    const stream = await openStream(t, gate.server.url, owner, position)
    await stream.find(({ event }) => event === 'gate.decision')
    const told = stream.events.filter(({ event }) => event === 'gate.decision').map(({ data }) => data.data.id)
    assert.deepEqual(told, [young], position)
    stream.close()
  }
})
