import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Answer, type Gate, startGate } from '../helpers.ts'

/** The direct listener and Express must not differ in anything that a caller sees. */
const CHECK = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 5 } }
const REQUESTS: [name: string, method: string, path: string, body?: unknown, headers?: Record<string, string>][] = [
  ['allow', 'POST', '/gate/check', CHECK],
  ['deny', 'POST', '/gate/check', { ...CHECK, context: { amount: 200_000 } }],
  ['hold', 'POST', '/gate/check', { ...CHECK, context: { amount: 5000 } }],
  ['hold again', 'POST', '/gate/check', { ...CHECK, context: { amount: 5000 } }],
  ['context that does not fit', 'POST', '/gate/check', { ...CHECK, context: {} }],
  ['plan of another action', 'POST', '/gate/check', { ...CHECK, plan: { action: 'email.send' } }],
  ['unknown action', 'POST', '/gate/check', { ...CHECK, action: 'nothing.known' }],
  ['idempotent', 'POST', '/gate/check', CHECK, { 'idempotency-key': 'a' }],
  ['idempotent again', 'POST', '/gate/check', CHECK, { 'idempotency-key': 'a' }],
  [
    'idempotent with another body',
    'POST',
    '/gate/check',
    { ...CHECK, action: 'email.send' },
    { 'idempotency-key': 'a' },
  ],
  ['bad idempotency key', 'POST', '/gate/check', CHECK, { 'idempotency-key': 'a b' }],
  ['request id', 'POST', '/gate/check', CHECK, { 'x-request-id': 'mine-1' }],
  ['no action', 'POST', '/gate/check', { tenantId: 'acme' }],
  ['no tenantId', 'POST', '/gate/check', { action: 'email.send' }],
  ['unknown field', 'POST', '/gate/check', { ...CHECK, contxt: {} }],
  ['another tenant in the body', 'POST', '/gate/check', { ...CHECK, tenantId: 'other' }],
  ['another tenant in the header', 'POST', '/gate/check', CHECK, { 'x-tenant-id': 'other' }],
  ['bad key', 'POST', '/gate/check', CHECK, { 'x-api-key': 'sk_live_nothing' }],
  ['malformed JSON', 'POST', '/gate/check', '{"tenantId":'],
  ['wrong type of content', 'POST', '/gate/check', '{}', { 'content-type': 'text/plain' }],
  ['compressed', 'POST', '/gate/check', '{}', { 'content-encoding': 'gzip' }],
  ['query', 'POST', '/gate/check?x=1', CHECK],
  ['explained', 'POST', '/gate/check?explain=1', CHECK],
  ['explained, a deny', 'POST', '/gate/check?explain=1', { ...CHECK, context: { amount: 200_000 } }],
  ['not explained', 'POST', '/gate/check?explain=0', CHECK],
  ['explained in words', 'POST', '/gate/check?explain=yes', CHECK],
  ['explained twice', 'POST', '/gate/check?explain=1&explain=1', CHECK],
  ['empty query', 'POST', '/gate/check?', CHECK],
  ['other method', 'GET', '/gate/check'],
  ['PUT', 'PUT', '/gate/check', CHECK],
  ['slash at the end', 'POST', '/gate/check/', CHECK],
  ['two slashes', 'POST', '//gate/check', CHECK],
  ['other case', 'POST', '/Gate/Check', CHECK],
  ['escaped letters', 'POST', '/gate/%63heck', CHECK],
]

const HEADERS = [
  'content-type',
  'cache-control',
  'x-content-type-options',
  'allow',
  'x-powered-by',
  'etag',
  'ratelimit',
]

function comparable({ status, headers, body }: Answer): unknown {
  const text = JSON.stringify(body)
    .replaceAll(/\b([a-z]{3})_[0-9a-z]{26}/g, '$1_')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
  return { status, headers: HEADERS.map((name) => [name, headers.get(name)]), body: JSON.parse(text) }
}

const gates: { gate: Gate; key: { secret: string; tenant: string } }[] = []
for (const direct of [true, false]) {
  const gate = await startGate({ after }, { direct })
  gates.push({ gate, key: await gate.key() })
}

for (const [name, method, path, body, headers] of REQUESTS) {
  test(`direct and Express answer alike: ${name}`, async () => {
    const answers = await Promise.all(gates.map(({ gate, key }) => gate.call(key, method, path, body, headers)))
    const [direct, express] = answers.map(comparable)
    assert.deepEqual(direct, express)
  })
}
