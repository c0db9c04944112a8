import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_TYPES, isReservedType } from '../../src/audit/events.ts'

test('no caller can write an entry that reads as one of the service', () => {
  assert.deepEqual(
    EVENT_TYPES.filter((type) => !isReservedType(type)),
    [],
  )
})

for (const type of [
  'Approval.approved',
  'APPROVAL.approved',
  'approval:approved',
  'approval/approved',
  'Key',
  'approval',
  'gAte.decision',
])
  test(`a caller's entry of the type ${type} would pass for one of ours`, () => {
    assert.ok(isReservedType(type))
  })
for (const type of ['approvals.seen', 'my.approval', 'report.sent', 'keyboard.pressed'])
  test(`a caller may write ${type}`, () => {
    assert.ok(!isReservedType(type))
  })
