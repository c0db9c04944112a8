import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type KeyedRouteId, ROLES, ROUTES, type Role, type RouteRule } from '../../src/keys/roles.ts'
import { startGate } from '../helpers.ts'
import { assertDone, assertRefused, assertRefusedBy, codeIn, entries, entriesOf } from './support.ts'

const gate = await startGate({ after })
const keys = new Map(await Promise.all(ROLES.map(async (role) => [role, await gate.key({ roles: [role] })] as const)))
const keyOf = (role: Role) => keys.get(role) ?? { id: '', secret: '', tenant: '' }

/** Requests that come as far as the action and change nothing there, and what it answers. */
const PROBES: Record<KeyedRouteId, [body: unknown, answer: string | undefined]> = {
  check: [{}, 'invalid_request'],
  outcome: [{ decisionId: 'x', status: 'succeeded' }, 'not_found'],
  risk: [{}, 'invalid_request'],
  listApprovals: [undefined, undefined],
  getApproval: [undefined, 'not_found'],
  approve: [{ approverId: 'x' }, 'not_found'],
  reject: [{ approverId: 'x' }, 'not_found'],
  auditChain: [undefined, undefined],
  auditVerify: [{}, 'invalid_request'],
  auditLog: [{}, 'invalid_request'],
  getDecision: [undefined, 'not_found'],
  listDecisions: [undefined, undefined],
  decisionTimeline: [undefined, 'not_found'],
  approvalBackground: [undefined, 'not_found'],
  auditVerifyLive: [undefined, 'invalid_request'],
  exportBundle: [undefined, 'not_found'],
  verifyBundle: [{ bundle: {} }, undefined],
  killSwitchStatus: [undefined, undefined],
  trigger: [{}, 'invalid_request'],
  recover: [{ recoveredBy: 'x', comment: 'x' }, 'kill_switch_inactive'],
  listKeys: [undefined, undefined],
  createKey: [{}, 'invalid_request'],
  revokeKey: [undefined, 'not_found'],
  rotateKey: [{}, 'not_found'],
  usage: [undefined, undefined],
  previewStop: [{ level: 'L1', scope: 'a**b' }, 'invalid_request'],
  killSwitchHistory: [undefined, undefined],
  listPolicies: [undefined, undefined],
  validatePolicies: [{}, 'invalid_request'],
  reloadPolicies: [undefined, undefined],
  policySource: [undefined, undefined],
  dryRun: [{}, 'invalid_request'],
  overview: [undefined, undefined],
  events: [undefined, 'invalid_request'],
  openSession: [undefined, undefined],
  getSession: [undefined, undefined],
  endSession: [undefined, 'not_found'],
  signInCode: [undefined, undefined],
  opaDecision: [{ input: {} }, 'invalid_request'],
  opaAllow: [{ input: {} }, 'invalid_request'],
  evaluation: [{}, 'invalid_request'],
  evaluations: [{}, 'invalid_request'],
  requestAccess: [{}, 'invalid_request'],
  accessRequest: [undefined, 'not_found'],
  claudeCodeHook: [{}, 'invalid_request'],
}

/** Refused by the event stream, which would not end; no other route reads it. */
const ASIDE = { 'last-event-id': 'x' }

for (const [id, [body, expected]] of Object.entries(PROBES) as [KeyedRouteId, (typeof PROBES)['check']][]) {
  const rule: RouteRule = ROUTES[id]
  for (const role of ROLES) {
    const allowed = role === 'owner' || role === 'admin' || rule.roles === 'any' || rule.roles.includes(role)
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
