import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ERRORS, type ErrorCode } from '../../src/base/errors.ts'
import { statusOf } from '../../src/http/facades/failures.ts'
import type { Facade } from '../../src/keys/routes.ts'
import { assertDeclared } from '../declared.ts'
import type { Answer, Gate } from '../helpers.ts'

/** Service entries: policies within a second of a tenant's creation, refusals once a minute, browser sessions, signing. */
const OWN = ['audit.genesis', 'policy.loaded', 'auth.refused', 'session.started', 'session.ended', 'audit.checkpoint']

/** Returns the number of entries in a trail that requests made, of one read: the service writes its own at any time. */
export async function entries(gate: Gate, trail = 'acme/live'): Promise<number> {
  const page = { trail, order: 'desc', limit: 5000, offset: 0, sections: [] } as const
  const { items, total } = await gate.server.store.trailPage(page)
  assert.equal(items.length, total)
  return items.filter(({ header }) => !OWN.includes(header.type)).length
}

/** Entries of one type in a trail. */
export async function entriesOf(gate: Gate, eventType: string, trail = 'acme/live'): Promise<number> {
  const { items } = await gate.server.store.trailPage({ trail, order: 'desc', limit: 500, offset: 0, eventType })
  return items.length
}

/** For this test time stands still: a limit lets no more pass, however long the machine takes. */
export function stopTime(t: TestContext) {
  const nowMs = performance.now()
  return t.mock.method(performance, 'now', () => nowMs).mock
}

/** Waits until a tenant's policies are noted in its chain: what a test adds afterwards is then alone at its end. */
export async function untilLoaded(gate: Gate, key: Parameters<Gate['call']>[0]): Promise<void> {
  for (;;) {
    const { data } = (await gate.call(key, 'GET', '/audit/chain?eventType=policy.loaded')).body
    if (data.length > 0) return
    await sleep(50)
  }
}

const FAILURE_FIELDS = ['success', 'error', 'message', 'details', 'requestId']
/** The folder at the root that this program lies in. */
const [, TOP] = process.cwd().split('/')
/** A frame of a stack, or a path of this machine. */
const INTERNALS = new RegExp(String.raw`\n\s*at |node_modules|file://|/src/|/${TOP}/|/tmp/|\.ts:\d`)

/** The envelope of a failure, with its code and status, and nothing of our insides. */
export function assertRefused(answer: Answer, code: ErrorCode, note = ''): void {
  assert.equal(answer.body.error, code, `${note} ${JSON.stringify(answer.body)}`)
  assert.equal(answer.status, ERRORS[code].status, note)
  assert.equal(answer.body.success, false)
  assert.ok(typeof answer.body.message === 'string' && answer.body.message !== '')
  assert.equal(answer.headers.get('x-request-id'), answer.body.requestId)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
  assert.deepEqual(
    Object.keys(answer.body).filter((name) => !FAILURE_FIELDS.includes(name)),
    [],
  )
  assert.doesNotMatch(JSON.stringify(answer.body), INTERNALS)
}

/** Our code, wherever the protocol of the facade has it; undefined for an answer that is no failure. */
export function codeIn({ body }: Answer, facade: Facade | undefined): string | undefined {
  if (facade === 'opa') return body.errors?.[0].code
  if (facade === 'authzen') return typeof body === 'string' ? body.split(':')[0] : undefined
  if (facade === 'claude-code') return /\((\w+)\)/.exec(body.hookSpecificOutput?.permissionDecisionReason ?? '')?.[1]
  return facade === undefined ? body.error : body.code
}

/** A failure with that code, in the form of the route. */
export function assertRefusedBy(facade: Facade | undefined, answer: Answer, code: ErrorCode, note = ''): void {
  if (facade === undefined) {
    assertRefused(answer, code, note)
    return
  }
  assert.equal(codeIn(answer, facade), code, `${note} ${JSON.stringify(answer.body)}`)
  assert.equal(answer.status, statusOf(code, facade), note)
  assert.match(answer.headers.get('x-request-id') ?? '', /^[!-~]+$/)
  assert.equal(answer.headers.get('www-authenticate'), answer.status === 401 ? 'Bearer' : null, note)
  assert.doesNotMatch(JSON.stringify(answer.body), INTERNALS)
}

export function assertDone(answer: Answer): void {
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assert.equal(answer.body.success, true)
  assert.equal('error' in answer.body, false)
  assert.equal(answer.headers.get('x-request-id'), answer.body.requestId)
}

/** Sends bytes as they are over a socket of their own; the answer when the server closes it, or after `waitMs`. */
export async function raw(gate: Gate, bytes: string | Buffer, waitMs = 10_000): Promise<Answer> {
  const { hostname, port } = new URL(gate.server.url)
  const socket = connect(Number(port), hostname)
  socket.setTimeout(waitMs, () => socket.destroy(new Error('the server did not close the connection')))
  // The server may answer and close before it has read everything.
  socket.on('error', () => undefined)
  socket.write(bytes)
  const answer = parseAnswer(await text(socket))
  const [method = '', path = ''] = bytes.toString('latin1').split(' ')
  const contentType = answer.headers.get('content-type')
  // Node's parser refuses what is no HTTP, without a body.
  if (contentType !== null) assertDeclared({ method, path, status: answer.status, contentType, body: answer.body })
  return answer
}

function parseAnswer(response: string): Answer {
  const [head = '', ...rest] = response.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(':')[0] ?? '', line.replace(/^[^:]*:\s*/, '')]),
  )
  // The body comes in one chunk, or there is none.
  const json = rest.join('').replace(/^[^{]*|[^}]*$/g, '')
  return { status: Number(statusLine.split(' ')[1]), headers, body: json === '' ? {} : JSON.parse(json) }
}

/** The text of a request that closes its connection. `headers` go out as they are, after ours unless they replace them. */
export function requestText(
  key: { secret: string; tenant: string },
  line: string,
  headers: Readonly<Record<string, string | null>> = {},
  body = '',
): string {
  const all: Record<string, string | null> = {
    Host: '127.0.0.1',
    Connection: 'close',
    'x-api-key': key.secret,
    'x-tenant-id': key.tenant,
    ...(body !== '' && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const lines = Object.entries(all).filter(([, value]) => value !== null)
  return `${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}
