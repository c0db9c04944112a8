import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json.ts'
import { type Found, formOf, INPUTS, type InputForm, recorder } from '../../src/replay/inputs.ts'

const NOON = Date.UTC(2026, 0, 5, 12)
const AT = '2026-01-05T12:00:00Z'
const outcome = (decision: 'allow' | 'deny' | 'require_approval', rule: string | null = null, reason = '') => ({
  ...{ decision, rule, reason, decidedBy: null, riskScore: null, factors: [], unevaluable: [] },
})

interface Case {
  name: string
  record: JsonObject
  form: InputForm | undefined
  wanted?: Partial<Found>[]
}

const OPA = { decision_id: 'd1', path: 'http/example/authz/allow', timestamp: '2026-01-05T12:00:00.000000001Z' }
const asked = (context: JsonObject) => ({ context, plan: undefined })

const CASES: Case[] = [
  {
    name: 'a request as of a check, with who and when and what was decided',
    record: {
      action: 'mail.send',
      context: { to: 'a' },
      plan: {},
      agent: 'ann',
      time: AT,
      decision: 'deny',
      rule: 'r',
      reason: 'R.',
      id: 'x',
      tenantId: 't',
    },
    form: 'requests',
    wanted: [
      {
        action: 'mail.send',
        asked: { context: { to: 'a' }, plan: {} },
        agent: 'ann',
        timeMs: NOON,
        id: 'x',
        tenant: 't',
        outcome: outcome('deny', 'r', 'R.'),
      },
    ],
  },
  {
    name: 'a request alone',
    record: { action: 'mail.send' },
    form: 'requests',
    wanted: [{ action: 'mail.send', outcome: undefined, timeMs: undefined }],
  },
  { name: 'an action that is no name', record: { action: 'mail send' }, form: undefined },
  { name: 'an object about something else', record: { hello: 1 }, form: undefined },
  {
    name: 'an OPA event with its path as action, and its input as context',
    record: { ...OPA, input: { method: 'GET', user: 'bob' }, result: true },
    form: 'opa',
    wanted: [
      {
        action: 'http.example.authz.allow',
        id: 'd1',
        agent: 'bob',
        timeMs: NOON,
        asked: asked({ method: 'GET', user: 'bob' }),
        outcome: outcome('allow'),
      },
    ],
  },
  {
    name: 'an OPA event of a tool call',
    record: {
      ...OPA,
      input: { tool: { name: 'send money' } },
      result: { decision: 'requires-approval', reason: 'R.' },
    },
    form: 'opa',
    wanted: [{ action: 'send_money', outcome: outcome('require_approval', null, 'R.') }],
  },
  {
    name: 'an OPA result as a text',
    record: { ...OPA, input: { action: 'a' }, result: 'false' },
    form: 'opa',
    wanted: [{ action: 'a', outcome: outcome('deny') }],
  },
  {
    name: 'an OPA result with `allow`',
    record: { ...OPA, input: {}, result: { allow: false } },
    form: 'opa',
    wanted: [{ outcome: outcome('deny') }],
  },
  {
    name: 'an OPA rule that was undefined',
    record: { ...OPA, input: {} },
    form: 'opa',
    wanted: [{ outcome: undefined }],
  },
  {
    name: 'an OPA input of which a part was erased',
    record: { ...OPA, input: {}, erased: ['/input/password'], result: true },
    form: 'opa',
    wanted: [{ asked: undefined, outcome: outcome('allow') }],
  },
  {
    name: 'an OPA result that was erased',
    record: { ...OPA, input: {}, erased: ['/result'] },
    form: 'opa',
    wanted: [{ asked: asked({}), outcome: undefined }],
  },
  {
    name: 'a Cerbos entry: a request for each action on each resource',
    record: {
      callId: 'c1',
      timestamp: AT,
      'log.kind': 'decision',
      checkResources: {
        inputs: [
          {
            resource: { kind: 'album', id: '1', attr: { public: true } },
            principal: { id: 'ann', roles: ['user'] },
            actions: ['view', 'delete'],
          },
        ],
        outputs: [
          {
            resourceId: '1',
            actions: {
              view: { effect: 'EFFECT_ALLOW', policy: 'resource.album.vdefault' },
              delete: { effect: 'EFFECT_DENY', policy: 'p' },
            },
          },
        ],
      },
    },
    form: 'cerbos',
    wanted: [
      {
        ...{ action: 'album.view', agent: 'ann', timeMs: NOON, outcome: outcome('allow', 'resource.album.vdefault') },
        asked: asked({
          resource: { kind: 'album', id: '1', attr: { public: true } },
          principal: { id: 'ann', roles: ['user'] },
        }),
      },
      { action: 'album.delete', outcome: outcome('deny', 'p') },
    ],
  },
  {
    name: 'a Cerbos entry of an older version',
    record: {
      callId: 'c',
      timestamp: AT,
      inputs: [{ resource: { kind: 'album' }, principal: { id: 'ann' }, actions: ['view'] }],
      outputs: [{ actions: { view: { effect: 1 } } }],
    },
    form: 'cerbos',
    wanted: [{ action: 'album.view', outcome: outcome('allow') }],
  },
  {
    name: 'a Cerbos access',
    record: { callId: 'c', method: '/cerbos.svc.v1.CerbosService/CheckResources' },
    form: 'cerbos',
    wanted: [],
  },
]

for (const { name, record, form, wanted } of CASES) {
  test(name, () => {
    assert.equal(formOf(record), form)
    if (form === undefined || wanted === undefined) return
    const found = INPUTS[form].read(record) ?? []
    assert.equal(found.length, wanted.length)
    for (const [i, members] of wanted.entries())
      assert.deepEqual(
        Object.fromEntries(Object.keys(members).map((key) => [key, found[i]?.[key as keyof Found]])),
        members,
      )
  })
}

test('times never fall, one without a time has that of the one before, and one of unknown decision ran', () => {
  const record = recorder('log', NOON)
  const make = (timeMs: number | undefined, decided?: 'allow' | 'deny') =>
    record({ action: 'a', asked: asked({}), timeMs, outcome: decided && outcome(decided) }, 'log:1')
  const all = [make(undefined), make(5), make(3, 'deny'), make(undefined, 'allow'), make(9)]
  assert.deepEqual(
    all.map(({ seq, tsMs, evaluatedMs, isTaken }) => [seq, tsMs, evaluatedMs, isTaken]),
    [
      [0, NOON, NOON, true],
      [1, 5, 5, true],
      [2, 5, 3, false],
      [3, 5, 5, true],
      [4, 9, 9, true],
    ],
  )
})
