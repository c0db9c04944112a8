import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { IDLE_MS, LONGEST_MS, Sessions } from '../../src/actions/sessions/sessions.ts'
import { CODE_MS, SignInCodes } from '../../src/actions/sessions/sign-in-codes.ts'
import { idMaker } from '../../src/base/id.ts'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused, entriesOf, stopTime } from './support.ts'

/** A clock that tests put forward. */
let aheadMs = 0
const gate = await startGate({ after }, { clock: () => Date.now() + aheadMs })
const owner = await gate.key({ roles: ['owner'], identity: 'olga' })

interface Browser {
  cookie: string
  token: string
}

/** As a browser sends it that is signed in. */
function headersOf({ cookie, token }: Browser, more: Record<string, string> = {}): Record<string, string> {
  return { cookie, 'x-session-token': token, 'x-tenant-id': 'acme', origin: gate.server.url, ...more }
}

async function ask(method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
  const response = await fetch(gate.server.url + path, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

async function signIn(key: Parameters<Gate['call']>[0] = owner): Promise<Browser> {
  const answer = await gate.call(key, 'POST', '/session')
  assertDone(answer)
  return { cookie: cookieOf(answer), token: answer.body.data.token }
}

function cookieOf({ headers }: { headers: Headers }): string {
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** Returns the recorded ends of sessions. */
async function ends(): Promise<{ id: string; keyId: string; why: string }[]> {
  const { data } = (await gate.call(owner, 'GET', '/audit/chain?eventType=session.ended&limit=500')).body
  return data.map((entry: { data: object }) => entry.data)
}

const signedIn = (browser: Browser, more?: Record<string, string>) => ask('GET', '/session', headersOf(browser, more))

test('a session does what its key may, under the name of the key', async () => {
  const agent = await gate.key({ roles: ['agent'] })
  const held = await gate.call(agent, 'POST', '/gate/check', {
    tenantId: 'acme',
    action: 'payment.transfer',
    context: { amount: 5000 },
  })
  const browser = await signIn()
  const path = `/approvals/${held.body.data.approvalId}/approve`
  const voted = await ask('POST', path, headersOf(browser), { approverId: 'olga' })
  assertDone(voted)
  assert.equal(voted.body.data.votes[0].principal, 'olga')
  const approver = await signIn(await gate.key({ roles: ['approver'] }))
  assertRefused(await ask('GET', '/audit/chain', headersOf(approver)), 'forbidden')
  const { may, session, tenants } = (await signedIn(approver)).body.data
  assert.deepEqual([may.includes('approve'), may.includes('auditChain'), tenants], [true, false, ['acme']])
  assert.match(session.id, /^ses_/)
})

test('the cookie is for this service alone, and no script reads it', async () => {
  const { headers } = await gate.call(owner, 'POST', '/session')
  const { port } = new URL(gate.server.url)
  assert.match(
    headers.get('set-cookie') ?? '',
    new RegExp(`^gate-sidecar-${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
  )
  const behindTls = await gate.call(owner, 'POST', '/session', undefined, { 'x-forwarded-proto': 'https' })
  assert.match(
    behindTls.headers.get('set-cookie') ?? '',
    /^__Host-gate-sidecar-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  )
})

const browser = await signIn()
const other = await signIn()
const WRONG = 'A'.repeat(43)
const REFUSED: [what: string, headers: Record<string, string>][] = [
  ['the cookie alone, as another port gets it', { cookie: browser.cookie, 'x-tenant-id': 'acme' }],
  ['the token alone', headersOf({ ...browser, cookie: '' })],
  ['the token of another session', headersOf({ ...browser, token: other.token })],
  ['a wrong token', headersOf({ ...browser, token: WRONG })],
  ['an empty token', headersOf({ ...browser, token: '' })],
  ['a wrong cookie', headersOf({ ...browser, cookie: `${browser.cookie.split('=')[0]}=${WRONG}` })],
  ['the cookie under another name', headersOf({ ...browser, cookie: `gate=${browser.cookie.split('=')[1]}` })],
  [
    'cookie and token the other way round',
    headersOf({
      cookie: `${browser.cookie.split('=')[0]}=${browser.token}`,
      token: browser.cookie.split('=')[1] ?? '',
    }),
  ],
]
for (const [what, headers] of REFUSED) {
  test(`${what}: refused`, async () => assertRefused(await ask('GET', '/session', headers), 'unauthenticated'))
}

test('a cookie of the same name from another port does no harm', async () => {
  const name = browser.cookie.split('=')[0]
  for (const cookie of [
    `${name}=evil; ${browser.cookie}`,
    `${browser.cookie}; ${name}=evil`,
    `${name}=; ${browser.cookie}`,
  ])
    assertDone(await signedIn({ ...browser, cookie }))
})

const ELSEWHERE: [what: string, method: string, more: Record<string, string>][] = [
  ['a page of another port', 'GET', { origin: 'http://127.0.0.1:9' }],
  ['a page of another host', 'POST', { origin: 'https://evil.example' }],
  ['a page without an origin', 'GET', { origin: 'null' }],
  ['a page of the same site', 'GET', { 'sec-fetch-site': 'same-site' }],
  ['a link from elsewhere', 'GET', { 'sec-fetch-site': 'cross-site' }],
]
for (const [what, method, more] of ELSEWHERE) {
  test(`${what} uses no session: ${method}`, async () => {
    const path = method === 'GET' ? '/session' : '/policies/reload'
    assertRefused(await ask(method, path, headersOf(browser, more)), 'origin_not_allowed')
  })
}

test('what changes something names its origin', async () => {
  const { origin: _, ...headers } = headersOf(browser)
  assertDone(await ask('GET', '/session', headers))
  assertRefused(await ask('POST', '/policies/reload', headers), 'origin_not_allowed')
})

test('facades take no session', async () => {
  const answer = await ask('POST', '/v1/data/gate/decision', headersOf(browser), { input: {} })
  assert.deepEqual([answer.status, answer.body.errors[0].code], [401, 'unauthenticated'])
})

test('a session opens no session, and makes no link', async () => {
  assertRefused(await ask('POST', '/session', headersOf(browser)), 'forbidden')
  assertRefused(await ask('POST', '/session/code', headersOf(browser)), 'forbidden')
})

test('signing out ends the session at once, and has the browser forget', async () => {
  const leaving = await signIn()
  const answer = await ask('DELETE', '/session', headersOf(leaving))
  assertDone(answer)
  assert.match(answer.headers.get('set-cookie') ?? '', /=; .*Max-Age=0$/)
  assertRefused(await signedIn(leaving), 'unauthenticated')
  assertRefused(await gate.call(owner, 'DELETE', '/session'), 'not_found')
})

test('it ends at once with its key', async () => {
  const key = await gate.key({ roles: ['approver'] })
  const session = await signIn(key)
  assertDone(await signedIn(session))
  assertDone(await gate.call(owner, 'DELETE', `/keys/${key.id}`))
  assertRefused(await signedIn(session), 'unauthenticated')
})

test('a stream of events ends with its session', async () => {
  const session = await signIn()
  const response = await fetch(`${gate.server.url}/events`, { headers: headersOf(session) })
  const reader = response.body?.getReader()
  assert.equal((await reader?.read())?.done, false)
  assertDone(await ask('DELETE', '/session', headersOf(session)))
  await until('the stream ends', async () => (await reader?.read())?.done === true)
})

test('it ends when nobody does anything, which only its user is', async () => {
  const [idle, used] = [await signIn(), await signIn()]
  aheadMs += IDLE_MS / 2 + 1000
  assertDone(await signedIn(idle))
  assertDone(await signedIn(used, { 'x-user-active': '1' }))
  aheadMs += IDLE_MS / 2
  assertRefused(await signedIn(idle), 'unauthenticated')
  assertDone(await signedIn(used))
  await until('it is on record why', async () => (await ends()).some(({ why }) => why === 'idle'))
})

test('it ends after its longest time, whatever its user does', async () => {
  const session = await signIn()
  for (let passed = 0; passed < LONGEST_MS - IDLE_MS; passed += IDLE_MS - 60_000) {
    aheadMs += IDLE_MS - 60_000
    assertDone(await signedIn(session, { 'x-user-active': '1' }))
  }
  aheadMs += IDLE_MS
  assertRefused(await signedIn(session, { 'x-user-active': '1' }), 'unauthenticated')
})

test('sessions and links end in time while the clock is set back', async () => {
  const { store } = gate.server
  let [nowMs, uptimeMs] = [Date.now(), 0]
  const deps = { store, clock: () => nowMs, newId: idMaker(Date.now, randomBytes) }
  const sessions = new Sessions(deps, () => uptimeMs)
  const codes = new SignInCodes(deps, () => uptimeMs)
  const pass = (ms: number): void => {
    uptimeMs += ms
    nowMs -= 1000
  }
  const key = store.state().keys.get(owner.id)
  assert.ok(key)
  const { cookie, token } = await sessions.open(key, 'key')
  const { code } = codes.make(key.id)
  const inTime = codes.make(key.id).code
  pass(CODE_MS - 1)
  assert.equal(codes.keyOf(inTime).id, key.id)
  codes.redeem(inTime)
  pass(1)
  assert.throws(() => codes.redeem(code), { code: 'unauthenticated' })
  const find = (isUserActive: boolean) => sessions.find(token, [cookie], isUserActive).session
  pass(IDLE_MS - CODE_MS - 1)
  find(true)
  pass(IDLE_MS)
  assert.throws(() => find(true), { code: 'unauthenticated' })
  const second = await sessions.open(key, 'key')
  for (let passed = 0; passed < LONGEST_MS - IDLE_MS; passed += IDLE_MS / 2) {
    pass(IDLE_MS / 2)
    sessions.find(second.token, [second.cookie], true)
  }
  pass(IDLE_MS)
  assert.throws(() => sessions.find(second.token, [second.cookie], true), { code: 'unauthenticated' })
  await sessions.tend()
})

test('a key has ten sessions at most; one more ends the oldest', async () => {
  const key = await gate.key({ roles: ['approver'] })
  const sessions = []
  for (let i = 0; i < 11; i += 1) sessions.push(await signIn(key))
  const states = await Promise.all(sessions.map(async (session) => (await signedIn(session)).status))
  assert.deepEqual(states, [401, ...Array(10).fill(200)])
})

async function codeOf(key = owner): Promise<string> {
  const { url } = (await gate.call(key, 'POST', '/session/code')).body.data
  return new URLSearchParams(new URL(url).hash.slice(1)).get('code') ?? ''
}
const signInWith = (code: string) => ask('POST', '/session', { 'x-sign-in-code': code, origin: gate.server.url })

test('a link signs in once', async () => {
  const code = await codeOf()
  const answer = await signInWith(code)
  assertDone(answer)
  assertDone(await signedIn({ cookie: cookieOf(answer), token: answer.body.data.token }))
  assertRefused(await signInWith(code), 'unauthenticated')
})

test('of two who use a link at once, one is signed in', async () => {
  const code = await codeOf()
  const statuses = (await Promise.all([signInWith(code), signInWith(code)])).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [200, 401])
})

test('a link that is refused for the limit of its key can be used later', async (t) => {
  const busy = await gate.key({ roles: ['approver'] })
  const code = await codeOf(busy)
  const stopped = stopTime(t)
  while ((await gate.call(busy, 'POST', '/session')).status === 200);
  assertRefused(await signInWith(code), 'rate_limited')
  stopped.restore()
  await until('there is room again', async () => (await signInWith(code)).status === 200)
})

test('a link is too old after five minutes', async () => {
  const code = await codeOf()
  aheadMs += CODE_MS
  assertRefused(await signInWith(code), 'unauthenticated')
})

test('a link ends with its key, and is good for signing in alone', async () => {
  const key = await gate.key({ roles: ['approver'] })
  const code = await codeOf(key)
  assertRefused(await ask('GET', '/session', { 'x-sign-in-code': code, origin: gate.server.url }), 'unauthenticated')
  assertDone(await gate.call(owner, 'DELETE', `/keys/${key.id}`))
  assertRefused(await signInWith(code), 'unauthenticated')
  assertRefused(await signInWith(''), 'unauthenticated')
})

test('another page does not sign in by a link', async () => {
  const code = await codeOf()
  const answer = await ask('POST', '/session', { 'x-sign-in-code': code, origin: 'http://127.0.0.1:9' })
  assertRefused(answer, 'origin_not_allowed')
  assertDone(await signInWith(code))
})

test('an admin may go to every tenant, and is told which there are', async () => {
  await gate.key({ tenant: 'beta' })
  const admin = await signIn(await gate.key({ roles: ['admin'] }))
  assert.deepEqual((await signedIn(admin)).body.data.tenants, ['acme', 'beta'])
  assertDone(await ask('GET', '/keys', headersOf(admin, { 'x-tenant-id': 'beta' })))
  assertRefused(await ask('GET', '/keys', headersOf(browser, { 'x-tenant-id': 'beta' })), 'unauthenticated')
})

test('each session is on record with its beginning and its end, and neither secret', async () => {
  const key = await gate.key({ roles: ['approver'] })
  const session = await signIn(key)
  await ask('DELETE', '/session', headersOf(session))
  const started = (await gate.call(owner, 'GET', '/audit/chain?eventType=session.started&limit=500')).body.data
  const mine = started.find(({ data }: { data: { keyId: string } }) => data.keyId === key.id)
  assert.deepEqual([mine.data.by, mine.actor.id], ['key', key.id])
  const end = await until('its end is on record', async () => (await ends()).find(({ id }) => id === mine.data.id))
  assert.deepEqual(end, { id: mine.data.id, keyId: key.id, why: 'signed_out' })
  const reasons = new Set((await ends()).map(({ why }) => why))
  assert.deepEqual([...reasons].sort(), ['idle', 'key_ended', 'signed_out', 'too_long', 'too_many'])
  const chain = JSON.stringify((await gate.call(owner, 'GET', '/audit/chain?limit=500')).body)
  for (const secret of [session.token, session.cookie.split('=')[1] ?? '']) assert.equal(chain.includes(secret), false)
})

test('when the service stops, every session is recorded as ended', async (t) => {
  const stopping = await startGate(t)
  const key = await stopping.key()
  assertDone(await stopping.call(key, 'POST', '/session'))
  await stopping.server.close()
  const again = await startGate(t, { dir: stopping.dir })
  assert.equal(await entriesOf(again, 'session.ended'), 1)
})
