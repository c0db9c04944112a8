import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Approval, deadlineMs, statusAt } from '../../src/approvals/approval.ts'
import { approvalView } from '../../src/approvals/view.ts'
import type { PlacedStop } from '../../src/killswitch/killswitch.ts'
import { at, stopOf, T0 } from '../killswitch/stops.ts'
import { approvalOf, keysOf, voteBy } from './records.ts'

const HOUR = 3_600_000
const PAUSED = stopOf({ triggeredAt: at(1000), recoveredAt: at(6000) })
const ONGOING = stopOf({ triggeredAt: at(HOUR - 1) })
const ELSEWHERE = stopOf({ target: 'other/live', triggeredAt: at(0) })
const BEFORE = stopOf({ triggeredAt: at(-9000), recoveredAt: at(-1000) })

/** Approved by a vote that was cast when the chain had this many entries. */
const approvedAfter = (decidedEnd: number): Partial<Approval> => ({ status: 'approved', decidedAt: at(1), decidedEnd })
// The clock was set back by a day between the vote and the stop, and by an hour before it ended.
const CLOCK_SET_BACK = stopOf({ triggeredAt: at(-24 * HOUR), recoveredAt: at(-25 * HOUR) })
const { lengths: _, ...NOT_ON_DISK } = stopOf()
const EVERYWHERE = stopOf({ level: 'L4', target: 'global', scope: 'global' })

const STATUS: [name: string, change: Partial<Approval>, stops: PlacedStop[], afterMs: number, status: string][] = [
  ['pending before its deadline', {}, [], HOUR - 1, 'pending'],
  ['pending at its deadline', {}, [], HOUR, 'expired'],
  ['approved at its deadline', { status: 'approved' }, [], HOUR, 'expired'],
  ['rejected long after', { status: 'rejected' }, [], 9 * HOUR, 'rejected'],
  ['consumed long after', { status: 'consumed' }, [], 9 * HOUR, 'consumed'],
  ['cancelled long after', { status: 'cancelled' }, [], 9 * HOUR, 'cancelled'],
  ['stopped for 5 s, within them', {}, [PAUSED], HOUR + 4999, 'pending'],
  ['stopped for 5 s, after them', {}, [PAUSED], HOUR + 5000, 'expired'],
  ['stopped just in time, for years', {}, [ONGOING], 9999 * HOUR, 'pending'],
  ['stopped too late', {}, [stopOf({ triggeredAt: at(HOUR) })], 9 * HOUR, 'expired'],
  ['another tenant stopped', {}, [ELSEWHERE], HOUR, 'expired'],
  ['stopped before it was asked', {}, [BEFORE], HOUR, 'expired'],
  [
    'stopped before it was asked, until a later time of a clock set back',
    { requestedEnd: 10 },
    [PAUSED],
    HOUR,
    'expired',
  ],
  [
    'stopped by what is not on disk',
    { requestedEnd: 99 },
    [{ ...NOT_ON_DISK, triggeredAt: at(1) }],
    9 * HOUR,
    'pending',
  ],
  ['approved before a stop', approvedAfter(9), [PAUSED], 7000, 'cancelled'],
  ['approved when a stop may have been there already', approvedAfter(10), [PAUSED], 7000, 'cancelled'],
  ['approved after a stop', approvedAfter(11), [PAUSED], 7000, 'approved'],
  [
    'approved before a stop of an earlier time, by a clock set back',
    approvedAfter(9),
    [CLOCK_SET_BACK],
    1,
    'cancelled',
  ],
  ['approved after a stop of a later time, by a clock set back', approvedAfter(11), [ONGOING], 1, 'approved'],
  ['approved before a stop that is not on disk', approvedAfter(99), [NOT_ON_DISK], 1, 'cancelled'],
  ['approved before everything was stopped', approvedAfter(9), [EVERYWHERE], 1, 'cancelled'],
  ['approved after everything was stopped', approvedAfter(11), [EVERYWHERE], 1, 'approved'],
  [
    'approved when everything was stopped before the first entry',
    approvedAfter(1),
    [{ ...EVERYWHERE, lengths: {} }],
    1,
    'approved',
  ],
  ['approved before a stop of another tenant', approvedAfter(9), [{ ...PAUSED, target: 'x/live' }], 7000, 'approved'],
  ['asked for a second later than now', {}, [], -1000, 'pending'],
  ['asked for more than a second later than now', {}, [], -1001, 'expired'],
  ['approved, though asked for later than now', approvedAfter(9), [], -1001, 'expired'],
  ['stopped until a time that is still to come', {}, [stopOf({ recoveredAt: at(3 * HOUR) })], HOUR, 'expired'],
  ['two overlapping stops count once', {}, [PAUSED, { ...PAUSED, id: 'ksw_2' }], HOUR + 5000, 'expired'],
]

for (const [name, change, stops, afterMs, status] of STATUS) {
  test(`${name}: ${status}`, () => {
    const approval = approvalOf(change)
    assert.equal(statusAt(approval, stops, T0 + afterMs), status)
    assert.equal(approvalView(approval, { switches: stops, keys: keysOf() }, T0 + afterMs, true).status, status)
  })
}

test('a stop gives no time to an approval of an earlier version, which does not say when it was asked for', () => {
  const { requestedEnd: _, ...older } = approvalOf()
  assert.equal(statusAt(older as Approval, [PAUSED], T0 + HOUR), 'expired')
})

test('the view shows the moved deadline, and nothing of keys', () => {
  const view = approvalView(approvalOf(), { switches: [PAUSED], keys: keysOf() }, T0 + 7000, true)
  assert.equal(view.expiresAt, at(HOUR + 5000))
  assert.equal(deadlineMs(approvalOf(), [PAUSED], T0 + 7000), T0 + HOUR + 5000)
  assert.deepEqual(
    ['revision', 'chain', 'requestedByKey', 'selfApproval', 'approvers'].filter((name) => name in view),
    [],
  )
})

test('a stop that came after somebody had cancelled an approval is not named as what cancelled it', () => {
  const votes = [{ ...voteBy('key_ann'), votedAt: at(1000) }]
  const later = stopOf({ triggeredAt: at(9000) })
  const stopIn = (decidedAt: string) =>
    approvalView(
      approvalOf({ status: 'cancelled', votes, decidedAt, decidedEnd: 9 }),
      { switches: [later], keys: keysOf() },
      T0 + HOUR,
      true,
    ).stop?.id
  assert.equal(stopIn(at(5000)), undefined)
  assert.equal(stopIn(at(1000)), later.id)
})

test('a policy that tells the agent the reason only hides rule and factors from it, not from approvers', () => {
  const approval = approvalOf({ explain: 'reason', factors: [{ name: 'amount', weight: 5, contribution: 5 }] })
  const shown = (isApprover: boolean) => {
    const { rule, factors, reason } = approvalView(approval, { switches: [], keys: keysOf() }, T0, isApprover)
    return [rule, factors.length, reason]
  }
  assert.deepEqual(shown(true), [approval.rule, 1, approval.reason])
  assert.deepEqual(shown(false), [null, 0, approval.reason])
})
