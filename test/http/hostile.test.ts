import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { ERRORS, type ErrorCode } from '../../src/base/errors.ts'
import { createLogger } from '../../src/service/log.ts'
import { type MakeWriter, writeHere } from '../../src/store/sqlite/writers.ts'
import { fileTest, inThisThread, startGate } from '../helpers.ts'
import { HANGS_MS, until } from '../until.ts'
import { assertDone, assertRefused, entries, raw, requestText } from './support.ts'

const logged: string[] = []
const log = createLogger('debug', { write: (line) => void logged.push(line) })
const gate = await startGate({ after }, { log })
const owner = await gate.key()
const BODY = '{"tenantId":"acme","action":"email.send"}'
const check = (headers: Record<string, string | null>) =>
  raw(gate, requestText(owner, 'POST /gate/check', headers, BODY))

const HEADERS: [name: string, code: ErrorCode | undefined, headers: Record<string, string | null>][] = [
  ['Host of another site', 'host_not_allowed', { Host: 'evil.example' }],
  ['Host that starts like ours', 'host_not_allowed', { Host: 'localhost.evil.example' }],
  ['Host with a user', 'host_not_allowed', { Host: 'localhost@evil.example' }],
  ['Host with two ports', 'host_not_allowed', { Host: 'localhost:1:2' }],
  ['Host empty', 'host_not_allowed', { Host: '' }],
  ['Host in capitals with a port', undefined, { Host: 'LOCALHOST:4283' }],
  ['Host IPv6', undefined, { Host: '[::1]:4283' }],
  ['two keys', 'unauthenticated', { 'X-API-Key': owner.secret }],
  ['key with a space inside', 'unauthenticated', { 'x-api-key': owner.secret.replace('_', ' ') }],
  ['key of 8 kB', 'unauthenticated', { 'x-api-key': 'k'.repeat(8000) }],
  ['key as SQL', 'unauthenticated', { 'x-api-key': "' OR 1=1 --" }],
  ['two tenants', 'tenant_mismatch', { 'X-Tenant-Id': 'other' }],
  ['tenant as path', 'tenant_mismatch', { 'x-tenant-id': '../acme' }],
  ['tenant __proto__', 'tenant_mismatch', { 'x-tenant-id': '__proto__' }],
  ['Idempotency-Key empty', 'invalid_request', { 'Idempotency-Key': '' }],
  ['Idempotency-Key with a space', 'invalid_request', { 'Idempotency-Key': 'a b' }],
  ['Idempotency-Key not ASCII', 'invalid_request', { 'Idempotency-Key': 'é' }],
  ['Idempotency-Key of 256', 'invalid_request', { 'Idempotency-Key': 'k'.repeat(256) }],
  ['Idempotency-Key twice', 'invalid_request', { 'Idempotency-Key': 'a', 'idempotency-key': 'b' }],
  ['Idempotency-Key of 255', undefined, { 'Idempotency-Key': 'k'.repeat(255) }],
  ['Idempotency-Key in quotes', undefined, { 'Idempotency-Key': '"quoted"' }],
]

for (const [name, code, headers] of HEADERS) {
  test(`${code ?? 'taken'}: ${name}`, async () => {
    const before = await entries(gate)
    const answer = await check(headers)
    if (code === undefined) assertDone(answer)
    else assertRefused(answer, code)
    assert.equal(await entries(gate), before + (code === undefined ? 1 : 0))
  })
}

for (const [name, sent] of [
  ['with a space', 'a b'],
  ['of 129', 'x'.repeat(129)],
  ['not ASCII', 'é'],
  ['twice', 'a\r\nx-request-id: b'],
  ['as markup', '<script> alert(1)'],
] as const) {
  test(`x-request-id ${name} is not echoed`, async () => {
    const answer = await check({ 'x-request-id': sent })
    assertDone(answer)
    assert.match(answer.body.requestId, /^req_[0-9a-z]{26}$/)
  })
}

const PATHS: [path: string, code: ErrorCode][] = [
  ['/approvals/%', 'invalid_request'],
  ['/approvals/%zz', 'invalid_request'],
  ['/approvals/%ff', 'invalid_request'],
  ['/evidence/bundle/%c0%af', 'invalid_request'],
  ['/approvals/%00', 'not_found'],
  ['/approvals/..%2f..%2fetc%2fpasswd', 'not_found'],
  ['/evidence/bundle/..%2f..%2f..%2fetc%2fpasswd', 'not_found'],
  ['/evidence/bundle/..', 'not_found'],
  ['/evidence/bundle/aud_00000000000000000000000000', 'not_found'],
  ['/evidence/bundle/dec_', 'not_found'],
  ['/evidence/bundle/dec_../../x', 'not_found'],
  [`/approvals/${'a'.repeat(4000)}`, 'not_found'],
  ["/approvals/'%20OR%201=1--", 'not_found'],
  ['/approvals/__proto__', 'not_found'],
  ['/approvals/apr_x?wait=1&wait=1', 'invalid_request'],
  ['/approvals?%ff=1', 'invalid_request'],
  ['/../approvals', 'not_found'],
]

for (const [path, code] of PATHS) {
  test(`${code}: GET ${path.slice(0, 60)}`, async () => {
    assertRefused(await raw(gate, requestText(owner, `GET ${path}`)), code)
  })
}

