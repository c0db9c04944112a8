import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  coveringStop,
  covers,
  type KillSwitch,
  type Level,
  stopsOver,
  strongest,
} from '../../src/killswitch/killswitch.ts'
import { at, stopOf } from './stops.ts'

const PAY = { chain: 'acme/live', action: 'payment.transfer', domain: 'finance' }

const L1 = (scope: string): Partial<KillSwitch> => ({ level: 'L1', scope, patterns: scope === '*' ? [] : [scope] })
const L2: Partial<KillSwitch> = { level: 'L2', scope: 'finance', patterns: ['payment.*'] }
const L4: Partial<KillSwitch> = { level: 'L4', target: 'global', scope: 'global' }

const COVERS: [name: string, stop: Partial<KillSwitch>, subject: Partial<typeof PAY>, covered: boolean][] = [
  ['L1 its action', L1('payment.transfer'), {}, true],
  ['L1 another action', L1('payment.refund'), {}, false],
  ['L1 an action that only starts alike', L1('payment.transfer'), { action: 'payment.transfer2' }, false],
  ['L1 glob, one segment', L1('payment.*'), {}, true],
  ['L1 glob, not the bare name', L1('payment.*'), { action: 'payment' }, false],
  ['L1 glob, not two segments', L1('payment.*'), { action: 'payment.a.b' }, false],
  ['L1 double glob, two segments', L1('payment.**'), { action: 'payment.a.b' }, true],
  ['L1 glob is case-sensitive', L1('payment.*'), { action: 'Payment.a' }, false],
  ['L1 * is everything, segments or not', L1('*'), { action: 'a.b.c' }, true],
  ['L1 * not the other side', L1('*'), { chain: 'acme/test' }, false],
  ['L2 by the domain of now', { ...L2, patterns: [] }, {}, true],
  ['L2 by the patterns of then', L2, { domain: 'renamed' }, true],
  ['L2 another domain', L2, { action: 'email.send', domain: 'communication' }, false],
  ['L2 an action without domain', L2, { action: 'other', domain: undefined as unknown as string }, false],
  ['L2 * is everything', { level: 'L2', scope: '*' }, { action: 'x', domain: 'communication' }, true],
  ['L3 everything in the tenant', {}, { action: 'x' }, true],
  ['L3 not another tenant', {}, { chain: 'other/live' }, false],
  ['L3 not a tenant whose name starts alike', {}, { chain: 'acme2/live' }, false],
  ['L3 live does not stop test', {}, { chain: 'acme/test' }, false],
  ['L4 another tenant', L4, { chain: 'other/live' }, true],
  ['L4 the test side', L4, { chain: 'acme/test' }, true],
  ['a broken pattern matches nothing and does not throw', { ...L1('x'), patterns: ['a**b'] }, {}, false],
]

for (const [name, stop, subject, covered] of COVERS) {
  test(`${name}: ${covered ? 'covered' : 'not covered'}`, () => {
    assert.equal(covers(stopOf(stop), { ...PAY, ...subject }), covered)
  })
}

test('a recovered stop covers its past, and stops nothing', () => {
  const past = stopOf({ recoveredAt: at(10) })
  assert.equal(covers(past, PAY), true)
  assert.equal(coveringStop([past], PAY), undefined)
})

const levels: Level[] = ['L2', 'L4', 'L1', 'L3']
const all = levels.map((level, i) =>
  stopOf({ id: `ksw_${i}`, level, target: level === 'L4' ? 'global' : 'acme/live', scope: '*' }),
)

test('the strongest of several is reported', () => {
  assert.equal(coveringStop(all, PAY)?.level, 'L4')
  assert.deepEqual(
    stopsOver(all, 'acme/live').map(({ level }) => level),
    ['L4', 'L3', 'L2', 'L1'],
  )
})

test('of equal ones, the oldest', () => {
  const stops = [stopOf({ id: 'ksw_b', triggeredAt: at(5) }), stopOf({ id: 'ksw_a', triggeredAt: at(9) })]
  assert.equal(strongest(stops)?.id, 'ksw_b')
})

test('a tenant is told of its own stops and the global ones', () => {
  const other = stopOf({ id: 'ksw_other', target: 'other/live' })
  assert.deepEqual(
    stopsOver([...all, other], 'other/live').map(({ id }) => id),
    ['ksw_1', 'ksw_other'],
  )
  assert.equal(strongest([]), undefined)
})
