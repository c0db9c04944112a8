import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries, entriesOf } from '../http/support.ts'

type Key = Awaited<ReturnType<Gate['key']>>
const ASK = { reason: 'drill', triggeredBy: 'ann' }
const OVER = { recoveredBy: 'ann', comment: 'over' }

/** The service, and what an operator and an agent do with it. */
async function station(t: Parameters<typeof startGate>[0], options: Parameters<typeof startGate>[1] = {}) {
  const gate = await startGate(t, options)
  const operator = await gate.key({ roles: ['operator'] })
  const agent = await gate.key({ roles: ['agent'] })
  const post = (path: string, body: object, key: Key = operator) => gate.call(key, 'POST', path, body)
  return {
    gate,
    operator,
    agent,
    trigger: (body: object, key?: Key): Promise<Answer> => post('/killswitch/trigger', { ...ASK, ...body }, key),
    recover: (body: object = {}, key?: Key): Promise<Answer> => post('/killswitch/recover', { ...OVER, ...body }, key),
    status: async (key: Key = operator): Promise<Answer['body']> =>
      (await gate.call(key, 'GET', '/killswitch/status')).body.data,
    /** Returns the `decidedBy` of a check of the action now. */
    decidedBy: async (action: string, key: Key = agent): Promise<string> => {
      const body = { tenantId: key.tenant, action, context: { amount: 5 } }
      return (await gate.call(key, 'POST', '/gate/check', body)).body.data.decidedBy
    },
  }
}

const PAY = 'payment.transfer'
const MAIL = 'email.send'
const OTHER = 'unknown.action'

const STOPS: [name: string, body: object, scope: string, stopped: string[], free: string[]][] = [
  ['L1 an action', { level: 'L1', scope: PAY }, PAY, [PAY], ['payment.refund', MAIL]],
  ['L1 a glob', { level: 'L1', scope: 'payment.*' }, 'payment.*', [PAY, 'payment.refund'], [MAIL, 'payment.a.b']],
  ['L1 without scope', { level: 'L1' }, '*', [PAY, MAIL, OTHER], []],
  ['L1 *', { level: 'L1', scope: '*' }, '*', [PAY, MAIL, 'a.b.c'], []],
  ['L2 a domain', { level: 'L2', scope: 'finance' }, 'finance', [PAY, 'payment.refund'], [MAIL, OTHER]],
  ['L2 without scope', { level: 'L2' }, '*', [PAY, MAIL, OTHER], []],
  ['L3', { level: 'L3' }, 'acme', [PAY, MAIL, OTHER], []],
  ['L3 by name', { level: 'L3', scope: 'acme' }, 'acme', [PAY, MAIL, OTHER], []],
]

// The first of this process: a shape is compiled once.
test('the first stop waits for no shape to be compiled, as the end of one does', async (t) => {
  const { trigger, recover, status } = await station(t)
  await status()
  const compile = t.mock.method(Ajv2020.prototype, 'compile')
  assertDone(await trigger({ level: 'L3' }))
  assert.equal(compile.mock.callCount(), 0)
  assertDone(await recover())
  assert.equal(compile.mock.callCount(), 1)
})

test('each level stops what it says, and recover ends it', async (t) => {
  const { trigger, recover, status, decidedBy } = await station(t)
  for (const [name, body, scope, stopped, free] of STOPS) {
    const answer = await trigger(body)
    assertDone(answer)
    assert.equal(answer.body.data.scope, scope, name)
    const { active, level, triggeredBy, reason, switches } = await status()
    assert.deepEqual({ active, level, triggeredBy, reason }, { active: true, level: name.slice(0, 2), ...ASK }, name)
    assert.equal(switches.length, 1)
    for (const action of stopped) assert.equal(await decidedBy(action), 'kill_switch', `${name}: ${action}`)
    for (const action of free) assert.notEqual(await decidedBy(action), 'kill_switch', `${name}: ${action}`)
    assertDone(await recover())
    assert.deepEqual(await status(), { active: false, level: null, scope: null, switches: [] }, name)
    assert.notEqual(await decidedBy(stopped[0] ?? ''), 'kill_switch', name)
  }
})

