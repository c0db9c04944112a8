import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ROLES, type Role } from '../../src/keys/roles.ts'
import { type KeyedRouteId, ROUTES, type RouteRule } from '../../src/keys/routes.ts'
import { startGate } from '../helpers.ts'
import { assertDone, assertRefused, assertRefusedBy, codeIn, entries, entriesOf } from './support.ts'

const gate = await startGate({ after })
const keys = new Map(await Promise.all(ROLES.map(async (role) => [role, await gate.key({ roles: [role] })] as const)))
const keyOf = (role: Role) => keys.get(role) ?? { id: '', secret: '', tenant: '' }

/** Every role but owner and admin, which may do everything. */
const EVERY: readonly Role[] = ['agent', 'approver', 'auditor', 'operator']

/** For each route the roles that it takes, and a request that reaches the action and changes nothing there, with its error code. */
const PROBES: Record<KeyedRouteId, [roles: readonly Role[], body: unknown, code: string | undefined]> = {
  check: [['agent'], {}, 'invalid_request'],
  outcome: [['agent'], { decisionId: 'x', status: 'succeeded' }, 'not_found'],
  risk: [['agent'], {}, 'invalid_request'],
  listApprovals: [['agent', 'approver'], undefined, undefined],
  getApproval: [['agent', 'approver'], undefined, 'not_found'],
  approve: [['approver'], { approverId: 'x' }, 'not_found'],
  reject: [['approver'], { approverId: 'x' }, 'not_found'],
  cancelApproval: [['agent', 'approver'], {}, 'not_found'],
  auditChain: [['auditor'], undefined, undefined],
  auditVerify: [['auditor'], {}, 'invalid_request'],
  auditLog: [['agent'], {}, 'invalid_request'],
  getDecision: [['auditor'], undefined, 'not_found'],
  listDecisions: [['auditor'], undefined, undefined],
  decisionTimeline: [['auditor'], undefined, 'not_found'],
  approvalBackground: [['approver'], undefined, 'not_found'],
  auditVerifyLive: [['auditor'], undefined, 'invalid_request'],
  exportBundle: [['auditor'], undefined, 'not_found'],
  verifyBundle: [EVERY, { bundle: {} }, undefined],
  killSwitchStatus: [EVERY, undefined, undefined],
  trigger: [['operator'], {}, 'invalid_request'],
  recover: [['operator'], { recoveredBy: 'x', comment: 'x' }, 'kill_switch_inactive'],
  listKeys: [['auditor'], undefined, undefined],
  createKey: [[], {}, 'invalid_request'],
  revokeKey: [[], undefined, 'not_found'],
  rotateKey: [[], {}, 'not_found'],
  usage: [['auditor', 'operator'], undefined, undefined],
  previewStop: [['operator'], { level: 'L1', scope: 'a**b' }, 'invalid_request'],
  killSwitchHistory: [['auditor', 'operator'], undefined, undefined],
  shadowPolicies: [['auditor'], undefined, undefined],
  listPolicies: [['approver', 'auditor', 'operator'], undefined, undefined],
  validatePolicies: [['auditor', 'operator'], {}, 'invalid_request'],
  reloadPolicies: [['operator'], undefined, undefined],
  policySource: [['auditor', 'operator'], undefined, undefined],
  dryRun: [['auditor', 'operator'], {}, 'invalid_request'],
  replayPolicies: [['auditor'], {}, 'invalid_request'],
  getReplay: [['auditor'], undefined, 'not_found'],
  replayChanges: [['auditor'], undefined, 'not_found'],
  cancelReplay: [['auditor'], undefined, 'not_found'],
  exportPolicyChange: [['auditor'], undefined, 'not_found'],
  sealReplay: [['auditor'], undefined, 'not_found'],
  overview: [['auditor', 'operator'], undefined, undefined],
  events: [EVERY, undefined, 'invalid_request'],
  openSession: [EVERY, undefined, undefined],
  getSession: [EVERY, undefined, undefined],
  endSession: [EVERY, undefined, 'not_found'],
  signInCode: [EVERY, undefined, undefined],
  opaDecision: [['agent'], { input: {} }, 'invalid_request'],
  opaAllow: [['agent'], { input: {} }, 'invalid_request'],
  evaluation: [['agent'], {}, 'invalid_request'],
  evaluations: [['agent'], {}, 'invalid_request'],
  requestAccess: [['agent'], {}, 'invalid_request'],
  accessRequest: [['agent'], undefined, 'not_found'],
  claudeCodeHook: [['agent'], {}, 'invalid_request'],
}

