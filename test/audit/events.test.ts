import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_TYPES, isReservedType } from '../../src/audit/events.ts'

test('no caller can write an entry that reads as one of the service', () => {
  assert.deepEqual(
    EVENT_TYPES.filter((type) => !isReservedType(type)),
    [],
  )
})