test('a scope that names nothing is refused, and nothing is stopped', async (t) => {
  const { gate, trigger, status } = await station(t)
  const before = await entries(gate)
  for (const body of [
    { level: 'L2', scope: 'finanse' },
    { level: 'L2', scope: 'Finance' },
    { level: 'L2', scope: 'payment.*' },
    { level: 'L2', scope: 'toString' },
    { level: 'L3', scope: 'other' },
    { level: 'L1', scope: 'a b' },
    { level: 'L1', scope: 'a**b' },
  ]) {
    assertRefused(await trigger(body), 'invalid_request', JSON.stringify(body))
  }
  const { body } = await trigger({ level: 'L2', scope: 'finanse' })
  assert.equal(body.details[0].path, '/scope')
  for (const known of ['finance', 'communication']) assert.ok(body.message.includes(known))
  assert.equal((await status()).active, false)
  assert.equal(await entries(gate), before)
})

test('a trigger tells what it covers, and warns when an L1 covers nothing known', async (t) => {
  const { trigger, decidedBy } = await station(t)
  await decidedBy('payment.refund')
  assert.deepEqual((await trigger({ level: 'L1', scope: 'payment.*' })).body.data.covers, ['payment.refund', PAY])
  const typo = (await trigger({ level: 'L1', scope: 'paymnt.*' })).body.data
  assert.deepEqual(typo.covers, [])
  assert.ok(typo.warning)
  assert.equal((await trigger({ level: 'L1', scope: PAY })).body.data.warning, null)
  assert.equal(await decidedBy('paymnt.x'), 'kill_switch', 'it is a stop all the same')
})

test('several at once: the strongest is reported, each is ended by name', async (t) => {
  const { trigger, recover, status, decidedBy } = await station(t)
  await trigger({ level: 'L1', scope: MAIL })
  await trigger({ level: 'L3', reason: 'all' })
  await trigger({ level: 'L2', scope: 'finance' })
  const now = await status()
  assert.deepEqual([now.level, now.scope, now.reason], ['L3', 'acme', 'all'])
  assert.deepEqual(
    now.switches.map(({ level }: Answer['body']) => level),
    ['L3', 'L2', 'L1'],
  )
  assert.equal((await recover()).body.data.level, 'L2')
  assertRefused(await recover({ level: 'L3' }), 'kill_switch_inactive')
  assertRefused(await recover({ level: 'L1', scope: PAY }), 'kill_switch_inactive')
  assert.equal((await recover({ level: 'L1', scope: MAIL })).body.data.level, 'L2')
  assert.notEqual(await decidedBy(MAIL), 'kill_switch')
  assert.equal(await decidedBy(PAY), 'kill_switch')
  assert.equal((await recover({ scope: 'finance' })).body.data.active, false)
  assertRefused(await recover(), 'kill_switch_inactive')
})

test('the same trigger again succeeds, is audited, and stays one stop', async (t) => {
  const { gate, trigger, recover, status } = await station(t)
  const first = (await trigger({ level: 'L3' })).body.data
  const second = await trigger({ level: 'L3', reason: 'again', triggeredBy: 'bob' })
  assertDone(second)
  assert.equal(second.body.data.switches.length, 1)
  assert.equal(second.body.data.triggeredAt, first.triggeredAt)
  assert.equal(await entriesOf(gate, 'killswitch.triggered'), 2)
  assert.equal((await recover()).body.data.active, false)
  assert.equal((await status()).active, false)
})

test('triggers at once are one stop', async (t) => {
  const { trigger, status, recover } = await station(t)
  for (const answer of await Promise.all([1, 2, 3, 4].map(() => trigger({ level: 'L3' })))) assertDone(answer)
  assert.equal((await status()).switches.length, 1)
  assert.equal((await recover()).body.data.active, false)
})

test('a recovery of the same stop at once is one recovery', async (t) => {
  const { gate, trigger, recover } = await station(t)
  await trigger({ level: 'L3' })
  const answers = await Promise.all([recover(), recover(), recover()])
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409])
  assert.equal(await entriesOf(gate, 'killswitch.recovered'), 1)
})

test('a stop that is named by its id is ended alone, not the one that came in its place', async (t) => {
  const { gate, trigger, recover, status } = await station(t)
  const stop = { level: 'L1', scope: PAY }
  const idOf = (answer: Answer): string => answer.body.data.switches.at(-1).id
  const first = idOf(await trigger(stop))
  assertDone(await recover({ ...stop, id: first }))
  await trigger({ level: 'L3' })
  const second = idOf(await trigger(stop))
  const before = await entries(gate)
  assertRefused(await recover({ ...stop, id: first }), 'kill_switch_inactive')
  assertRefused(await recover({ id: first }), 'kill_switch_inactive')
  assertRefused(await recover({ level: 'L3', id: second }), 'kill_switch_inactive')
  assertRefused(await recover({ id: '' }), 'invalid_request')
  assert.equal(await entries(gate), before)
  const other = await gate.key({ tenant: 'other' })
  assertRefused(await recover({ id: second }, other), 'kill_switch_inactive')
  const answers = await Promise.all([recover({ id: second }), recover({ id: second })])
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409])
  assert.deepEqual(
    (await status()).switches.map(({ level }: { level: string }) => level),
    ['L3'],
  )
})

