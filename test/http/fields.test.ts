import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startGate } from '../helpers.ts'
import { assertDone, assertRefused, entries } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key()
const LONG = 'x'.repeat(2001)

/** For each route a body that is taken, its required fields, and values that a field does not take. */
const BODIES: {
  path: string
  body: Record<string, unknown>
  required: readonly string[]
  wrong: Readonly<Record<string, readonly unknown[]>>
}[] = [
  {
    path: '/gate/check',
    body: { tenantId: 'acme', action: 'email.send', context: {}, plan: { action: 'email.send' }, approvalId: 'apr_x' },
    required: ['tenantId', 'action'],
    wrong: {
      tenantId: [1, null, {}],
      action: ['', ' ', 'a b', 'a\n', '\na', '*', 'email.*', '.a', 'é', 'x'.repeat(129), 7, null, ['email.send']],
      context: [null, [], 'x', 1],
      plan: [null, [], 'x', 1],
      approvalId: [null, 1, 'x'.repeat(65)],
    },
  },
  {
    path: '/gate/risk',
    body: { tenantId: 'acme', action: 'email.send', context: {}, plan: {} },
    required: ['action'],
    wrong: { tenantId: [1], action: ['', 'a b', 7], context: [null, []], plan: [null, []] },
  },
  {
    path: '/audit/log',
    body: { tenantId: 'acme', eventType: 'my.note', data: { a: 1 }, userId: 'ann' },
    required: ['eventType', 'data'],
    wrong: {
      eventType: ['', 'a b', 'my.note\n', 'x'.repeat(129), 1, null],
      data: [null, [], 'x', 1],
      userId: [1, null, 'x'.repeat(257)],
    },
  },
  {
    path: '/audit/verify',
    body: { tenantId: 'acme', startDate: '2026-01-01', endDate: '2026-01-02' },
    required: ['startDate', 'endDate'],
    wrong: {
      startDate: [
        '2026-02-30',
        '0000',
        '2026-1-1',
        '2026-01-01T00:00:00Z',
        '2026-13-01',
        '2026-00-10',
        '01-01-2026',
        '',
        20260101,
        null,
      ],
      endDate: [
        '2025-12-31',
        '2026-02-30',
        '2026-04-31',
        '2100-02-29',
        'tomorrow',
        '2026-01-02\n',
        ' 2026-01-02',
        '+12026-01-02',
        null,
      ],
    },
  },
  {
    path: '/killswitch/trigger',
    body: { tenantId: 'acme', level: 'L1', scope: 'nothing.at.all', reason: 'drill', triggeredBy: 'ann' },
    required: ['level', 'reason', 'triggeredBy'],
    wrong: {
      level: ['L0', 'L5', 'l1', '', 1, null],
      scope: ['', 'a b', 'a**', 'payment.*\n', 1, null, 'x'.repeat(129)],
      reason: ['', LONG, 1, null],
      triggeredBy: ['', 'x'.repeat(257), 1, null],
    },
  },
  {
    path: '/killswitch/recover',
    body: { tenantId: 'acme', level: 'L1', scope: 'nothing.at.all', recoveredBy: 'ann', comment: 'over' },
    required: ['recoveredBy', 'comment'],
    wrong: {
      level: ['L5', 1, null],
      scope: ['', 1, null],
      recoveredBy: ['', 'x'.repeat(257), 1, null],
      comment: ['', LONG, 1, null],
    },
  },
  {
    path: '/killswitch/preview',
    body: { tenantId: 'acme', level: 'L1', scope: 'nothing.at.all' },
    required: ['level'],
    wrong: {
      level: ['L0', 'l1', '', 1, null],
      scope: ['', 'a b', 'a**', 'payment.*\n', 1, null, 'x'.repeat(129)],
    },
  },
  {
    path: '/keys',
    body: {
      tenantId: 'acme',
      roles: ['agent'],
      environment: 'test',
      name: 'n',
      identity: 'i',
      groups: ['g'],
      expiresAt: '2099-01-01T00:00:00.000Z',
    },
    required: ['roles'],
    wrong: {
      roles: [[], ['root'], 'agent', [1], null, new Array(7).fill('agent')],
      environment: ['prod', 'Live', '', 1, null],
      name: ['', 'x'.repeat(129), 1, null],
      identity: ['', 'x'.repeat(129), 1, null],
      groups: ['g', [''], [1], new Array(33).fill('g'), null],
      expiresAt: [
        '2020-01-01T00:00:00.000Z',
        '2020-01-01T00:00:00+02:00',
        '2099-01-01T00:00:00',
        '2099-01-01',
        '2099-02-30T00:00:00.000Z',
        'never',
        '',
        1,
        null,
      ],
    },
  },
  {
    path: '/evidence/verify',
    body: { tenantId: 'acme', bundle: {} },
    required: ['bundle'],
    wrong: { bundle: [null, [], 'x', 1] },
  },
]

