import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { sharedTexts } from '../../src/store/sqlite/shared-text.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { aDecision, aKey, commit, creating, note, only, START_MS } from './drafts.ts'

test('a text is shared by 100,000 entries of its chain, and goes with the last of them', (t) => {
  const db = openDatabase(temporaryFolder(), { create: true })
  t.after(() => db.close())
  const texts = sharedTexts(db)
  const shared = (chain: number, seq: number): number => {
    const stored = texts.stored(chain, seq, 'text')
    assert.equal(typeof stored, 'bigint')
    return Number(stored)
  }
  // What comes once is not shared.
  for (const chain of [1, 2]) assert.equal(texts.stored(chain, 4, 'text'), 'text')
  const number = shared(1, 5)
  assert.equal(shared(1, 100_004), number)
  const [next, other] = [shared(1, 100_005), shared(2, 5)]
  assert.equal(new Set([number, next, other]).size, 3)
  const readable = (chain: number, seq: number, of: number) => texts.text(chain, seq, of) === 'text'
  assert.deepEqual(
    [5, 100_004].map((seq) => readable(1, seq, number)),
    [true, true],
  )
  // Before and behind its entries, and in another chain, it is none.
  assert.deepEqual(
    [readable(1, 4, number), readable(1, 100_005, number), readable(2, 5, number)],
    [false, false, false],
  )
  const left = () => {
    texts.forget()
    return [number, next, other].map((of, i) => readable(i === 2 ? 2 : 1, i === 1 ? 100_005 : 5, of))
  }
  texts.prune(1, 100_004)
  assert.deepEqual(left(), [true, true, true])
  texts.prune(1, 100_005)
  assert.deepEqual(left(), [false, true, true])
  // A number is not used again: somebody may still hold the text of it.
  texts.prune(1, 300_000)
  texts.stored(1, 300_000, 'text')
  assert.ok(shared(1, 300_001) > other)
})

test('of a submission that is refused, neither its chain nor its texts are used by later ones', async (t) => {
  const store = openStore({ dir: temporaryFolder(), create: true, clock: () => START_MS })
  t.after(() => store.close())
  const refused = creating('key', aKey())
  const first = { ...aDecision('deny'), chain: 'other/live' }
  const { conflict } = await store.commit({
    ...refused,
    writes: [...refused.writes, ...refused.writes],
    entries: [...refused.entries, first],
  })
  assert.equal(conflict, 'revision')
  await commit(store, only(note({}, { chain: 'third/live' })))
  const second = { ...aDecision('deny'), chain: 'other/live' }
  const more = Array.from({ length: 3 }, () => ({ ...aDecision('deny'), chain: 'other/live' }))
  await commit(store, { guards: [], writes: [], entries: [...more, second] })
  const read = await store.entry(second.id)
  assert.deepEqual([read?.header.chain, read?.sections.length], ['other/live', 4])
  assert.deepEqual(await store.chains(), ['other/live', 'third/live'])
})