test('a stop is in force after a restart, and ends after one', async (t) => {
  const first = await station(t)
  await first.trigger({ level: 'L2', scope: 'finance' })
  const told = await first.status()
  await first.gate.server.close()
  const second = await station(t, { dir: first.gate.dir })
  assert.deepEqual(await second.status(), told)
  assert.equal(await second.decidedBy(PAY), 'kill_switch')
  assert.notEqual(await second.decidedBy(MAIL), 'kill_switch')
  await second.recover()
  await second.gate.server.close()
  const third = await station(t, { dir: first.gate.dir })
  assert.equal((await third.status()).active, false)
})

test('a stop outlives a change of the policy: what its domain was and what it is', async (t) => {
  const policy = (domains: string) =>
    `apiVersion: gate-sidecar/v1\ntenant: acme\ndomains: ${domains}\nrules:\n  - {id: a, actions: ["**"], effect: allow, reason: Yes.}\n`
  const first = await station(t, { policies: { 'acme/main.yaml': policy('{finance: ["payment.*"]}') } })
  await first.trigger({ level: 'L2', scope: 'finance' })
  await first.gate.server.close()
  const second = await station(t, {
    dir: first.gate.dir,
    policies: { 'acme/main.yaml': policy('{finance: ["wire.*"], old: ["payment.*"]}') },
  })
  for (const action of ['payment.a', 'wire.a']) assert.equal(await second.decidedBy(action), 'kill_switch', action)
  assert.equal(await second.decidedBy('mail.a'), 'allow_rule')
})

test('L4 stops every tenant, live and test; only an admin sets or ends it', async (t) => {
  const { gate, operator, trigger, recover, status, decidedBy } = await station(t)
  const admin = await gate.key({ roles: ['admin'] })
  const others = [
    await gate.key({ tenant: 'other' }),
    await gate.key({ environment: 'test' }),
    await gate.key({ tenant: 'other', environment: 'test' }),
  ]
  assertRefused(await trigger({ level: 'L4' }), 'forbidden')
  assertRefused(await trigger({ level: 'L4' }, others[0]), 'forbidden')
  assertRefused(await trigger({ level: 'L4', scope: 'acme' }, admin), 'invalid_request')
  await trigger({ level: 'L1', scope: MAIL })
  const answer = await trigger({ level: 'L4' }, admin)
  assert.deepEqual([answer.body.data.level, answer.body.data.scope], ['L4', 'global'])
  for (const key of others) {
    assert.deepEqual([(await status(key)).level, await decidedBy(MAIL, key)], ['L4', 'kill_switch'])
    assertRefused(await recover({}, key), 'forbidden')
    assertRefused(await recover({ level: 'L4' }, key), 'forbidden')
  }
  assert.equal((await recover({ level: 'L1' }, operator)).body.data.level, 'L4')
  assertDone(await recover({}, { ...admin, tenant: 'other' }))
  for (const key of others) assert.equal((await status(key)).active, false)
})

test('another tenant is neither stopped nor told', async (t) => {
  const { gate, trigger, status, decidedBy } = await station(t)
  const other = await gate.key({ tenant: 'other' })
  const sandbox = await gate.key({ environment: 'test' })
  await trigger({ level: 'L3' })
  for (const key of [other, sandbox]) {
    assert.equal((await status(key)).active, false)
    assert.notEqual(await decidedBy(MAIL, key), 'kill_switch')
  }
})

test('who called is recorded beside who is claimed', async (t) => {
  const { gate, operator, trigger, recover } = await station(t)
  const owner = await gate.key()
  await trigger({ level: 'L3', triggeredBy: 'the-boss' })
  await recover({ recoveredBy: 'the-boss' })
  for (const [type, claim] of [
    ['killswitch.triggered', 'triggeredBy'],
    ['killswitch.recovered', 'recoveredBy'],
  ]) {
    const { data } = (await gate.call(owner, 'GET', `/audit/chain?eventType=${type}`)).body
    assert.equal(data[0].actor.id, operator.id, type)
    assert.equal(data[0].data.changes[claim ?? ''], 'the-boss', type)
  }
})
