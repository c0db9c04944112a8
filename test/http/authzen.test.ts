import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import type { ErrorCode } from '../../src/base/errors.ts'
import { idMaker } from '../../src/base/id.ts'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { type Answer, fileTest, startGate } from '../helpers.ts'
import { assertRefusedBy, entries, entriesOf } from './support.ts'

const CASES = new URL('../testdata/authzen/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, CASES), 'utf8')
const policies = Object.fromEntries(
  readdirSync(new URL('policies/', CASES)).map((tenant) => [
    `${tenant}/main.yaml`,
    read(`policies/${tenant}/main.yaml`),
  ]),
)
const scenarios = await startGate({ after }, { policies })

interface Interop {
  evaluation: { request: object; expected: boolean }[]
  evaluations?: { request: object; expected: { decision: boolean }[] }[]
}

for (const [file, tenant] of [
  ['todo-1_0-02.json', 'todo'],
  ['api-gateway.json', 'gateway'],
] as const) {
  test(`the interoperability scenario ${file}`, async () => {
    const key = await scenarios.key({ tenant, roles: ['agent'] })
    const { evaluation, evaluations = [] }: Interop = JSON.parse(read(file))
    assert.ok(evaluation.length >= 25)
    for (const { request, expected } of evaluation) {
      const { status, body } = await scenarios.call(key, 'POST', '/access/v1/evaluation', request)
      assert.deepEqual([status, body.decision], [200, expected], JSON.stringify(request))
    }
    for (const { request, expected } of evaluations) {
      const { status, body } = await scenarios.call(key, 'POST', '/access/v1/evaluations', request)
      assert.deepEqual([status, decisions(body)], [200, expected.map(({ decision }) => decision)])
    }
  })
}

interface Certification {
  name: string
  path: string
  body: object
  expected: number | boolean | (boolean | null)[]
}

describe('the certification scenario of the Authorization API 1.0', async () => {
  const key = await scenarios.key({ tenant: 'certification', roles: ['agent'] })
  const send = (path: string, body: unknown, headers?: Record<string, string>) =>
    scenarios.call(key, 'POST', `/access/v1/${path}`, body, headers)
  for (const { name, path, body, expected } of JSON.parse(read('certification.json')) as Certification[]) {
    test(name, async () => {
      // 2.6: the same request has the same decision each time.
      for (let i = 0; i < 3; i += 1) {
        const answer = await send(path, body)
        if (typeof expected === 'number') {
          assert.equal(answer.status, expected)
          continue
        }
        assert.equal(answer.status, 200)
        assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
        if (typeof expected === 'boolean') assert.equal(answer.body.decision, expected)
        else
          assert.deepEqual(
            decisions(answer.body).map((one, n) => (expected[n] === null ? null : one)),
            expected,
          )
      }
    })
  }

  const good = {
    subject: { type: 'user', id: 'alice' },
    action: { name: 'read' },
    resource: { type: 'record', id: 'record-1' },
  }
  test('2.4.3 to 2.4.5 what is no JSON is a 400', async () => {
    for (const path of ['evaluation', 'evaluations']) {
      assert.equal((await send(path, JSON.stringify(good), { 'content-type': 'text/plain' })).status, 400)
      assert.equal((await send(path, '{"subject":')).status, 400)
      const empty = { 'content-type': 'application/json', authorization: `Bearer ${key.secret}` }
      const url = `${scenarios.server.url}/access/v1/${path}`
      assert.equal((await fetch(url, { method: 'POST', headers: empty })).status, 400)
    }
  })

  test('2.5 a request identifier is echoed, and not needed', async () => {
    const sent = 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716'
    const echoed = await send('evaluation', good, { 'x-request-id': sent })
    assert.equal(echoed.headers.get('x-request-id'), sent)
    const refused = await send('evaluation', {}, { 'x-request-id': sent })
    assert.deepEqual([refused.status, refused.headers.get('x-request-id')], [400, sent])
    assert.equal((await send('evaluation', good)).status, 200)
  })

  test('6 the configuration names the service as it was reached, and endpoints that work', async () => {
    const { url } = scenarios.server
    const answer = await fetch(`${url}/.well-known/authzen-configuration`)
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/json; charset=utf-8'])
    const found = (await answer.json()) as Record<string, string>
    assert.deepEqual(found, {
      policy_decision_point: url,
      access_evaluation_endpoint: `${url}/access/v1/evaluation`,
      access_evaluations_endpoint: `${url}/access/v1/evaluations`,
      access_request_endpoint: `${url}/access/v1/requests`,
      capabilities: ['urn:openid:authzen:capability:access-request'],
    })
    const headers = { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(good) }
    assert.equal((await fetch(found.access_evaluation_endpoint ?? '', init)).status, 200)
    const behindTls = await fetch(`${url}/.well-known/authzen-configuration`, {
      headers: { 'x-forwarded-proto': 'https' },
    })
    const { policy_decision_point: secure } = (await behindTls.json()) as Record<string, string>
    assert.equal(secure, url.replace('http:', 'https:'))
  })
})

function decisions({ evaluations }: Answer['body']): boolean[] {
  return evaluations.map(({ decision }: { decision: boolean }) => decision)
}

const gate = await startGate({ after })
const agent = await gate.key({ roles: ['agent'] })
const auditor = await gate.key({ roles: ['auditor'] })
const owner = await gate.key()

const evaluationOf = (name: string, context?: object) => ({
  subject: { type: 'agent', id: 'billing-bot', properties: { team: 'finance' } },
  action: { name },
  resource: { type: 'account', id: 'DE02' },
  ...(context && { context }),
})
const pay = (amount: number) => evaluationOf('payment.transfer', { amount })
const evaluate = (body: unknown, key = agent) => gate.call(key, 'POST', '/access/v1/evaluation', body)
const evaluateAll = (body: unknown, key = agent) => gate.call(key, 'POST', '/access/v1/evaluations', body)
const recorded = async ({ body }: Answer) =>
  (await gate.call(owner, 'GET', `/decisions/${body.context.evaluation_id}`)).body.data

test('a decision tells what it rests on, and is on record as any other', async () => {
  const { body } = await evaluate(pay(5))
  assert.equal(body.decision, true)
  const { request, decision, rule } = await recorded({ body } as Answer)
  assert.deepEqual([decision, rule, request.action], ['allow', 'payments', 'payment.transfer'])
  const { subject, action, resource, context } = pay(5)
  assert.deepEqual(request.context, { ...context, subject, action, resource })
  assert.deepEqual(body.context.reason_user, { en: 'Payments within limits.' })
  assert.ok(Date.parse(body.context.valid_until) > Date.parse(body.context.evaluated_at))
  const denied = await evaluate(pay(200_000))
  assert.deepEqual([denied.body.decision, denied.body.context.reason], [false, 'deny_rule'])
  assert.equal('access_request' in denied.body.context, false)
})

test('members that the standard does not have are ignored, and not recorded', async () => {
  const base = pay(5)
  const odd = { ...base, tenantId: 'other', subject: { ...base.subject, role: 'owner' }, foo: [1] }
  const answer = await evaluate(odd)
  assert.equal(answer.body.decision, true)
  assert.deepEqual((await recorded(answer)).request.context.subject, base.subject)
})

test('a context cannot put itself in the place of subject, action or resource', async () => {
  const forged = { amount: 5, subject: { type: 'user', id: 'root' }, resource: 'x', action: { name: 'y' } }
  const answer = await evaluate(evaluationOf('payment.transfer', forged))
  const { context } = (await recorded(answer)).request
  assert.deepEqual(
    [context.subject.id, context.resource.id, context.action.name],
    ['billing-bot', 'DE02', 'payment.transfer'],
  )
})

const MIB = 1024 * 1024
const good = JSON.stringify(pay(5))
const REFUSED: [name: string, code: ErrorCode, body: unknown][] = [
  ['a name that is no action', 'invalid_request', evaluationOf('can read')],
  ['an empty name', 'invalid_request', evaluationOf('')],
  ['properties that are no object', 'invalid_request', { ...pay(5), subject: { type: 'a', id: 'b', properties: [] } }],
  ['an id that is a number', 'invalid_request', { ...pay(5), resource: { type: 'a', id: 1 } }],
  ['a context that is a list', 'invalid_request', { ...pay(5), context: [] }],
  ['a context that is null', 'invalid_request', { ...pay(5), context: null }],
  ['a list', 'invalid_request', [pay(5)]],
  ['a key that comes twice', 'invalid_json', good.replace('{', '{"action":{"name":"email.send"},')],
  ['__proto__', 'invalid_json', good.replace('{', '{"__proto__":{},')],
  ['a lone surrogate', 'invalid_json', good.replace('DE02', '\\ud800')],
  ['depth 33', 'invalid_json', good.replace('5}', `${'['.repeat(32)}${']'.repeat(32)}}`)],
  ['more than 1 MiB', 'payload_too_large', { ...pay(5), foo: 'x'.repeat(MIB) }],
]
for (const [name, code, body] of REFUSED) {
  test(`an error, and no decision: ${name}`, async () => {
    const before = await entries(gate)
    for (const send of [evaluate, evaluateAll]) assertRefusedBy('authzen', await send(body), code)
    assert.equal(await entries(gate), before)
  })
}

test('who may not ask is told so, and nothing is decided', async () => {
  const before = await entries(gate)
  for (const send of [evaluate, evaluateAll]) {
    assertRefusedBy('authzen', await send(pay(5), auditor), 'forbidden')
    assertRefusedBy('authzen', await send(pay(5), { ...agent, secret: 'sk_live_none' }), 'unauthenticated')
    assertRefusedBy('authzen', await send(pay(5), { ...agent, tenant: 'other' }), 'tenant_mismatch')
  }
  assert.equal(await entries(gate), before)
})

describe('a list of evaluations', () => {
  const [yes, no, held] = [{ context: { amount: 5 } }, { context: { amount: 200_000 } }, { context: { amount: 4000 } }]
  const faulty = { action: { name: 'can read' } }
  const asked = (evaluations: object[], semantic?: string) =>
    evaluateAll({ ...pay(1), evaluations, ...(semantic && { options: { evaluations_semantic: semantic } }) })

  const rows: [semantic: string | undefined, evaluations: object[], wanted: boolean[]][] = [
    [undefined, [yes, no, yes], [true, false, true]],
    ['execute_all', [no, yes, held], [false, true, false]],
    ['execute_all', [faulty, yes], [false, true]],
    ['deny_on_first_deny', [no, yes, yes], [false]],
    ['deny_on_first_deny', [yes, no, yes], [true, false]],
    ['deny_on_first_deny', [yes, held, yes], [true, false]],
    ['deny_on_first_deny', [yes, faulty, yes], [true, false]],
    ['deny_on_first_deny', [yes, yes], [true, true]],
    ['permit_on_first_permit', [yes, no, yes], [true]],
    ['permit_on_first_permit', [no, held, faulty, yes, no], [false, false, false, true]],
    ['permit_on_first_permit', [no, no], [false, false]],
  ]
  for (const [i, [semantic, evaluations, wanted]] of rows.entries()) {
    test(`${semantic ?? 'no semantic'}, row ${i}`, async () => {
      const before = await entriesOf(gate, 'gate.decision')
      const { status, body } = await asked(evaluations, semantic)
      assert.deepEqual([status, decisions(body)], [200, wanted])
      assert.equal('decision' in body, false)
      // Evaluations left out, and those that cannot be decided, are not recorded.
      const made = wanted.length - evaluations.slice(0, wanted.length).filter((one) => one === faulty).length
      assert.equal((await entriesOf(gate, 'gate.decision')) - before, made)
    })
  }

  test('an evaluation that is none has its error where its decision would be', async () => {
    const { body } = await evaluateAll({ evaluations: [pay(5), {}, faulty] })
    assert.deepEqual(decisions(body), [true, false, false])
    assert.deepEqual(body.evaluations[1].context.error, { status: 400, message: '/subject is required.' })
  })

  const defaults = {
    ...pay(5),
    subject: { type: 'agent', id: 'billing-bot', properties: { team: 'finance' } },
    resource: { type: 'account', id: 'DE02', properties: { vip: true } },
  }
  const inherited: [name: string, own: object, wanted: object][] = [
    ['nothing of its own', {}, { subject: defaults.subject, resource: defaults.resource, action: defaults.action }],
    ['an id', { resource: { id: 'DE03' } }, { resource: { type: 'account', id: 'DE03' } }],
    ['a type and an id', { subject: { type: 'user', id: 'ann' } }, { subject: { type: 'user', id: 'ann' } }],
    ['an action', { action: { name: 'email.send' } }, { action: { name: 'email.send' } }],
  ]
  for (const [name, own, wanted] of inherited)
    test(`with ${name}, the rest is that of the request, and of an entity no more than the type`, async () => {
      const { body } = await evaluateAll({ ...defaults, evaluations: [own] })
      const { context } = (await recorded({ body: body.evaluations[0] } as Answer)).request
      for (const [member, value] of Object.entries(wanted)) assert.deepEqual(context[member], value)
    })

  const incomplete: [own: object, missing: string][] = [
    [{ resource: { ID: '9' } }, '/resource/id is required.'],
    [{ resource: {} }, '/resource/id is required.'],
    [{ resource: { type: 'account' } }, '/resource/id is required.'],
    [{ resource: { properties: { id: '9' } } }, '/resource/id is required.'],
    [{ resource: { type: 'account', id: null } }, '/resource/id must be string.'],
    [{ resource: { type: null, id: '9' } }, '/resource/type must be string.'],
    [{ resource: null }, '/resource must be object.'],
    [{ subject: { identifier: 'ann' } }, '/subject/id is required.'],
    [{ action: { Name: 'email.send' } }, '/action/name is required.'],
    [{ action: { properties: { method: 'GET' } } }, '/action/name is required.'],
    [{ action: null }, '/action must be object.'],
  ]
  for (const [own, message] of incomplete)
    test(`${JSON.stringify(own)} is decided for nobody else's`, async () => {
      const before = await entriesOf(gate, 'gate.decision')
      const { body } = await evaluateAll({ ...defaults, evaluations: [own] })
      assert.deepEqual(body.evaluations, [{ decision: false, context: { error: { status: 400, message } } }])
      assert.equal(await entriesOf(gate, 'gate.decision'), before)
    })

  const whole: [name: string, body: object][] = [
    ['a semantic that is none', { ...pay(5), evaluations: [yes], options: { evaluations_semantic: 'any' } }],
    ['evaluations that are no list', { ...pay(5), evaluations: {} }],
    ['evaluations that are no objects', { ...pay(5), evaluations: [yes, 1] }],
    ['101 evaluations', { ...pay(5), evaluations: new Array(101).fill(yes) }],
    ['1,000 evaluations', { ...pay(5), evaluations: new Array(1000).fill(yes) }],
    ['a default of a wrong type', { ...pay(5), subject: 'ann', evaluations: [yes] }],
  ]
  for (const [name, body] of whole)
    test(`refused as a whole: ${name}`, async () => {
      const before = await entries(gate)
      assertRefusedBy('authzen', await evaluateAll(body), 'invalid_request')
      assert.equal(await entries(gate), before)
    })

  test('each counts against the limit, and a list that does not fit is not begun', async (t) => {
    const small = await startGate(t)
    const key = await small.key({ roles: ['agent'] })
    const { store } = small.server
    await setPlan(
      { store, clock: Date.now, newId: idMaker(Date.now, randomBytes) },
      { kind: 'host', id: 'host:0' },
      'acme',
      'free',
    )
    const send = (count: number) =>
      small.call(key, 'POST', '/access/v1/evaluations', {
        ...evaluationOf('email.send'),
        evaluations: new Array(count).fill({}),
      })
    assert.equal((await send(40)).status, 200)
    const refused = await send(40)
    assertRefusedBy('authzen', refused, 'rate_limited')
    assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
    assert.equal(await entriesOf(small, 'gate.decision'), 40)
  })
})

test('a stop denies, in a list too', async (t) => {
  const stopped = await startGate(t)
  const key = await stopped.key()
  await stopped.call(key, 'POST', '/killswitch/trigger', { level: 'L3', reason: 'drill', triggeredBy: 'ann' })
  const mail = evaluationOf('email.send')
  const one = await stopped.call(key, 'POST', '/access/v1/evaluation', mail)
  assert.deepEqual([one.body.decision, one.body.context.reason], [false, 'kill_switch'])
  const two = await stopped.call(key, 'POST', '/access/v1/evaluations', { ...mail, evaluations: [{}, {}] })
  assert.deepEqual(decisions(two.body), [false, false])
})

fileTest('when nothing can be recorded there is an error, and no decision', async (t) => {
  const failing = await startGate(t)
  const key = await failing.key()
  const mail = evaluationOf('email.send')
  const send = (path: string, body: object) => failing.call(key, 'POST', path, body)
  assert.equal((await send('/access/v1/evaluation', mail)).body.decision, true)
  for (const end of ['', '-wal', '-shm']) rmSync(join(failing.dir, 'data', DATA_FILE + end))
  assertRefusedBy('authzen', await send('/access/v1/evaluation', mail), 'audit_unavailable')
  assertRefusedBy(
    'authzen',
    await send('/access/v1/evaluations', { ...mail, evaluations: [{}, {}] }),
    'audit_unavailable',
  )
  assertRefusedBy(
    'opa',
    await send('/v1/data/gate/decision', { input: { tool: { name: 'email.send' } } }),
    'audit_unavailable',
  )
})