/** Input that Node refuses before we see a request: it answers without a body and closes. */
const MALFORMED: [name: string, bytes: string, status: number][] = [
  ['no HTTP', 'hello there\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['a NUL in a header', requestText(owner, 'GET /approvals', { 'x-request-id': 'a\0b' }), 400],
  ['a line feed in a header name', requestText(owner, 'GET /approvals', { 'a\nb': 'c' }), 400],
  ['no Host', requestText(owner, 'GET /approvals', { Host: null }), 400],
  ['a space before the colon', requestText(owner, 'GET /approvals', { 'a ': 'b' }), 400],
  [
    'both lengths',
    requestText(owner, 'POST /gate/check', { 'Content-Length': '4', 'Transfer-Encoding': 'chunked' }),
    400,
  ],
  ['two lengths', requestText(owner, 'POST /gate/check', { 'Content-Length': '4\r\nContent-Length: 5' }), 400],
  ['a negative length', requestText(owner, 'POST /gate/check', { 'Content-Length': '-1' }), 400],
  [
    'a chunk that is no chunk',
    `${requestText(owner, 'POST /gate/check', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' })}zz\r\n`,
    400,
  ],
  ['headers of 40 kB', requestText(owner, 'GET /approvals', { filler: 'x'.repeat(40_000) }), 431],
  [
    '6,000 headers',
    requestText(owner, 'GET /approvals', Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`h${i}`, 'x']))),
    431,
  ],
]

test('the cookies of other services of this machine, 30 kB of them, do no harm', async () => {
  const cookie = Array.from({ length: 30 }, (_, i) => `c${i}=${'x'.repeat(1000)}`).join('; ')
  assertDone(await gate.call(owner, 'GET', '/approvals', undefined, { cookie }))
})

for (const [name, bytes, status] of MALFORMED) {
  test(`${status} and closed: ${name}`, async () => {
    const before = await entries(gate)
    const answer = await raw(gate, Buffer.from(bytes, 'latin1'))
    assert.equal(answer.status, status)
    assert.equal(await entries(gate), before)
    assertDone(await gate.call(owner, 'GET', '/killswitch/status'))
  })
}

const open = (text: string) => {
  const { hostname, port } = new URL(gate.server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.write(text)
  return socket
}
const HALF = { 'Content-Type': 'application/json', 'Content-Length': '1000' }

test('bodies that never end do not keep others from being served', async () => {
  const slow = Array.from({ length: 50 }, () => open(requestText(owner, 'POST /gate/check', HALF) + BODY.slice(0, 9)))
  const silent = Array.from({ length: 50 }, () => open('POST /gate/check HTTP/1.1\r\nHost: '))
  assertDone(await gate.call(owner, 'POST', '/gate/check', BODY))
  for (const socket of [...slow, ...silent]) socket.destroy()
})

test('a client that goes in the middle of its body leaves nothing behind', async () => {
  const before = await entries(gate)
  for (let i = 0; i < 20; i += 1) {
    const socket = open(requestText(owner, 'POST /gate/check', HALF) + BODY.slice(0, 9))
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.resetAndDestroy()
  }
  assertDone(await gate.call(owner, 'GET', '/killswitch/status'))
  assert.equal(await entries(gate), before)
})

test('a client that goes before its answer finds its decision on record', async () => {
  const before = await entries(gate)
  // One whose end is read with its request has gone before the decision, which is not taken then.
  let clients = 0
  await until('a decision is on record', async () => {
    clients += 1
    const socket = open(requestText(owner, 'POST /gate/check', {}, BODY))
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.end()
    await new Promise((resolve) => socket.resume().once('close', resolve))
    return (await entries(gate)) > before
  })
  assert.ok((await entries(gate)) <= before + clients)
})

fileTest(
  'what is large waits for a large write, and goes on beside one that hangs',
  { timeout: HANGS_MS },
  async (t) => {
    let release: () => void = () => undefined
    t.after(() => release())
    const large = { tenantId: 'acme', action: 'email.send', context: { text: 'x'.repeat(100_000) } }
    const isHeld = (request: object): boolean => JSON.stringify(request).includes(large.context.text)
    const writer: MakeWriter = (address, file) => {
      const { write, close } = writeHere(address, file)
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      return {
        hasThread: true,
        // On a slow disk small ones come to the thread, too.
        write: async (request) => (isHeld(request.submissions) ? released.then(() => write(request)) : write(request)),
        close,
      }
    }
    const own = await startGate(t, { threads: { ...inThisThread, writer } })
    const key = await own.key()
    const assess = async (): Promise<number> => {
      const sinceMs = performance.now()
      assertDone(await own.call(key, 'POST', '/gate/risk', large))
      return performance.now() - sinceMs
    }
    await assess()
    const written = own.call(key, 'POST', '/gate/check', large)
    await until('it is being written', () => own.server.store.largeWrite() !== undefined)
    const hungMs = await assess()
    assert.ok(hungMs >= 49, `answered after ${hungMs} ms`)
    release()
    assertDone(await written)
  },
)

test('the log has no secret, no failure of ours, and no word of what was sent', () => {
  const text = logged.join('')
  assert.doesNotMatch(text, /sk_live_|passwd|OR 1=1|evil\.example/)
  assert.doesNotMatch(text, /"error":"internal"/)
  assert.equal(ERRORS.internal.status, 500)
})
