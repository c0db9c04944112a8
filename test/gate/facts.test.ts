import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { UNLIMITED } from '../../src/base/work.ts'
import { type Asked, factReader } from '../../src/gate/facts.ts'
import type { ReadFact } from '../../src/policies/evaluate.ts'
import { localClock } from '../../src/policies/local-time.ts'
import { parseFactPath } from '../../src/policies/path.ts'

const CONTEXT: JsonObject = {
  amount: 5,
  nothing: null,
  'first name': 'Ann',
  'a.b': 1,
  user: { country: 'DE', tags: ['x'] },
  items: [{ price: 1, tags: ['a', 'b'] }, { price: 2, tags: ['c'] }, { tags: [['deep']] }],
  provenance: { one: ['web', 'mail'], two: ['file'], three: 'user' },
  empty: {},
  none: [],
}

const ASKED: Asked = {
  action: 'payment.transfer',
  tenant: 'acme',
  environment: 'test',
  agent: 'bot',
  nowMs: Date.UTC(2026, 2, 29, 0, 30),
  context: CONTEXT,
  plan: { action: 'payment.transfer', steps: [{ tool: 'a' }, { tool: 'b' }] },
}

const overTime: ReadFact = ({ text }) => (text === 'history.count.transfers' ? 2 : undefined)
const DEFINED = { domain: undefined, localTime: localClock('Europe/Berlin'), overTime }

const FACTS: [path: string, value: Json | undefined][] = [
  ['action', 'payment.transfer'],
  ['domain', undefined],
  ['tenant', 'acme'],
  ['environment', 'test'],
  ['agent', 'bot'],
  ['agent.length', undefined],
  ['history.count.transfers', 2],
  ['history.count.refunds', undefined],
  ['session.actions', undefined],
  ['time.hour', 1],
  ['time.weekday', 'sun'],
  ['time.minute', undefined],
  ['now', undefined],
  ['context.amount', 5],
  ['context.nothing', null],
  ['context.absent', undefined],
  ['context["first name"]', 'Ann'],
  ['context["a.b"]', 1],
  ['context.a.b', undefined],
  ['context.user.country', 'DE'],
  ['context.user.country.length', undefined],
  ['context.amount.toFixed', undefined],
  ['context.constructor', undefined],
  ['context.user.toString', undefined],
  ['context["__proto__"]', undefined],
  ['context.user.tags.0', 'x'],
  ['context.user.tags.1', undefined],
  ['context.user.tags.00', undefined],
  ['context.user.tags.length', undefined],
  ['context.items.*.price', [1, 2, null]],
  ['context.items.*.tags', ['a', 'b', 'c', ['deep']]],
  ['context.provenance.*', ['web', 'mail', 'file', 'user']],
  ['context["*"]', undefined],
  ['context.empty.*', []],
  ['context.none.*', []],
  ['context.amount.*', undefined],
  ['context.absent.*', undefined],
  ['plan.action', 'payment.transfer'],
  ['plan.steps.*.tool', ['a', 'b']],
  ['plan.*', ['payment.transfer', { tool: 'a' }, { tool: 'b' }]],
  ['plan', ASKED.plan],
]

for (const [text, value] of FACTS) {
  test(`facts: ${text}`, () => {
    const path = parseFactPath(text)
    assert.ok(path !== undefined)
    assert.deepEqual(factReader(ASKED, DEFINED)(path, UNLIMITED), value)
  })
}

const TIMES: [iso: string, timezone: string, hour: number, weekday: string][] = [
  ['2026-03-29T00:59:59Z', 'Europe/Berlin', 1, 'sun'],
  ['2026-03-29T01:00:00Z', 'Europe/Berlin', 3, 'sun'],
  ['2026-10-25T00:30:00Z', 'Europe/Berlin', 2, 'sun'],
  ['2026-10-25T01:30:00Z', 'Europe/Berlin', 2, 'sun'],
  ['2026-01-01T00:00:00Z', 'UTC', 0, 'thu'],
  ['2026-01-01T00:00:00Z', 'America/New_York', 19, 'wed'],
  ['2026-01-01T23:00:00Z', 'Asia/Kolkata', 4, 'fri'],
]

for (const [iso, timezone, hour, weekday] of TIMES) {
  test(`facts: time of ${iso} in ${timezone}`, () => {
    const read = factReader({ ...ASKED, nowMs: Date.parse(iso) }, { ...DEFINED, localTime: localClock(timezone) })
    const values = ['time.hour', 'time.weekday'].map((text) =>
      read(parseFactPath(text) ?? { text, root: '', segments: [] }, UNLIMITED),
    )
    assert.deepEqual(values, [hour, weekday])
  })
}

test('facts: without context and plan their facts are missing', () => {
  const read = factReader({ ...ASKED, context: undefined, plan: undefined }, DEFINED)
  for (const text of ['context.a', 'plan.a', 'context.*', 'plan']) {
    const path = parseFactPath(text)
    assert.equal(path && read(path, UNLIMITED), undefined)
  }
})
