import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inTrailOrder, laneOf } from '../../src/audit/chain.ts'
import type { StoredEntry } from '../../src/audit/entry.ts'
import { formatTimestamp } from '../../src/base/time.ts'
import type { PageQuery } from '../../src/store/queries.ts'
import type { Store } from '../../src/store/store.ts'
import { runs } from '../tier.ts'
import type { Stores } from './contract.ts'
import { aDecision, commit, LIVE, note, only, START_MS } from './drafts.ts'

const TYPES = ['custom.note', 'custom.other', 'gate.decision'] as const
const ENTRIES = 60

interface Known {
  id: string
  seq: number
  ts: string
  type: string
}

/** A chain with several entries in some milliseconds and none in others, and another chain beside it. */
async function filled(store: Store, tick: (ms: number) => void): Promise<Known[]> {
  for (let n = 0; n < ENTRIES; n += 1) {
    if (n % 3 === 0) tick(n % 2)
    if (n % 10 === 0) tick(5)
    const type = TYPES[n % 5 === 0 ? 1 : n % 2 === 0 ? 2 : 0]
    const entries = [type === 'gate.decision' ? aDecision('deny') : note({ n }, { type })]
    await commit(store, { guards: [], writes: [], entries })
    await commit(store, only(note({}, { chain: 'acme/test' })))
  }
  const stored = await store.entriesFrom(LIVE, 0, 1000)
  return stored.map(({ header: { id, seq, ts, type } }) => ({ id, seq, ts, type }))
}

/** Returns the page that a query means, computed over all entries. */
function pageOf(all: readonly Known[], query: PageQuery): { ids: string[]; total: number } {
  const { order, limit, offset, before = Infinity, eventType, from = '', to = '~' } = query
  const found = all.filter(
    ({ seq, ts, type }) => seq < before && ts >= from && ts < to && (eventType === undefined || type === eventType),
  )
  const ordered = order === 'asc' ? found : found.toReversed()
  return { ids: ordered.slice(offset, offset + limit).map(({ id }) => id), total: found.length }
}

const time = fc.integer({ min: -2, max: 80 }).map((ms) => formatTimestamp(START_MS + ms))
const query: fc.Arbitrary<PageQuery> = fc.record(
  {
    chain: fc.constant(LIVE),
    order: fc.constantFrom('asc', 'desc'),
    limit: fc.integer({ min: 1, max: 70 }),
    offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 70 })),
    before: fc.integer({ min: 0, max: ENTRIES + 5 }),
    eventType: fc.constantFrom(...TYPES, 'custom.none'),
    from: time,
    to: time,
  },
  { requiredKeys: ['chain', 'order', 'limit', 'offset'] },
)

/** A trail with lanes that were appended to in turns, and with entries of one time in several lanes. */
async function filledTrail(store: Store, tick: () => void): Promise<StoredEntry[]> {
  const chains = [LIVE, laneOf(LIVE, 1), laneOf(LIVE, 2), laneOf(LIVE, 10)]
  for (let n = 0; n < 4 * ENTRIES; n += 1) {
    if (n % 7 === 0) tick()
    const chain = chains[(n * n) % 5] ?? LIVE
    await commit(store, only(note({ n, text: 'x'.repeat(n) }, { chain, type: n % 3 === 0 ? TYPES[0] : TYPES[1] })))
  }
  const all = await Promise.all(chains.map((chain) => store.entriesFrom(chain, 0, 1000)))
  return all.flat().sort((a, b) => inTrailOrder(a.header, b.header))
}

const trailQuery = fc.record(
  {
    order: fc.constantFrom('asc' as const, 'desc' as const),
    limit: fc.integer({ min: 1, max: 200 }),
    offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 150 })),
    // The place of an entry.
    before: fc.integer({ min: 0, max: 4 * ENTRIES }),
    eventType: fc.constantFrom(...TYPES),
    from: time,
    to: time,
    sections: fc.constantFrom([], ['data']),
  },
  { requiredKeys: ['order', 'limit', 'offset'] },
)

