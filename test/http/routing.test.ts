import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type KeyedRouteId, ROUTES, type RouteRule } from '../../src/keys/routes.ts'
import { plainFetch } from '../declared.ts'
import { startGate } from '../helpers.ts'
import { assertDone, assertRefused, assertRefusedBy, entries, raw } from './support.ts'

const gate = await startGate({ after })
const owner = await gate.key()
const stranger = await gate.key({ tenant: 'other' })
const nobody = { secret: '', tenant: 'acme' }

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const rules: readonly RouteRule[] = Object.values(ROUTES)

for (const path of new Set(rules.map((rule) => rule.path))) {
  const own = rules.filter((rule) => rule.path === path)
  const methods: string[] = own.map(({ method }) => method)
  test(`${path} refuses every method but ${methods.join(', ')}`, async () => {
    for (const method of METHODS.filter((name) => !methods.includes(name))) {
      const answer = await gate.call(owner, method, path.replace(':id', 'x'))
      assertRefusedBy(own[0]?.facade, answer, 'method_not_allowed', method)
      assert.equal(answer.headers.get('allow'), methods.join(', '), method)
    }
  })
}

const UNKNOWN_PATHS = [
  '/',
  '/gate',
  '/gate/check/',
  '/Gate/check',
  '/approvals/',
  '/approvals/x/approve/',
  '/approvals/x/y',
  '/evidence/bundle',
  '/evidence/bundle/a/b',
  '/audit/chain/..%2f',
  '/keys/',
  '/healthz/',
  '/favicon.ico',
  '/.env',
]

for (const path of UNKNOWN_PATHS) {
  test(`${path} is no path`, async () => {
    assertRefused(await gate.call(owner, 'GET', path), 'not_found')
    assertRefused(await gate.call(owner, 'POST', path, {}), 'not_found')
  })
}

const ACCEPTED: readonly [accept: string, status: number][] = [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 302],
  ['text/html', 302],
  ['*/*', 404],
  ['application/json', 404],
  ['application/json, text/html;q=0.5', 404],
  ['text/html;q=0', 404],
]
for (const [accept, status] of ACCEPTED) {
  test(`/ answers ${status} to a client that accepts ${accept}`, async () => {
    const response = await plainFetch(`${gate.server.url}/`, { headers: { accept }, redirect: 'manual' })
    assert.equal(response.status, status)
    assert.equal(response.headers.get('location'), status === 302 ? '/console/' : null)
  })
}

test('/ redirects no request to another host', async () => {
  const { status } = await raw(
    gate,
    'GET / HTTP/1.1\r\nHost: evil.example\r\nAccept: text/html\r\nConnection: close\r\n\r\n',
  )
  assert.equal(status, 421)
})

const ACCESS = {
  subject: { type: 'user', id: 'ann' },
  action: { name: 'email.send' },
  resource: { type: 'x', id: 'x' },
}

/** A body that each route would take. */
const BODIES: Partial<Record<KeyedRouteId, object>> = {
  check: { tenantId: 'acme', action: 'email.send' },
  risk: { action: 'email.send' },
  approve: { approverId: 'x' },
  reject: { approverId: 'x' },
  auditVerify: { startDate: '2026-01-01', endDate: '2026-01-01' },
  auditLog: { eventType: 'my.note', data: {} },
  verifyBundle: { bundle: {} },
  trigger: { level: 'L3', reason: 'x', triggeredBy: 'x' },
  recover: { recoveredBy: 'x', comment: 'x' },
  createKey: { roles: ['agent'] },
  rotateKey: { overlapMinutes: 0 },
  previewStop: { level: 'L3' },
  opaDecision: { input: { tool: { name: 'email.send' } } },
  opaAllow: { input: { tool: { name: 'email.send' } } },
  evaluation: ACCESS,
  evaluations: ACCESS,
  claudeCodeHook: {
    hook_event_name: 'PreToolUse',
    session_id: 's',
    cwd: '/',
    tool_name: 'Read',
    tool_input: {},
  },
  requestAccess: { ...ACCESS, denial: { evaluation_id: 'x', expires_at: 'x' } },
}

const keyed = Object.entries(ROUTES).filter(([, rule]) => rule.roles !== 'public') as [KeyedRouteId, RouteRule][]