/** Refused by the event stream, which would not end; no other route reads it. */
const ASIDE = { 'last-event-id': 'x' }

for (const [id, [roles, body, expected]] of Object.entries(PROBES) as [KeyedRouteId, (typeof PROBES)['check']][]) {
  const rule: RouteRule = ROUTES[id]
  for (const role of ROLES) {
    const allowed = role === 'owner' || role === 'admin' || roles.includes(role)
    test(`${role} ${allowed ? 'may' : 'may not'} ${id}`, async () => {
      const before = await entries(gate)
      const answer = await gate.call(keyOf(role), rule.method, rule.path.replace(':id', 'x'), body, ASIDE)
      if (!allowed) assertRefusedBy(rule.facade, answer, 'forbidden')
      else assert.equal(codeIn(answer, rule.facade), expected, JSON.stringify(answer.body))
      assert.equal(await entries(gate), before)
    })
  }
}

test('a key with several roles has what each gives', async () => {
  const both = await gate.key({ roles: ['agent', 'auditor'] })
  assertDone(await gate.call(both, 'GET', '/audit/chain'))
  assertDone(await gate.call(both, 'GET', '/approvals'))
  assertRefused(
    await gate.call(both, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x' }),
    'forbidden',
  )
})

test('an agent sees its own approvals only, an approver all', async () => {
  const [mine, other] = [await gate.key({ roles: ['agent'] }), await gate.key({ roles: ['agent'] })]
  const request = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 2000 } }
  const { approvalId } = (await gate.call(mine, 'POST', '/gate/check', request)).body.data
  assertDone(await gate.call(mine, 'GET', `/approvals/${approvalId}`))
  assertRefused(await gate.call(other, 'GET', `/approvals/${approvalId}`), 'not_found')
  const count = async (key: typeof mine) => (await gate.call(key, 'GET', '/approvals')).body.page.total
  assert.deepEqual([await count(mine), await count(other), await count({ ...keyOf('approver') })], [1, 0, 1])
})

test('live and test share nothing', async () => {
  const live = await gate.key()
  const sandbox = await gate.key({ environment: 'test' })
  const request = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 3000 } }
  const held = (await gate.call(live, 'POST', '/gate/check', request)).body.data
  assertRefused(await gate.call(sandbox, 'GET', `/approvals/${held.approvalId}`), 'not_found')
  assertRefused(
    await gate.call(sandbox, 'POST', `/approvals/${held.approvalId}/approve`, { approverId: 'x' }),
    'not_found',
  )
  assertRefused(await gate.call(sandbox, 'GET', `/evidence/bundle/${held.decisionId}`), 'not_found')
  assert.deepEqual((await gate.call(sandbox, 'GET', '/approvals')).body.data, [])

  await gate.call(sandbox, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x' })
  assert.equal((await gate.call(live, 'GET', '/killswitch/status')).body.data.active, false)
  const mail = { tenantId: 'acme', action: 'email.send' }
  assert.equal((await gate.call(live, 'POST', '/gate/check', mail)).body.data.decision, 'allow')
  assert.equal((await gate.call(sandbox, 'POST', '/gate/check', mail)).body.data.decision, 'deny')

  const seen = (await gate.call(sandbox, 'GET', '/audit/chain')).body
  assert.ok(seen.page.total > 0)
  assert.doesNotMatch(JSON.stringify(seen), new RegExp(`${held.approvalId}|acme/live`))
  assert.equal(await entriesOf(gate, 'killswitch.triggered'), 0)
})

test('refusals are on record, one entry a key', async (t) => {
  const probed = await startGate(t)
  const agent = await probed.key({ roles: ['agent'] })
  for (let i = 0; i < 5; i += 1) await probed.call(agent, 'GET', '/keys')
  await probed.call({ ...agent, tenant: 'other' }, 'GET', '/approvals')
  await probed.call({ ...agent, secret: 'sk_live_guess' }, 'GET', '/approvals')
  await probed.server.close()
  const again = await startGate(t, { dir: probed.dir })
  const refused = async (chain: string) => {
    const { items } = await again.server.store.page({
      chain,
      order: 'asc',
      limit: 9,
      offset: 0,
      eventType: 'auth.refused',
    })
    return items.map(({ sections }) => JSON.parse(sections.find(({ name }) => name === 'data')?.json ?? ''))
  }
  assert.deepEqual(await refused('acme/live'), [{ keyId: agent.id, refused: { forbidden: 5, tenant_mismatch: 1 } }])
  assert.deepEqual(await refused('_system'), [{ keyId: null, refused: { unauthenticated: 1 } }])
})
