import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { until } from '../until.ts'
import { raw, stopTime } from './support.ts'

const FOLDER = new URL('../testdata/claude-code/', import.meta.url)
const hook = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))
const PATH = '/hooks/claude-code'

const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
rules:
  - {id: reads, actions: [Read], effect: allow, reason: Reading is free.}
  - {id: shell, actions: [Bash], effect: require_approval, reason: A person looks at commands.}
  - {id: web, actions: [WebFetch], effect: deny, reason: No web.}
`
const gates = await Promise.all(
  [true, false].map((direct) => startGate({ after }, { policies: { 'acme/main.yaml': POLICY }, direct })),
)
const [gate] = gates as [Gate]
const agent = await gate.key({ roles: ['agent'] })
const approver = await gate.key({ roles: ['approver'] })
const operator = await gate.key({ roles: ['operator'] })
const stranger = await gate.key({ tenant: 'other', roles: ['agent'] })

type Key = Parameters<Gate['call']>[0]
const send = (body: unknown, key: Key = agent, headers: Record<string, string> = {}): Promise<Answer> =>
  gate.call(key, 'POST', PATH, body, headers)

/** Claude Code lets the tool run for anything but a 2xx with this in it. */
function assertDenied({ status, headers, body }: Answer, said: RegExp): void {
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.deepEqual(Object.keys(body), ['hookSpecificOutput'])
  const { permissionDecisionReason, ...rest } = body.hookSpecificOutput
  assert.deepEqual(rest, { hookEventName: 'PreToolUse', permissionDecision: 'deny' })
  assert.match(permissionDecisionReason, said)
}

function assertPassed({ status, body }: Answer): void {
  assert.deepEqual({ status, body }, { status: 200, body: {} })
}

test('what the gate allows is left to the permissions of Claude Code; what it denies is denied with its reason', async () => {
  for (const at of gates) {
    const key = await at.key({ roles: ['agent'] })
    assertPassed(await at.call(key, 'POST', PATH, hook('read')))
    assertDenied(await at.call(key, 'POST', PATH, hook('web-fetch')), /^WebFetch was not allowed: No web\.$/)
    assertDenied(await at.call(key, 'POST', PATH, hook('mcp')), /^mcp__memory__create_entities was not allowed/)
  }
})

test('every recorded hook before a tool is decided', async () => {
  const names = readdirSync(FOLDER).flatMap((name) => /^(?!post-)(.*)\.json$/.exec(name)?.[1] ?? [])
  const asked = names.filter((name) => name !== 'bash')
  for (const name of asked) {
    const answer = await send(hook(name))
    if (name === 'read') assertPassed(answer)
    else assertDenied(answer, /was not allowed/)
  }
})

test('the key may come as a bearer token, and the tenant be that of the key', async () => {
  const response = await fetch(gate.server.url + PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(hook('read')),
  })
  assert.deepEqual([response.status, await response.json()], [200, {}])
})

describe('what needs people', () => {
  const bash = (command: string) => ({ ...hook('bash'), tool_input: { command } })
  const pendingFor = (command: string): Promise<{ id: string }> =>
    until(`an approval for ${command}`, async () => {
      const { data } = (await gate.call(approver, 'GET', '/approvals')).body
      return data.find((item: { context: { args: { command: string } } }) => item.context.args.command === command)
    })
  const vote = async (verb: string, id: string): Promise<void> => {
    assert.equal((await gate.call(approver, 'POST', `/approvals/${id}/${verb}`, { approverId: 'ann' })).status, 200)
  }

  test('is held, and goes on when they approve', async () => {
    const answer = send(bash('approved'))
    await vote('approve', (await pendingFor('approved')).id)
    assertPassed(await answer)
  })

  test('is denied when they reject', async () => {
    const answer = send(bash('rejected'))
    await vote('reject', (await pendingFor('rejected')).id)
    assertDenied(await answer, /^Bash was not allowed/)
  })

  test('is denied after 25 s with the approval; once it is approved, the same call goes on, once', async () => {
    const begin = performance.now()
    const first = await send(bash('later'))
    const { id } = await pendingFor('later')
    assertDenied(first, new RegExp(`^Bash needs the approval of people.* ${id}:`))
    assert.equal(performance.now() - begin > 24_000, true)
    await vote('approve', id)
    assertPassed(await send({ ...bash('later'), tool_use_id: 'toolu_2', prompt_id: 'other' }))
  })
})

describe('a failure is a deny', () => {
  const json = { 'content-type': 'application/json' }
  const rows: [name: string, ask: () => Promise<Answer>, said: RegExp][] = [
    ['no key', () => send(hook('read'), { secret: '', tenant: 'acme' }), /\(unauthenticated\)/],
    ['a key that nobody has', () => send(hook('read'), { secret: 'sk_live_x', tenant: 'acme' }), /\(unauthenticated\)/],
    ['an unknown tenant', () => send(hook('read'), { ...agent, tenant: 'nowhere' }), /\(tenant_mismatch\)/],
    ['a key of another tenant', () => send(hook('read'), { ...stranger, tenant: 'acme' }), /\(tenant_mismatch\)/],
    ['a key that may not ask', () => send(hook('read'), approver), /\(forbidden\)/],
    ['no body', () => send(undefined), /\(unsupported_media_type\)/],
    ['an empty body', () => send('', agent, json), /\(invalid_json\)/],
    ['no JSON', () => send('Read', agent, json), /\(invalid_json\)/],
    ['a member twice', () => send('{"tool_name":"Read","tool_name":"Read"}'), /\(invalid_json\)/],
    ['another type', () => send('a=b', agent, { 'content-type': 'text/plain' }), /\(unsupported_media_type\)/],
    ['too large a body', () => send({ ...hook('write'), x: 'x'.repeat(2 << 20) }), /\(payload_too_large\)/],
    ['too deep a body', () => send('['.repeat(100)), /\(invalid_json\)/],
    ['a list', () => send([hook('read')]), /\(invalid_request\)/],
    ['another event', () => send({ ...hook('read'), hook_event_name: 'Stop' }), /\(invalid_request\)/],
    ['an event after a tool', () => send(hook('post-tool-use')), /\(invalid_request\)/],
    ['no tool', () => send({ ...hook('read'), tool_name: undefined }), /\(invalid_request\)/],
    ['a tool that is no action', () => send({ ...hook('read'), tool_name: 'Read it' }), /\(invalid_request\)/],
    ['a query', () => gate.call(agent, 'POST', `${PATH}?wait=1`, hook('read')), /\(invalid_request\)/],
  ]
  for (const [name, ask, said] of rows) test(name, async () => assertDenied(await ask(), said))

  test('another Host', async () => {
    const text = JSON.stringify(hook('read'))
    const head = `POST ${PATH} HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\nx-api-key: ${agent.secret}\r\n\r\n`
    assertDenied(await raw(gate, head + text), /\(host_not_allowed\)/)
  })

  test('a stop', async () => {
    const stop = { tenantId: 'acme', level: 'L1', scope: 'Read', reason: 'Stopped.', triggeredBy: 'ann' }
    assert.equal((await gate.call(operator, 'POST', '/killswitch/trigger', stop)).status, 200)
    assertDenied(await send(hook('read')), /^Read was not allowed/)
    const end = { tenantId: 'acme', level: 'L1', scope: 'Read', recoveredBy: 'ann', comment: 'x' }
    assert.equal((await gate.call(operator, 'POST', '/killswitch/recover', end)).status, 200)
    assertPassed(await send(hook('read')))
  })

  test('a plan that is used up', async (t) => {
    const metered = await gate.key({ tenant: 'metered', roles: ['agent'] })
    const deps = { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
    await setPlan(deps, { kind: 'host', id: 'host:0' }, 'metered', 'free')
    stopTime(t)
    const ask = () => send(hook('read'), metered)
    for (const answer of await Promise.all(Array.from({ length: 60 }, ask))) assertDenied(answer, /was not allowed/)
    assertDenied(await ask(), /\(rate_limited\)/)
  })

  test('a service whose trail cannot be written', async () => {
    const broken = await startGate({ after }, { policies: { 'acme/main.yaml': POLICY } })
    const key = await broken.key({ roles: ['agent'] })
    await broken.server.store.close()
    assertDenied(await broken.call(key, 'POST', PATH, hook('read')), /\((internal|audit_unavailable)\)/)
  })

  test('who has gone uses no approval', async () => {
    const command = 'gone'
    const outgoing = request(gate.server.url + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': agent.secret, 'x-tenant-id': 'acme' },
    })
    outgoing.on('error', () => undefined).end(JSON.stringify({ ...hook('bash'), tool_input: { command } }))
    const find = async () => {
      const { data } = (await gate.call(approver, 'GET', '/approvals')).body
      return data.find((item: { context: { args: { command: string } } }) => item.context.args.command === command)
    }
    const { id } = await until('the approval', find)
    outgoing.destroy()
    // The service sees the end of the connection, and would use the approval, within that.
    await sleep(500)
    assert.equal((await gate.call(approver, 'POST', `/approvals/${id}/approve`, { approverId: 'ann' })).status, 200)
    await sleep(500)
    assert.equal((await gate.call(approver, 'GET', `/approvals/${id}`)).body.data.status, 'approved')
  })
})
