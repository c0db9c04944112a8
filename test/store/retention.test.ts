import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beyondLimits } from '../../src/store/retention.ts'

const MIB = 1024 * 1024
const LIMIT = 64 * MIB

/** Sizes of the sets of a tenant, the newest first, and how many of the newest are kept. */
const ROWS: readonly { name: string; bytes: readonly number[]; kept: number }[] = [
  { name: 'none', bytes: [], kept: 0 },
  { name: 'as many as the limit', bytes: Array(100).fill(1), kept: 100 },
  { name: 'one more than the limit', bytes: Array(101).fill(1), kept: 100 },
  { name: 'as large as the limit', bytes: [34 * MIB, 30 * MIB], kept: 2 },
  { name: 'a byte larger than the limit', bytes: [34 * MIB, 30 * MIB + 1, 1], kept: 1 },
  { name: 'the newest alone larger than the limit', bytes: [LIMIT + 1, 1], kept: 1 },
]

for (const { name, bytes, kept } of ROWS)
  test(`policy sets kept of a tenant: ${name}`, () => {
    const sets = bytes.map((size, i) => ({ digest: `d${i}`, bytes: size }))
    assert.deepEqual(beyondLimits(sets), sets.slice(kept))
  })