for (const [id, { method, path, facade }] of keyed) {
  const refused = (
    answer: Awaited<ReturnType<typeof gate.call>>,
    code: Parameters<typeof assertRefused>[1],
    note: string,
  ) => assertRefusedBy(facade, answer, code, note)
  const url = path.replace(':id', 'x')
  const send = (key: typeof nobody, headers: Record<string, string> = {}, more: object = {}) =>
    gate.call(key, method, url, BODIES[id] && { ...BODIES[id], ...more }, headers)

  test(`${id} needs a key, and a tenant that is the key's`, async () => {
    const before = await entries(gate)
    refused(await send(nobody), 'unauthenticated', 'no key')
    refused(await send({ ...owner, secret: `${owner.secret.slice(0, -1)}!` }), 'unauthenticated', 'malformed key')
    refused(await send({ ...owner, secret: stranger.secret }), 'tenant_mismatch', "another tenant's key")
    refused(await send({ ...owner, tenant: 'other' }), 'tenant_mismatch', 'another tenant')
    refused(await send({ ...owner, tenant: 'nowhere' }), 'tenant_mismatch', 'no tenant of that name')
    refused(await send({ ...owner, tenant: 'ACME' }), 'tenant_mismatch', 'other case')
    if (id !== 'verifyBundle') refused(await send({ ...owner, tenant: '' }), 'unauthenticated', 'empty tenant')
    if (BODIES[id] && !facade) refused(await send(owner, {}, { tenantId: 'other' }), 'tenant_mismatch', 'in the body')
    assert.equal(await entries(gate), before)
  })
}

test('/evidence/verify, sessions and facades need no x-tenant-id, everything else does', async () => {
  for (const [id, { method, path, facade, tenantOptional }] of keyed) {
    if (facade) continue
    const response = await fetch(gate.server.url + path.replace(':id', 'x'), {
      method,
      headers: { 'x-api-key': owner.secret, 'content-type': 'application/json' },
      ...(BODIES[id] && { body: JSON.stringify(BODIES[id]) }),
    })
    const { error } = (await response.json()) as { error?: string }
    assert.equal(error === 'unauthenticated', tenantOptional !== true, id)
  }
})

for (const path of ['/healthz', '/readyz']) {
  test(`${path} needs no key`, async () => {
    const response = await fetch(gate.server.url + path)
    assert.equal(response.status, 200)
    const body = (await response.json()) as Record<string, unknown>
    assert.deepEqual(Object.keys(body).sort(), ['data', 'requestId', 'success'])
    assert.equal(response.headers.get('x-request-id'), body.requestId)
  })
}

test('a request id is echoed, in header and body', async () => {
  const answer = await gate.call(owner, 'GET', '/killswitch/status', undefined, { 'x-request-id': 'trace-1' })
  assertDone(answer)
  assert.equal(answer.body.requestId, 'trace-1')
})

test('answers are never cached and never sniffed', async () => {
  for (const path of ['/killswitch/status', '/nowhere', '/healthz']) {
    const { headers } = await gate.call(owner, 'GET', path)
    assert.equal(headers.get('cache-control'), 'no-store', path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    assert.equal(headers.get('x-powered-by'), null, path)
  }
})

test('another tenant sees nothing of what is here', async () => {
  const held = await gate.call(owner, 'POST', '/gate/check', {
    ...BODIES.check,
    action: 'payment.transfer',
    context: { amount: 2000 },
  })
  const { approvalId, decisionId } = held.body.data
  assertRefused(await gate.call(stranger, 'GET', `/approvals/${approvalId}`), 'not_found')
  assertRefused(await gate.call(stranger, 'POST', `/approvals/${approvalId}/approve`, { approverId: 'x' }), 'not_found')
  assertRefused(await gate.call(stranger, 'GET', `/evidence/bundle/${decisionId}`), 'not_found')
  assertRefused(await gate.call(stranger, 'DELETE', `/keys/${owner.id}`), 'not_found')
  assert.deepEqual((await gate.call(stranger, 'GET', '/approvals')).body.data, [])
  const chain = await gate.call(stranger, 'GET', '/audit/chain')
  assert.doesNotMatch(JSON.stringify(chain.body), /acme/)
  assert.deepEqual((await gate.call(stranger, 'GET', '/policies')).body.data.rules, 0)
})

for (const [path, body] of [
  ['/gate/check', { action: 'email.send' }],
  ['/audit/log', { eventType: 'my.note', data: {} }],
  ['/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x' }],
] as const) {
  test(`${path} refuses a body that names another tenant than the header`, async () => {
    assertRefused(await gate.call(owner, 'POST', path, { ...body, tenantId: 'other' }), 'tenant_mismatch')
  })
}

test('a bearer token is a key on the routes of other protocols only', async () => {
  const headers = { authorization: `Bearer ${owner.secret}`, 'x-tenant-id': 'acme', 'content-type': 'application/json' }
  const body = JSON.stringify({ tenantId: 'acme', action: 'email.send' })
  assert.equal((await fetch(`${gate.server.url}/gate/check`, { method: 'POST', headers, body })).status, 401)
})
