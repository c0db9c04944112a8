import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_ROLES, type EventGroup, mayReceive, mayReceiveAll } from '../../src/keys/event-roles.ts'
import { isAdmin, ROLES, seesAllApprovals } from '../../src/keys/roles.ts'
import { mayCall, ROUTES } from '../../src/keys/routes.ts'

test('only these routes need no key', () => {
  const open = Object.entries(ROUTES).filter(([, { roles }]) => roles === 'public')
  assert.deepEqual(
    new Set(open.map(([id]) => id)),
    new Set(['healthz', 'readyz', 'metrics', 'openapi', 'authzenConfiguration']),
  )
})

test('several roles add up, and none give nothing', () => {
  assert.equal(mayCall(ROUTES.approve, ['agent', 'approver']), true)
  assert.equal(mayCall(ROUTES.approve, ['agent', 'auditor', 'operator']), false)
  assert.equal(mayCall(ROUTES.check, []), false)
})

test('agents see their own approvals only', () => {
  const all = ROLES.filter((role) => seesAllApprovals([role]))
  assert.deepEqual(all, ['approver', 'owner', 'admin'])
})

test('each role is told of its groups of events, and owner and admin of all', () => {
  const groups = Object.keys(EVENT_ROLES) as EventGroup[]
  const told = ROLES.map((role) => [role, groups.filter((group) => mayReceive(group, [role]))])
  const all = ['approval', 'gate', 'outcome', 'killswitch', 'policy']
  assert.deepEqual(Object.fromEntries(told), {
    agent: ['approval', 'gate', 'killswitch'],
    approver: ['approval', 'killswitch', 'policy'],
    auditor: all,
    operator: ['outcome', 'killswitch', 'policy'],
    owner: all,
    admin: all,
  })
})

test('of policies that are not in force, only those are told who may ask for them', () => {
  for (const type of [
    ...['policy.shadowed', 'policy.replayed', 'policy.compared', 'policy.overridden', 'policy.promoted'],
  ])
    assert.deepEqual(
      ROLES.filter((role) => mayReceive('policy', [role], type)),
      ['auditor', 'owner', 'admin'],
    )
})

test('an agent is told of its own approvals and decisions, unless another role of its key says more', () => {
  for (const group of ['approval', 'gate'] as const) {
    assert.equal(mayReceiveAll(group, ['agent']), false)
    assert.equal(mayReceiveAll(group, ['agent', 'auditor']), true)
  }
  assert.equal(mayReceiveAll('gate', ['agent', 'approver']), false)
  assert.equal(mayReceiveAll('approval', ['agent', 'operator']), false)
})

test('only admin is admin', () => {
  assert.deepEqual(
    ROLES.filter((role) => isAdmin([role])),
    ['admin'],
  )
})

test('stopping and deciding are never limited by the plan', () => {
  const exempt = Object.entries(ROUTES).filter(([, { limit }]) => limit === 'exempt')
  assert.deepEqual(
    new Set(exempt.map(([id]) => id)),
    new Set([
      'outcome',
      'trigger',
      'recover',
      'approve',
      'reject',
      'cancelApproval',
      'revokeKey',
      'endSession',
      'openapi',
      'healthz',
      'metrics',
      'readyz',
      'authzenConfiguration',
    ]),
  )
})

test('Idempotency-Key is taken where INTERFACE.md says', () => {
  const idempotent = Object.entries(ROUTES).filter(([, rule]) => 'idempotent' in rule)
  assert.deepEqual(
    new Set(idempotent.map(([id]) => id)),
    new Set(['check', 'outcome', 'auditLog', 'approve', 'reject', 'trigger', 'recover']),
  )
})