for (const { path, body, required, wrong } of BODIES) {
  const refused = async (sent: unknown, note: string): Promise<void> => {
    const answer = await gate.call(owner, 'POST', path, sent)
    assertRefused(answer, 'invalid_request', note)
  }
  const without = (field: string) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== field))

  test(`${path} needs ${required.join(', ')} and nothing else`, async () => {
    const before = await entries(gate)
    for (const field of required) await refused(without(field), `without ${field}`)
    assert.equal(await entries(gate), before)
    assertDone(await gate.call(owner, 'POST', path, body))
    if (path === '/killswitch/recover') return
    assertDone(await gate.call(owner, 'POST', path, Object.fromEntries(required.map((field) => [field, body[field]]))))
  })

  test(`${path} says where the fault is, and refuses what it does not know`, async () => {
    const before = await entries(gate)
    const field = required[0] ?? ''
    const missing = await gate.call(owner, 'POST', path, without(field))
    assert.deepEqual(missing.body.details, [{ path: `/${field}`, message: 'is required' }])
    const unknown = await gate.call(owner, 'POST', path, { ...body, 'odd/~name': 1 })
    assertRefused(unknown, 'invalid_request')
    assert.equal(unknown.body.details[0].path, '/odd~1~0name')
    for (const whole of [[], [body], 'text', 7, null, true]) await refused(JSON.stringify(whole), JSON.stringify(whole))
    assert.equal(await entries(gate), before)
  })

  test(`${path} refuses values that are not of the field`, async () => {
    const before = await entries(gate)
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values)
        await refused({ ...body, [name]: value }, `${name} ${JSON.stringify(value)}`.slice(0, 60))
    }
    assert.equal(await entries(gate), before)
  })
}

const RESERVED = [
  'gate.decision',
  'approval.approved',
  'killswitch.x',
  'key.created',
  'policy.x',
  'audit.x',
  'log.x',
  'clock.x',
  'tenant.x',
]
const ALSO_RESERVED = [
  'system.x',
  'config.x',
  'session.x',
  'grant.x',
  'outcome.x',
  'webhook.x',
  'evidence.x',
  'auth.refused',
  'gate',
  'Gate.decision',
]

for (const eventType of [...RESERVED, ...ALSO_RESERVED]) {
  test(`nobody writes ${eventType} but the service`, async () => {
    assertRefused(await gate.call(owner, 'POST', '/audit/log', { eventType, data: {} }), 'invalid_request')
  })
}

for (const eventType of ['gates', 'gated.x', 'my.gate.decision', 'keys:a/b-c']) {
  test(`a caller may write ${eventType}`, async () => {
    const { body } = await gate.call(owner, 'POST', '/audit/log', { eventType, data: { a: [1] }, userId: 'ann' })
    assert.equal(body.data.eventType, eventType)
    assert.deepEqual(body.data.data, { a: [1] })
    assert.equal(body.data.actor.id, owner.id)
    assert.equal(body.data.actor.claimedUserId, 'ann')
  })
}
