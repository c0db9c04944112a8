import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from 'better-sqlite3'
import { verifyRange, verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { hashHeader } from '../../src/audit/entry.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import { parseDigest } from '../../src/base/digest.ts'
import { DAY_MS } from '../../src/base/time.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { verifyInThread } from '../../src/store/sqlite/verifiers.ts'
import type { Store } from '../../src/store/store.ts'
import { temporaryFolder } from '../helpers.ts'
import { commit, enrolment, LIVE, note, only, START_MS } from '../store/drafts.ts'
import { copyOf, tamper } from '../store/used-folder.ts'

/** Days of the chain and the seqs of their entries; no entry is of 2026-01-03. A batch of verifying ends at 199 and 399. */
const DAYS = [
  { day: '2026-01-01', first: 0, end: 151 },
  { day: '2026-01-02', first: 151, end: 301 },
  { day: '2026-01-04', first: 301, end: 451 },
]
const EMPTY_DAY = '2026-01-03'
const ALL = ['2026-01-01', '2026-01-04'] as const

const dir = temporaryFolder()
await fill()

async function fill(): Promise<void> {
  let nowMs = 0
  const store = openStore({ dir, create: true, clock: () => nowMs })
  for (const { day, first, end } of DAYS) {
    nowMs = Date.parse(day) + (day === '2026-01-02' ? 0 : DAY_MS - 1)
    if (first === 0) await commit(store, enrolment())
    await commit(store, only(...Array.from({ length: first === 0 ? end - 2 : 150 }, (_, n) => note({ n }))))
  }
  await store.close()
}

interface Range {
  from: string
  to: string
}
const range = (from: string, to = from): Range => ({ from, to })

interface Row {
  name: string
  change?: (db: Database) => void
  range: Range
  /** Undefined: valid. */
  firstBadSeq?: number
  checked: number
}

const edit = (seq: number) => (db: Database) =>
  void db.prepare("UPDATE section SET json = '{\"n\":-1}' WHERE seq = ? AND name = 'data'").run(seq)
const remove = (first: number, end: number) => (db: Database) =>
  void db.prepare('DELETE FROM entry WHERE seq >= ? AND seq < ?').run(first, end)

/** Another entry in its place, whole in itself: only the entry after it can tell. */
const forge = (seq: number) => (db: Database) => {
  const row = db.prepare<[number], { header: string }>('SELECT header FROM entry WHERE seq = ?').get(seq)
  const header = canonicalJson({ ...JSON.parse(row?.header ?? ''), type: 'custom.forged' })
  db.prepare('UPDATE entry SET header = ?, hash = ? WHERE seq = ?').run(header, parseDigest(hashHeader(header)), seq)
}

const rows: Row[] = [
  { name: 'all days', range: range(...ALL), checked: 451 },
  ...DAYS.map(({ day, first, end }) => ({ name: day, range: range(day), checked: end - first })),
  { name: 'two days', range: range('2026-01-02', '2026-01-04'), checked: 300 },
  { name: 'a day without entries', range: range(EMPTY_DAY), checked: 0 },
  { name: 'before the first entry', range: range('2025-12-31'), checked: 0 },
  { name: 'after the last entry', range: range('2026-01-05'), checked: 0 },
  ...[2, 198, 199, 200, 201, 399, 400, 449].map((seq) => ({
    name: `entry ${seq} edited`,
    change: edit(seq),
    range: range(...ALL),
    firstBadSeq: seq,
    checked: seq,
  })),
  { name: 'an entry of another day edited', change: edit(10), range: range('2026-01-04'), checked: 150 },
  {
    name: 'the entry before the day edited',
    change: edit(150),
    range: range('2026-01-02'),
    firstBadSeq: 150,
    checked: 0,
  },
  {
    name: 'the entry after the day edited',
    change: edit(301),
    range: range('2026-01-02'),
    firstBadSeq: 301,
    checked: 150,
  },
  {
    name: 'the last entry of the day forged',
    change: forge(300),
    range: range('2026-01-02'),
    firstBadSeq: 301,
    checked: 150,
  },
  {
    name: 'the last entry before the day forged',
    change: forge(150),
    range: range('2026-01-02'),
    firstBadSeq: 151,
    checked: 0,
  },
  {
    name: 'an entry before a day without entries forged',
    change: forge(300),
    range: range(EMPTY_DAY),
    firstBadSeq: 301,
    checked: 0,
  },
  { name: 'an entry deleted', change: remove(220, 221), range: range('2026-01-02'), firstBadSeq: 220, checked: 69 },
  { name: 'a whole day deleted', change: remove(151, 301), range: range('2026-01-02'), firstBadSeq: 151, checked: 0 },
  {
    name: 'the first entry after an empty day deleted',
    change: remove(301, 302),
    range: range(EMPTY_DAY),
    firstBadSeq: 301,
    checked: 0,
  },
]

for (const { name, change, range, firstBadSeq, checked } of rows) {
  test(`verifyRange: ${name}`, async (t) => {
    const copy = copyOf(dir)
    if (change !== undefined) tamper(copy, change)
    const store = openStore({ dir: copy, create: false, clock: () => START_MS })
    t.after(() => store.close())
    const deps = { store, clock: () => START_MS, newId: () => '' }
    const result = await verifyRange(deps, LIVE, { startDate: range.from, endDate: range.to })
    assert.deepEqual(
      { valid: result.valid, firstBadSeq: result.firstBadSeq, entriesChecked: result.entriesChecked },
      { valid: firstBadSeq === undefined, firstBadSeq: firstBadSeq ?? null, entriesChecked: checked },
    )
    if (checked === 0) assert.deepEqual([result.firstEntry, result.lastEntry], ['', ''])
    else if (firstBadSeq === undefined) await assertEnds(store, result, range)
  })
}

async function assertEnds(store: Store, result: { firstEntry: string; lastEntry: string }, { from, to }: Range) {
  const ends = await Promise.all([result.firstEntry, result.lastEntry].map((id) => store.entry(id)))
  const first = DAYS.find(({ day }) => day === from)?.first
  const last = (DAYS.find(({ day }) => day === to)?.end ?? 0) - 1
  assert.deepEqual(
    ends.map((entry) => entry?.header.seq),
    [first, last],
  )
}

const dates: { name: string; startDate: string; endDate: string; path: string }[] = [
  { name: 'no real day', startDate: '2026-02-30', endDate: '2026-03-01', path: '/startDate' },
  { name: 'a time', startDate: '2026-01-01T00:00:00.000Z', endDate: '2026-01-02', path: '/startDate' },
  { name: 'another form', startDate: '2026-01-01', endDate: '2026-1-2', path: '/endDate' },
  { name: 'backwards', startDate: '2026-01-02', endDate: '2026-01-01', path: '/endDate' },
]

for (const { name, startDate, endDate, path } of dates) {
  test(`verifyRange refuses dates: ${name}`, async (t) => {
    const store = openStore({ dir: copyOf(dir), create: false, clock: () => START_MS })
    t.after(() => store.close())
    const deps = { store, clock: () => START_MS, newId: () => '' }
    await assert.rejects(
      verifyRange(deps, LIVE, { startDate, endDate }),
      (error: Error & { code?: string; details?: { path: string }[] }) => {
        assert.deepEqual([error.code, error.details?.map((detail) => detail.path)], ['invalid_request', [path]])
        return true
      },
    )
  })
}

test('verifying tells its progress and holds nobody up, however large the entries are', async (t) => {
  const store = openStore({ dir: copyOf(dir), create: false, clock: () => START_MS, makeVerifier: verifyInThread })
  t.after(() => store.close())
  const text = 'x'.repeat(1_000_000)
  for (let n = 0; n < 30; n += 1) await commit(store, only(note(text)))
  const told: number[] = []
  let turns = 0
  let done = false
  const turning = (): void => {
    turns += 1
    if (!done) setImmediate(turning)
  }
  setImmediate(turning)
  const { valid, entriesChecked } = await verifySeqs(store, LIVE, { first: 0, end: 481 }, {}, (n) => told.push(n))
  done = true
  assert.deepEqual({ valid, entriesChecked, last: told.at(-1) }, { valid: true, entriesChecked: 481, last: 481 })
  assert.deepEqual(
    told,
    told.toSorted((a, b) => a - b),
  )
  assert.equal(turns >= 100, true, `${turns} turns`)
})
