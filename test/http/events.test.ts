import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { callerOf } from '../../src/actions/deps.ts'
import { eventForCaller } from '../../src/actions/events/event-for-caller.ts'
import { eventsFrom } from '../../src/actions/events/follow.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { idMaker } from '../../src/base/id.ts'
import { ROLES, type Role } from '../../src/keys/roles.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { load } from '../authoring/sources.ts'
import { ACME_POLICY, type Gate, type KeyOptions, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { openStream, type Reader } from './sse.ts'
import { assertDone, assertRefused, requestText, untilLoaded } from './support.ts'

const gate = await startGate({ after })
const { url } = gate.server
const owner = await gate.key()
const admin = await gate.key({ roles: ['admin'] })
const agent = await gate.key({ roles: ['agent'] })
type Key = typeof agent

await untilLoaded(gate, owner)

const quietBegin = performance.now()
// The quiet stream has a service of its own: stops of everything are told to everybody.
const elsewhere = await startGate({ after })
const quiet = await openStream(
  { after },
  elsewhere.server.url,
  await elsewhere.key({ tenant: 'quiet', roles: ['approver'] }),
)

const hold = (amount: number) => ({ tenantId: 'acme', action: 'payment.transfer', context: { amount } })
const check = async (key: Key, body: object, at: Gate = gate) =>
  (await at.call(key, 'POST', '/gate/check', body)).body.data
const post = async (key: Key, path: string, body: object, at: Gate = gate) => {
  const answer = await at.call(key, 'POST', path, body)
  assertDone(answer)
  return answer.body.data
}
const STOP = { reason: 'drill', triggeredBy: 'ann' }
const OVER = { recoveredBy: 'ann', comment: 'over' }
const open = (t: Parameters<typeof openStream>[0], key: Key, id?: string) => openStream(t, url, key, id)
const refused = (key: Key, headers: Record<string, string> = {}, path = '/events') =>
  gate.call(key, 'GET', path, undefined, headers)
let amount = 5000
/** A request for which nobody has been asked yet. */
const freshHold = () => {
  amount += 1
  return hold(amount)
}

/** Does something of every kind in a tenant. */
async function everything(at: Gate, { asker, decider, all }: { asker: Key; decider: Key; all: Key }): Promise<void> {
  const body = freshHold()
  const { approvalId } = await check(asker, body, at)
  await post(decider, `/approvals/${approvalId}/approve`, { approverId: 'x' }, at)
  await check(asker, body, at)
  await post(all, '/audit/log', { eventType: 'my.note', data: { secret: 'own' } }, at)
  await post(all, '/killswitch/trigger', { level: 'L1', scope: 'email.send', ...STOP }, at)
  await post(all, '/killswitch/recover', OVER, at)
}

const typesOf = (reader: Reader): string[] => reader.events.map(({ event }) => event)

test('each role is told of what the table says, in the order of the chain', async (t) => {
  const other = await gate.key({ roles: ['agent'] })
  const keys = await Promise.all(ROLES.map((role) => gate.key({ roles: [role] })))
  const readers = await Promise.all(keys.map((key) => open(t, key)))
  await everything(gate, { asker: other, decider: owner, all: owner })
  await everything(gate, { asker: keys[0] ?? owner, decider: owner, all: owner })
  const APPROVAL = ['approval.requested', 'approval.approved', 'approval.consumed']
  const DECISIONS = ['gate.decision', 'approval.requested', 'approval.approved', 'gate.decision', 'approval.consumed']
  const STOPS = ['killswitch.triggered', 'killswitch.recovered']
  const expected: Record<Role, string[]> = {
    agent: [...STOPS, ...DECISIONS, ...STOPS],
    approver: [...APPROVAL, ...STOPS, ...APPROVAL, ...STOPS],
    auditor: [...DECISIONS, ...STOPS, ...DECISIONS, ...STOPS],
    operator: [...STOPS, ...STOPS],
    owner: [...DECISIONS, ...STOPS, ...DECISIONS, ...STOPS],
    admin: [...DECISIONS, ...STOPS, ...DECISIONS, ...STOPS],
  }
  const isTold = (role: Role, i: number) => (readers[i]?.events.length ?? 0) >= expected[role].length
  await until('all are told', () => ROLES.every(isTold))
  await sleep(400)
  for (const [i, role] of ROLES.entries()) {
    assert.deepEqual(typesOf(readers[i] ?? assert.fail()), expected[role], role)
  }
})

test('roles of a key add up', async (t) => {
  const both = await gate.key({ roles: ['agent', 'approver'] })
  const reader = await open(t, both)
  await everything(gate, { asker: agent, decider: owner, all: owner })
  await check(both, { tenantId: 'acme', action: 'db.drop' })
  await reader.find(({ event }) => event === 'gate.decision')
  assert.deepEqual(typesOf(reader), [
    'approval.requested',
    'approval.approved',
    'approval.consumed',
    'killswitch.triggered',
    'killswitch.recovered',
    'gate.decision',
  ])
})

test('who is told of policies is told when they change, test keys too', async (t) => {
  const moving = await startGate(t)
  const keys = { live: await moving.key(), test: await moving.key({ environment: 'test', roles: ['operator'] }) }
  const agents = { live: await moving.key({ roles: ['agent'] }) }
  await untilLoaded(moving, keys.live)
  const at = moving.server.url
  const readers = { live: await openStream(t, at, keys.live), test: await openStream(t, at, keys.test) }
  const untold = await openStream(t, at, agents.live)
  writeFileSync(`${moving.dir}/policies/acme/main.yaml`, `${ACME_POLICY}\n# changed`)
  writeFileSync(`${moving.dir}/policies/acme/more.yaml`, 'apiVersion: gate-sidecar/v1\ntenant: acme\nrules: 7\n')
  for (const reader of [readers.live, readers.test]) {
    const { data } = await reader.find(({ event }) => event === 'policy.rejected')
    assert.match(data.data.faults.join(), /more.yaml/)
  }
  assert.deepEqual(untold.events, [])
  assert.equal(readers.test.events[0]?.data.id, readers.live.events[0]?.data.id)
})

test('an event says what the interface says elsewhere', async (t) => {
  const approver = await gate.key({ roles: ['approver'] })
  const readers = { approver: await open(t, approver), owner: await open(t, owner), agent: await open(t, agent) }
  const { approvalId, decisionId } = await check(agent, freshHold())
  const shown = async (key: Key) => (await gate.call(key, 'GET', `/approvals/${approvalId}`)).body.data
  for (const [reader, key] of [
    [readers.approver, approver],
    [readers.agent, agent],
    [readers.owner, owner],
  ] as const) {
    const requested = await reader.find(({ event }) => event === 'approval.requested')
    assert.deepEqual(requested.data.data, await shown(key))
  }
  await post(owner, `/approvals/${approvalId}/reject`, { approverId: 'x', reason: 'no' })
  const rejected = await readers.agent.find(({ event }) => event === 'approval.rejected')
  assert.deepEqual(rejected.data.data, await shown(agent))

  const entry = async (type: string) =>
    (await gate.call(owner, 'GET', '/audit/chain?limit=20')).body.data.find(
      ({ eventType }: { eventType: string }) => eventType === type,
    )
  const decision = await readers.owner.find(({ event }) => event === 'gate.decision')
  const { id, timestamp, eventType, data } = await entry('gate.decision')
  assert.deepEqual(decision.data, { id, timestamp, eventType, data })
  assert.equal(data.id, decisionId)
  assert.deepEqual((await readers.agent.find(({ event }) => event === 'gate.decision')).data, decision.data)

  const { switches } = await post(owner, '/killswitch/trigger', { level: 'L1', scope: 'email.*', ...STOP })
  const triggered = await readers.agent.find(({ event }) => event === 'killswitch.triggered')
  assert.deepEqual(triggered.data.data, { ...switches[0], recoveredAt: null, recoveredBy: null })
  await post(owner, '/killswitch/recover', { recoveredBy: 'bob', comment: 'a private word' })
  const recovered = await readers.agent.find(({ event }) => event === 'killswitch.recovered')
  assert.equal(recovered.data.data.id, switches[0].id)
  assert.equal(recovered.data.data.recoveredBy, 'bob')
  assert.doesNotMatch(readers.agent.text(), /private/)
})

const REASON_ONLY = ACME_POLICY.replace('tenant: acme', 'tenant: acme\nexplain: reason')
const RULE_OR_FACTOR = /"large"|"amount","weight/

test('where the policy gives agents the reason only, so does the stream', async (t) => {
  const closed = await startGate(t, { policies: { 'acme/main.yaml': REASON_ONLY } })
  const keys = { agent: await closed.key({ roles: ['agent'] }), owner: await closed.key() }
  const [mine, all] = await Promise.all([keys.agent, keys.owner].map((key) => openStream(t, closed.server.url, key)))
  await check(keys.agent, hold(5000), closed)
  for (const type of ['gate.decision', 'approval.requested']) {
    const told = (await mine?.find(({ event }) => event === type))?.data.data
    const whole = (await all?.find(({ event }) => event === type))?.data.data
    assert.deepEqual([told.rule, whole.rule, told.reason], [null, 'large', whole.reason])
    if (type === 'approval.requested') assert.deepEqual([told.factors, whole.factors.length], [[], 1])
  }
  assert.doesNotMatch(mine?.text() ?? '', RULE_OR_FACTOR)
})

test('where the policy gives agents the reason only, an event that an owner got first tells no more', async (t) => {
  const closed = await startGate(t, { policies: { 'acme/main.yaml': REASON_ONLY } })
  const keys = [await closed.key(), await closed.key({ roles: ['agent'] })] as const
  await check(keys[1], hold(5000), closed)
  const { store } = closed.server
  const length = await lengthOf(store, 'acme/live')
  const types = ['gate.decision', 'approval.requested']
  // The order of two streams that share a batch is a matter of milliseconds, so the batch is read without them.
  const { events } = await eventsFrom(store, { chain: 'acme/live', types, first: 0, length })
  assert.equal(events.length, types.length)
  const newId = idMaker(Date.now, randomBytes)
  const policies = { get: () => load({ 'main.yaml': REASON_ONLY }).set }
  const deps = { store, clock: Date.now, newId, policies, history: historyReader(store) }
  for (const event of events) {
    const [whole, told] = keys.map(({ id }) => {
      const key = store.state().keys.get(id) ?? assert.fail()
      return eventForCaller(deps, callerOf(key, 'acme'), event) ?? assert.fail()
    })
    assert.match(whole ?? '', RULE_OR_FACTOR)
    assert.doesNotMatch(told ?? '', RULE_OR_FACTOR)
  }
})

test('keys of one identity are told of each other’s decisions and approvals, other agents are not', async (t) => {
  const options: KeyOptions = { roles: ['agent'], identity: 'billing' }
  const [first, second] = [await gate.key(options), await gate.key(options)]
  const readers = { same: await open(t, first), other: await open(t, agent) }
  const { decisionId } = await check(second, freshHold())
  assert.equal((await readers.same.find(({ event }) => event === 'gate.decision')).data.data.id, decisionId)
  await readers.same.find(({ event }) => event === 'approval.requested')
  assert.deepEqual(readers.other.events, [])
})

test('an L4 stop reaches every tenant, live and test; nothing else of the service or of other tenants does', async (t) => {
  const keys = await Promise.all([
    gate.key({ roles: ['agent'] }),
    gate.key({ roles: ['operator'], environment: 'test' }),
    gate.key({ tenant: 'globex' }),
    gate.key({ tenant: 'globex', environment: 'test' }),
  ])
  const readers = await Promise.all(keys.map((key) => open(t, key)))
  const [, , , globexTest] = readers
  const begin = readers.map((reader) => reader.lastId())
  await everything(gate, { asker: agent, decider: owner, all: owner })
  await gate.key({ tenant: 'initech' })
  await gate.key({ roles: ['admin'] })
  await sleep(300)
  // Positions in other chains say nothing of what happens there.
  for (const i of [1, 3]) assert.equal((await open(t, keys[i] ?? owner)).lastId(), begin[i])
  await post(admin, '/killswitch/trigger', { level: 'L4', ...STOP })
  await post(admin, '/killswitch/recover', OVER)
  for (const [i, reader] of readers.entries()) {
    const { data } = await reader.find(({ data: told }) => told.data.level === 'L4' && told.data.recoveredAt !== null)
    assert.deepEqual([i, data.data.scope], [i, 'global'])
  }
  const told = globexTest?.events.filter(({ event }) => !event.startsWith('policy.')).map(({ event }) => event)
  assert.deepEqual(told, ['killswitch.triggered', 'killswitch.recovered'])
  assert.doesNotMatch(readers[3]?.text() ?? '', /acme|initech/)
  assert.doesNotMatch(readers[2]?.text() ?? '', /acme|initech/)
  assert.doesNotMatch(readers[1]?.text() ?? '', /payment|decision/)
})

test('the answer: its headers, the position that it starts at, and nothing of the past', async (t) => {
  const reader = await open(t, agent)
  assert.equal(reader.status, 200)
  const { headers } = reader
  assert.equal(headers['content-type'], 'text/event-stream')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-accel-buffering'], 'no')
  assert.match(String(headers['x-request-id']), /^req_/)
  assert.match(String(headers['ratelimit-policy']), /"status";q=600/)
  await sleep(50)
  assert.equal(reader.retry(), 1000)
  assert.match(reader.lastId(), /^\d+-\d+(~1:\d+)?$/)
  assert.deepEqual(reader.events, [])
})

test('what happened between two connections is told, though the first one saw nothing', async (t) => {
  const first = await open(t, agent)
  await sleep(50)
  first.close()
  const { decisionId } = await check(agent, freshHold())
  const second = await open(t, agent, first.lastId())
  assert.equal((await second.find(({ event }) => event === 'gate.decision')).data.data.id, decisionId)
})

const POSITIONS = [
  '',
  'x',
  '1',
  '1-',
  '-1',
  '1-1-1',
  '01-0',
  '1-0.0',
  '1e1-0',
  '0-0 ',
  '0-0,0-0',
  `${10 ** 16}-0`,
  '99999999-0',
  '0-99999999',
]
for (const id of POSITIONS) {
  const isTrimmed = id === '0-0 '
  test(`Last-Event-ID "${id}" is ${isTrimmed ? 'taken' : 'refused'}`, async (t) => {
    if (isTrimmed) assert.equal((await open(t, agent, id)).status, 200)
    else assertRefused(await refused(agent, { 'last-event-id': id }), 'invalid_request')
  })
}

test('errors before the stream are ordinary answers', async () => {
  assertRefused(await refused({ ...agent, secret: 'sk_live_x' }), 'unauthenticated')
  assertRefused(await refused({ ...agent, tenant: 'globex' }), 'tenant_mismatch')
  assertRefused(await refused(agent, {}, '/events?from=1'), 'invalid_request')
  assertRefused(await gate.call(agent, 'POST', '/events', {}), 'method_not_allowed')
  const head = await fetch(`${url}/events`, {
    method: 'HEAD',
    headers: { 'x-api-key': agent.secret, 'x-tenant-id': 'acme' },
  })
  assert.equal(head.status, 200)
})

test('a key reads 32 streams at most, and has its place back when one ends', async (t) => {
  const many = await gate.key({ roles: ['agent'] })
  const readers = await Promise.all(Array.from({ length: 32 }, () => open(t, many)))
  assertRefused(await refused(many), 'overloaded')
  assert.equal((await open(t, agent)).status, 200)
  // One that is refused for another reason takes none.
  readers[0]?.close()
  const wrong = { 'last-event-id': 'x' }
  await until('its place is back', async () => (await refused(many, wrong)).body.error !== 'overloaded')
  for (let i = 0; i < 3; i += 1) assertRefused(await refused(many, wrong), 'invalid_request')
  assert.equal((await open(t, many)).status, 200)
})

test('a client that has asked for many streams on one connection gives all their places back when it goes', async (t) => {
  const many = await gate.key({ roles: ['agent'] })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.after(() => void socket.destroy())
  socket.write(requestText(many, 'GET /events', { Connection: null }).repeat(32))
  // The first has begun, and the others came with it.
  await once(socket, 'data')
  await sleep(300)
  assertRefused(await refused(many), 'overloaded')
  socket.destroy()
  for (let i = 0; i < 32; i += 1)
    await until(`place ${i + 1} is back`, async () => (await open(t, many)).status === 200)
})

test('an event comes of itself after its commit, before anything else happens', async (t) => {
  const reader = await open(t, agent)
  for (let i = 0; i < 5; i += 1) {
    const { decisionId } = await check(agent, { tenantId: 'acme', action: 'email.send' })
    await reader.find(({ data }) => data.data.id === decisionId)
  }
})

test('without events there is a sign of life each 15 s, and the connection stays', async () => {
  const seen = quiet.comments()
  await until('a sign of life', () => quiet.comments() > seen)
  // One is there at once. Where the machine is busy, each comes a little later.
  const signs = (performance.now() - quietBegin) / 15_000
  assert.equal(quiet.comments() <= 1 + signs, true)
  assert.equal(quiet.comments() >= 1 + Math.floor(signs * 0.8), true, `${quiet.comments()} in ${signs * 15} s`)
  assert.deepEqual(quiet.events, [])
})
