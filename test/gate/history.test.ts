import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { historyFrom, MAX_SESSION_ACTIONS, type TakenAction } from '../../src/gate/history.ts'
import { setOf } from '../authoring/sources.ts'
import { factsOverTime } from './facts-over-time.ts'

const MINUTE = 60_000
const NOW = Date.UTC(2026, 0, 5, 12)

const SET = setOf(`
session: {fact: context.session, taken: {read-mail: [mail.read, "inbox.**"]}}
facts:
  context.session: {type: string}
  context.amount: {type: number}
  context.fee: {type: number, default: 0.5}
history:
  count:
    agent: {actions: ["pay.*"], within: 1h, by: agent}
    tenant: {actions: ["pay.*"], within: 1h, by: tenant}
    session: {actions: ["pay.*"], within: 1h, by: session}
    other: {actions: [mail.send], within: 1h, by: agent}
  sum:
    amount: {actions: ["pay.*"], fact: context.amount, within: 1h, by: agent}
    fee: {actions: ["pay.*"], fact: context.fee, within: 1h, by: tenant}
rules:
  - id: all
    actions: ["**"]
    effect: deny
    reason: R.
    when:
      any:
        - {fact: history.count.agent, operator: greaterThan, value: 9}
        - {fact: history.count.tenant, operator: greaterThan, value: 9}
        - {fact: history.count.session, operator: greaterThan, value: 9}
        - {fact: history.count.other, operator: greaterThan, value: 9}
        - {fact: history.sum.amount, operator: greaterThan, value: 9}
        - {fact: history.sum.fee, operator: greaterThan, value: 9}
        - {fact: session.actions, operator: contains, value: x}
        - {fact: session.taken.read-mail, operator: equal, value: true}
`)

/** An action that was allowed so many minutes before. */
function past(minutes: number, action: string, context: JsonObject = {}, agent = 'bot'): TakenAction {
  return { action, context, agent, atMs: NOW - minutes * MINUTE }
}

function valuesOf(action: string, context: JsonObject, taken: readonly TakenAction[]): Record<string, Json> {
  const query = { action, context, agent: 'bot', nowMs: NOW }
  return Object.fromEntries(factsOverTime(SET, query, historyFrom(SET, query, taken)))
}

interface Case {
  name: string
  action?: string
  context?: JsonObject
  taken: TakenAction[]
  /** Facts by what comes after `history.` or `session.`; undefined for one that is missing. */
  wanted: Record<string, Json | undefined>
}

const PAY = 'pay.out'
const CASES: Case[] = [
  {
    name: 'the action that is asked for is counted, nothing else was',
    context: { amount: 5 },
    taken: [],
    wanted: { 'count.agent': 1, 'count.tenant': 1, 'count.other': 0, 'sum.amount': 5, 'sum.fee': 0.5 },
  },
  {
    name: 'an action that no pattern matches counts nothing',
    action: 'file.read',
    taken: [past(1, PAY, { amount: 3 })],
    wanted: { 'count.agent': 1, 'sum.amount': 3 },
  },
  {
    name: 'what is as old as the window is not counted, what is a millisecond younger is',
    context: { amount: 0.1 },
    taken: [past(60, PAY, { amount: 1 }), { ...past(60, PAY, { amount: 0.2 }), atMs: NOW - 60 * MINUTE + 1 }],
    wanted: { 'count.agent': 2, 'sum.amount': 0.3 },
  },
  {
    name: 'what came after a clock that went back is counted',
    context: { amount: 1 },
    taken: [past(-5, PAY, { amount: 1 })],
    wanted: { 'count.agent': 2, 'sum.amount': 2 },
  },
  {
    name: 'other agents count for the tenant alone',
    context: { amount: 1, fee: 2 },
    taken: [past(1, PAY, { amount: 1, fee: 3 }, 'ann'), past(2, PAY, { amount: 1 })],
    wanted: { 'count.agent': 2, 'count.tenant': 3, 'sum.amount': 2, 'sum.fee': 5.5 },
  },
  {
    name: 'a sum is missing where a number that belongs to it is, a count is not',
    context: { amount: 1 },
    taken: [past(1, PAY, {}), past(2, PAY, { amount: '7' })],
    wanted: { 'count.agent': 3, 'sum.amount': undefined, 'sum.fee': 1.5 },
  },
  {
    name: 'a sum is missing where the request that is asked lacks its number',
    taken: [past(1, PAY, { amount: 1 })],
    wanted: { 'sum.amount': undefined, 'count.agent': 2 },
  },
  {
    name: 'a sum is missing beyond the range of numbers',
    context: { amount: 1e308 },
    taken: [past(1, PAY, { amount: 1e308 })],
    wanted: { 'sum.amount': undefined },
  },
  {
    name: 'without a session, its facts are missing',
    context: { amount: 1 },
    taken: [past(1, 'mail.read', { session: 's' })],
    wanted: { actions: undefined, 'taken.read-mail': undefined, 'count.session': undefined },
  },
  {
    name: 'a session is its name and its agent',
    context: { session: 's' },
    taken: [
      past(1, 'mail.read', { session: 's' }),
      past(2, PAY, { session: 's' }),
      past(9000, 'web.get', { session: 's' }),
      past(1, 'file.read', { session: 't' }),
      past(1, 'file.send', { session: 's' }, 'ann'),
      past(1, 'file.list', {}),
      past(1, PAY, { session: 's' }),
    ],
    wanted: { actions: ['mail.read', PAY, 'web.get'], 'taken.read-mail': true, 'count.session': 3, 'count.agent': 3 },
  },
  {
    name: 'the action that is asked for is not in its session yet',
    action: 'inbox.a.b',
    context: { session: 's' },
    taken: [],
    wanted: { actions: [], 'taken.read-mail': false, 'count.session': 0 },
  },
  ...[5, '', null, ['s'], 'x'.repeat(257)].map(
    (session): Case => ({
      name: `no session: ${JSON.stringify(session).slice(0, 20)}`,
      context: { session },
      taken: [past(1, PAY, { session })],
      wanted: { actions: undefined, 'count.session': undefined },
    }),
  ),
  {
    name: 'of more actions than can be told, none is',
    context: { session: 's' },
    taken: Array.from({ length: MAX_SESSION_ACTIONS + 1 }, (_, i) => past(1, `a.${i}`, { session: 's' })),
    wanted: { actions: undefined, 'taken.read-mail': undefined, 'count.session': 1 },
  },
]

for (const { name, action = PAY, context = {}, taken, wanted } of CASES) {
  test(`over time: ${name}`, () => {
    const values = valuesOf(action, context, taken)
    const told = Object.keys(wanted).map((key) => [key, values[`history.${key}`] ?? values[`session.${key}`]])
    assert.deepEqual(Object.fromEntries(told), wanted)
  })
}

test('over time: only what is asked about the action is worked out', () => {
  const set = setOf(`
history: {count: {a: {actions: [a.b], within: 1h, by: agent}, scaled: {actions: [a.b], within: 1h, by: agent}}}
risk: [{name: f, actions: [a.c], weight: 5, scale: {fact: history.count.scaled, from: 0, to: 5}}]
rules: [{id: r, actions: [a.b], effect: deny, reason: R., when: {fact: history.count.a, operator: greaterThan, value: 2}}]
`)
  for (const [action, texts] of [
    ['a.b', ['history.count.a']],
    ['a.c', ['history.count.scaled']],
    ['a.d', []],
  ] as const) {
    const query = { action, agent: 'bot', nowMs: NOW }
    assert.deepEqual([...factsOverTime(set, query, historyFrom(set, query, [])).keys()], texts)
  }
})