/** Reading a chain by page, type and time. */
export function pageContract(stores: Stores): void {
  const chainOf = async (t: Parameters<Stores>[0]) => {
    let nowMs = START_MS
    const store = await stores(t)(() => nowMs)
    const all = await filled(store, (ms) => {
      nowMs += ms
    })
    return { store, all }
  }

  test('a page is what a scan over all entries gives', async (t) => {
    const { store, all } = await chainOf(t)
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const { items, total } = await store.page(asked)
        assert.deepEqual({ ids: items.map(({ header }) => header.id), total }, pageOf(all, asked))
      }),
      { numRuns: runs(300) },
    )
  })

  test('a page of a trail is what a scan over all its chains gives, in order', async (t) => {
    let nowMs = START_MS
    const store = await stores(t)(() => nowMs)
    const all = await filledTrail(store, () => (nowMs += 1))
    await fc.assert(
      fc.asyncProperty(trailQuery, async ({ before: index, ...asked }) => {
        const before = index === undefined ? undefined : all[index]?.header
        const { items, total } = await store.trailPage({ trail: LIVE, ...asked, before })
        const { eventType, from = '', to = '~', order, offset, limit, sections } = asked
        const found = all.slice(0, before && index).filter(({ header: { ts, type } }) => {
          return ts >= from && ts < to && (eventType === undefined || type === eventType)
        })
        const ordered = (order === 'asc' ? found : found.toReversed()).slice(offset, offset + limit)
        const ids = (entries: readonly StoredEntry[]) => entries.map(({ header }) => header.id)
        assert.deepEqual({ ids: ids(items), total }, { ids: ids(ordered), total: found.length })
        const read = items.every((entry) => entry.sections.length === (sections?.length ?? 2))
        assert.ok(read, 'each has the sections asked for')
      }),
      { numRuns: runs(150) },
    )
  })

  test('a page of a trail ends early after so many bytes, and the next goes on behind', async (t) => {
    let nowMs = START_MS
    const store = await stores(t)(() => nowMs)
    const all = await filledTrail(store, () => (nowMs += 1))
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = []
      for (;;) {
        const query = { trail: LIVE, order, limit: 1000, offset: seen.length, maxBytes: 20_000 }
        const { items } = await store.trailPage(query)
        if (items.length === 0) break
        assert.ok(items.length < 100)
        seen.push(...items.map(({ header }) => header.id))
      }
      const ids = all.map(({ header }) => header.id)
      assert.deepEqual(seen, order === 'asc' ? ids : ids.toReversed())
    }
  })

  test('seqRange has exactly the entries of the time, to the millisecond', async (t) => {
    const { store, all } = await chainOf(t)
    await fc.assert(
      fc.asyncProperty(time, time, async (from, to) => {
        const { first, end } = await store.seqRange(LIVE, from, to)
        const inside = all.filter(({ ts }) => ts >= from && ts < to).map(({ seq }) => seq)
        assert.deepEqual(
          all.map(({ seq }) => seq).filter((seq) => seq >= first && seq < end),
          inside,
        )
        const place = all.findIndex(({ ts }) => ts >= from)
        assert.equal(first, place < 0 ? all.length : place)
      }),
      { numRuns: runs(200) },
    )
  })

  test('a chain that does not exist has empty pages', async (t) => {
    const { store } = await chainOf(t)
    const asked = { chain: 'nobody/live', order: 'desc', limit: 10, offset: 0 } as const
    assert.deepEqual(await store.page(asked), { items: [], total: 0 })
    assert.deepEqual(await store.seqRange('nobody/live', '2026', '2027'), { first: 0, end: 0 })
    assert.deepEqual(await store.entriesFrom('nobody/live', 0, 10), [])
  })

  test('entries are found by id and by place', async (t) => {
    const { store, all } = await chainOf(t)
    const some = all[17]
    assert.ok(some)
    assert.equal((await store.entry(some.id))?.header.seq, 17)
    assert.equal((await store.entryAt(LIVE, 17))?.header.id, some.id)
    assert.equal(await store.entry('aud_unknown'), undefined)
    assert.equal(await store.entryAt(LIVE, all.length), undefined)
    assert.equal(await store.entryAt(LIVE, -1), undefined)
    const seqs = (await store.entriesFrom(LIVE, 58, 2)).map(({ header }) => header.seq)
    assert.deepEqual(seqs, [58, 59])
    const [first, second] = await store.entriesFrom(LIVE, 58, 2)
    assert.deepEqual(await store.headersFrom(LIVE, 58, 2), [first?.headerText, second?.headerText])
  })

  test('only the sections that are asked for are read', async (t) => {
    const { store, all } = await chainOf(t)
    const asked = { chain: LIVE, order: 'asc', limit: 70, offset: 0, sections: ['data', 'request'] } as const
    const { items } = await store.page(asked)
    assert.equal(items.length, all.length)
    for (const { header, sections } of items)
      assert.deepEqual(
        sections.map(({ name }) => name),
        header.type === 'gate.decision' ? ['request'] : ['data'],
      )
  })

  test('a page and a reading end with the entry that exceeds the bytes', async (t) => {
    const { store } = await chainOf(t)
    const [first, second] = await store.entriesFrom(LIVE, 10, 2)
    assert.ok(first && second)
    const size = first.sections.reduce((sum, { json }) => sum + json.length, first.headerText.length)
    for (const [maxBytes, length] of [
      [1, 1],
      [size - 1, 1],
      [size, 2],
    ] as const) {
      assert.equal((await store.entriesFrom(LIVE, 10, 5, maxBytes)).length, length)
      const page = await store.page({ chain: LIVE, order: 'asc', limit: 5, offset: 10, maxBytes })
      assert.deepEqual([page.items.length, page.items[0]?.header.seq, page.total], [length, 10, ENTRIES + 1])
    }
  })
}
