import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import { test } from 'node:test'
import { ERRORS, type ErrorCode, GateError } from '../../src/base/errors.ts'

for (const [code, { status, meaning }] of Object.entries(ERRORS)) {
  test(`error ${code} has a registered failure status and a meaning`, () => {
    assert.match(meaning, /\w/)
    assert.match(code, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(status >= 400 && status <= 599 && STATUS_CODES[status] !== undefined, String(status))
  })
}

// A client that treats these alike would retry what can never succeed, or give up on what can.
const contract: [ErrorCode, number][] = [
  ['invalid_request', 400],
  ['unauthenticated', 401],
  ['tenant_mismatch', 403],
  ['not_found', 404],
  ['kill_switch_active', 409],
  ['payload_too_large', 413],
  ['rate_limited', 429],
  ['internal', 500],
  ['audit_unavailable', 503],
]

test('statuses that clients depend on', () => {
  for (const [code, status] of contract) assert.equal(ERRORS[code].status, status, code)
})

test('a GateError carries code, message, details, headers and cause', () => {
  const cause = new Error('disk full')
  const details = [{ path: '/action', message: 'is required' }]
  const error = new GateError('audit_unavailable', 'Try again.', { details, headers: { 'retry-after': '1' }, cause })
  assert.ok(error instanceof Error)
  assert.equal(error.name, 'GateError')
  assert.deepEqual(
    [error.code, error.message, error.details, error.headers, error.cause],
    ['audit_unavailable', 'Try again.', details, { 'retry-after': '1' }, cause],
  )
})

test('a GateError without options has neither details nor headers', () => {
  const error = new GateError('not_found', 'No such approval.')
  assert.deepEqual([error.details, error.headers, error.cause], [[], {}, undefined])
})
