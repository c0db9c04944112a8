import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, type Gate, startGate } from '../helpers.ts'

/** Written from spec/service-interface.md alone: what it says is asserted, what it does not say is not used. */
const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
approval: {selfApproval: true}
domains: {finance: ["payment.*"]}
rules:
  - {id: large, actions: ["payment.*"], effect: require_approval, reason: Ask first., when: {fact: context.amount, operator: greaterThan, value: 1000}}
  - {id: payments, actions: ["payment.*"], effect: allow, reason: Fine.}
`
const REQUEST = {
  tenantId: 'acme',
  action: 'payment.transfer',
  context: { amount: 5000 },
  plan: { action: 'payment.transfer' },
}

type Kind = 'string' | 'number' | 'boolean' | 'object' | 'integer' | 'time' | 'hash' | 'array'
const IS: Record<Kind, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string' && value !== '',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  time: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value),
  hash: (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
}

function assertShape(value: unknown, shape: Readonly<Record<string, Kind>>, name: string): void {
  assert.ok(IS.object(value), name)
  const object = value as Record<string, unknown>
  for (const [field, kind] of Object.entries(shape)) {
    assert.ok(IS[kind](object[field]), `${name}.${field} is no ${kind}: ${JSON.stringify(object[field])}`)
  }
}

const CHECKED = { decision: 'string', reason: 'string', riskScore: 'number', plan: 'object' } as const
const APPROVAL = { id: 'string', action: 'string', status: 'string', createdAt: 'time', context: 'object' } as const
const ENTRY = { id: 'string', timestamp: 'time', eventType: 'string', data: 'object', hash: 'hash' } as const
const VERIFIED = { valid: 'boolean', entriesChecked: 'integer', firstEntry: 'string', lastEntry: 'string' } as const
const BUNDLE = {
  bundleId: 'string',
  version: 'string',
  decision: 'object',
  context: 'object',
  auditChain: 'array',
  signatures: 'object',
  exportedAt: 'time',
} as const
const STOPPED = {
  active: 'boolean',
  level: 'string',
  scope: 'string',
  triggeredAt: 'time',
  triggeredBy: 'string',
  reason: 'string',
} as const

for (const direct of [true, false]) {
  test(`a client of the spec alone, one key, ${direct ? 'direct' : 'through Express'}`, async (t) => {
    const gate = await startGate(t, { direct, policies: { 'acme/main.yaml': POLICY } })
    const key = await gate.key({ roles: ['owner'] })
    const ok = async (method: string, path: string, body?: object): Promise<Answer['body']> => {
      const answer = await gate.call(key, method, path, body)
      assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body)}`)
      assert.equal(answer.body.success, true)
      assert.ok(!('error' in answer.body))
      return answer.body.data
    }
    const check = async (): Promise<Answer['body']> => {
      const data = await ok('POST', '/gate/check', REQUEST)
      assertShape(data, CHECKED, 'check')
      assertShape(data.plan, { action: 'string', validated: 'boolean' }, 'check.plan')
      return data
    }

    assert.equal((await check()).decision, 'require_approval')

    const pending = await ok('GET', '/approvals')
    assert.equal(pending.length, 1)
    assertShape(pending[0], APPROVAL, 'approval')
    assert.equal(pending[0].status, 'pending')
    assert.equal(pending[0].action, REQUEST.action)
    assert.deepEqual(pending[0].context, REQUEST.context)

    await ok('POST', `/approvals/${pending[0].id}/approve`, { approverId: 'ann', comment: 'fine' })
    assert.deepEqual(await ok('GET', '/approvals'), [])
    assert.equal((await check()).decision, 'allow')

    const chain = await ok('GET', '/audit/chain?limit=100&offset=0')
    for (const entry of chain) assertShape(entry, ENTRY, 'entry')
    const entry = chain.find(
      ({ eventType, data }: Answer['body']) =>
        eventType === 'gate.decision' && data.action === REQUEST.action && data.decision === 'allow',
    )
    const bundle = await ok('GET', `/evidence/bundle/${entry.data.id}`)
    assertBundle(bundle)
    const verdict = await ok('POST', '/evidence/verify', { bundle })
    for (const name of ['valid', 'signatureValid', 'chainValid', 'timestampValid'])
      assert.equal(verdict[name], true, name)

    const risk = await ok('POST', '/gate/risk', { action: REQUEST.action, context: REQUEST.context })
    assertShape(risk, { score: 'number', factors: 'array' }, 'risk')
    await ok('POST', '/audit/log', { eventType: 'my.note', data: { seen: true }, userId: 'ann' })
    const today = new Date().toISOString().slice(0, 10)
    const range = await ok('POST', '/audit/verify', { startDate: today, endDate: today })
    assertShape(range, VERIFIED, 'verify')
    assert.equal(range.valid, true)
    assert.ok(range.entriesChecked > 5)

    assert.deepEqual(pick(await ok('GET', '/killswitch/status'), ['active', 'level', 'scope']), {
      active: false,
      level: null,
      scope: null,
    })
    await ok('POST', '/killswitch/trigger', { level: 'L2', reason: 'drill', triggeredBy: 'ann' })
    const status = await ok('GET', '/killswitch/status')
    assertShape(status, STOPPED, 'status')
    assert.deepEqual(pick(status, ['active', 'level', 'triggeredBy', 'reason']), {
      active: true,
      level: 'L2',
      triggeredBy: 'ann',
      reason: 'drill',
    })
    assert.equal((await check()).decision, 'deny')

    await ok('POST', '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' })
    assert.equal((await ok('GET', '/killswitch/status')).active, false)
    const small = await ok('POST', '/gate/check', {
      tenantId: 'acme',
      action: 'payment.transfer',
      context: { amount: 5 },
    })
    assert.equal(small.decision, 'allow')
    await rejects(gate, key, ok)
  })
}

/** A second hold is rejected. */
async function rejects(
  gate: Gate,
  key: { secret: string; tenant: string },
  ok: (method: string, path: string, body?: object) => Promise<Answer['body']>,
) {
  const request = { ...REQUEST, context: { amount: 6000 } }
  assert.equal((await ok('POST', '/gate/check', request)).decision, 'require_approval')
  const [held] = await ok('GET', '/approvals')
  await ok('POST', `/approvals/${held.id}/reject`, { approverId: 'ann', reason: 'no' })
  assert.equal((await ok('POST', '/gate/check', request)).decision, 'deny')
  const failure = await gate.call(key, 'POST', `/approvals/${held.id}/approve`, { approverId: 'ann' })
  assert.equal(failure.body.success, false)
  assertShape(failure.body, { error: 'string', message: 'string' }, 'failure')
}

function assertBundle(bundle: Answer['body']): void {
  assertShape(bundle, BUNDLE, 'bundle')
  assertShape(
    bundle.decision,
    { id: 'string', action: 'string', decision: 'string', timestamp: 'time' },
    'bundle.decision',
  )
  assert.equal(bundle.decision.decision, 'allow')
  assertShape(bundle.context, { originalRequest: 'object', riskAssessment: 'object' }, 'bundle.context')
  assert.deepEqual(bundle.context.originalRequest, REQUEST)
  assert.ok(bundle.auditChain.length > 0)
  for (const item of bundle.auditChain) assertShape(item, { hash: 'hash', previousHash: 'hash' }, 'auditChain')
  assertShape(bundle.signatures.service, { algorithm: 'string', publicKey: 'string', signature: 'string' }, 'signature')
}

function pick(object: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, object[name]]))
}
