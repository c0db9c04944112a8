import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestOf } from '../../src/console/pages/killswitch/nearest.ts'

const KNOWN = ['email.*', 'payment.**', 'email.read', 'email.send', 'payment.transfer', 'payment.transfer.batch']

const MEANT: readonly (readonly [typed: string, nearest: string | undefined])[] = [
  ['paymnt.transfer', 'payment.transfer'],
  ['payments.transfer', 'payment.transfer'],
  ['payment transfer', 'payment.transfer'],
  ['PAYMENT.Transfers', 'payment.transfer'],
  ['email.sned', 'email.send'],
  ['emial.*', 'email.*'],
  ['payment.cancel-every-order', 'payment.**'],
  ['weather.read-forecast', undefined],
  ['x', undefined],
  ['', undefined],
]

test('the known name that differs least is what was meant, or the pattern over names that begin so, or nothing', () => {
  for (const [typed, nearest] of MEANT) assert.equal(nearestOf(typed, KNOWN), nearest, typed)
})

test('the longest name is compared with a thousand others in no time that is felt', () => {
  const many = Array.from({ length: 1000 }, (_, i) => `${i}`.padEnd(128, 'abc'))
  // Processor time, not wall time: others use the processor as well while tests run.
  const begin = process.cpuUsage()
  assert.equal(nearestOf('b'.repeat(128), many), undefined)
  const { user, system } = process.cpuUsage(begin)
  assert.equal((user + system) / 1000 < 1000, true)
})
