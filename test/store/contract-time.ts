import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatTimestamp } from '../../src/base/time.ts'
import type { Store } from '../../src/store/store.ts'
import { runs } from '../tier.ts'
import type { Stores } from './contract.ts'
import { commit, LIVE, note, only, START_MS } from './drafts.ts'

const REGRESSION = 'clock.regression'

/** Time of entries when the clock goes back. */
export function timeContract(stores: Stores): void {
  test('a clock that goes back is noted each time that it does, not while it catches up', async (t) => {
    let nowMs = START_MS
    const store = await stores(t)(() => nowMs)
    for (const atMs of [0, -2000, -1000, -3000, 0, 1, -1]) {
      nowMs = START_MS + atMs
      await commit(store, only(note()))
    }
    const types = (await entries(store)).map(({ header }) => header.type)
    const noted = types.flatMap((type, seq) => (type === REGRESSION ? [seq] : []))
    assert.deepEqual(noted, [2, 5, 9])
    const first = (await entries(store))[2]?.sections.find(({ name }) => name === 'data')
    assert.deepEqual(JSON.parse(first?.json ?? ''), {
      observed: formatTimestamp(START_MS - 2000),
      previous: formatTimestamp(START_MS),
    })
  })

  test('a note is not lost with the submission that would have caused it', async (t) => {
    let nowMs = START_MS
    const store = await stores(t)(() => nowMs)
    await commit(store, only(note()))
    nowMs -= 1000
    await assert.rejects(store.commit(only(note('\ud800'))), TypeError)
    await commit(store, only(note()))
    const types = (await entries(store)).map(({ header }) => header.type)
    assert.deepEqual(types, ['audit.genesis', 'custom.note', REGRESSION, 'custom.note'])
  })

  test('whatever the clock does, times never fall and each going back is noted', async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 30 }), async (steps) => {
        let nowMs = START_MS
        const store = await stores(t)(() => nowMs)
        let newestMs = 0
        let seenMs = 0
        const expected: string[] = []
        for (const step of steps) {
          nowMs += step
          await commit(store, only(note()))
          if (nowMs < newestMs && nowMs < seenMs) expected.push(REGRESSION)
          newestMs = Math.max(newestMs, nowMs)
          seenMs = nowMs
          expected.push('custom.note', formatTimestamp(newestMs))
        }
        const stored = (await entries(store)).slice(1)
        assert.deepEqual(
          stored.flatMap(({ header }) => (header.type === REGRESSION ? [header.type] : [header.type, header.ts])),
          expected,
        )
        const times = stored.map(({ header }) => header.ts)
        assert.deepEqual(times, [...times].sort())
      }),
      { numRuns: runs(25) },
    )
  })
}

function entries(store: Store) {
  return store.entriesFrom(LIVE, 0, 1000)
}
