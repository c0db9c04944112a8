import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { historyReader } from '../../src/actions/gate/history.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import type { Guard, Submission } from '../../src/store/submission.ts'
import { setOf } from '../authoring/sources.ts'
import { postgresDatabase, withClient } from '../postgres.ts'
import { aDecision, commit, enrolment, LIVE, START_MS } from './drafts.ts'

/* What sidecars count, they count together: under the counter's row, in the order of the entries' times. */

const COUNTER = JSON.stringify([LIVE, 'key_a', null])

interface Scene {
  url: string
  /** A sidecar more, whose clock is so far ahead. */
  open(aheadMs?: number): Promise<Store>
}

async function scene(t: TestContext): Promise<Scene> {
  const url = await postgresDatabase(t)
  const open = async (aheadMs = 0): Promise<Store> => {
    const store = await openServerStore({ address: { url }, clock: () => START_MS + aheadMs, lanes: true })
    t.after(() => store.close())
    return store
  }
  const command = await openServerStore({ address: { url }, clock: () => START_MS })
  await commit(command, enrolment())
  await command.close()
  return { url, open }
}

const counters = (floorMs: number | null, endMs = 0, counter = COUNTER): Guard => {
  return { kind: 'counters', of: [{ counter, floorMs }], endMs, reservation: null }
}
const allow = (...guards: Guard[]): Submission => ({ guards, writes: [], entries: [aDecision('allow')] })
const floorOf = (store: Store, counter = COUNTER): Promise<number | undefined> =>
  store.snapshot(function* (at) {
    const floors = (yield at.floors([counter])) as ReadonlyMap<string, number>
    return floors.get(counter)
  })
const timeOf = async (store: Store, submission: Submission): Promise<number> => {
  const result = await store.commit(submission)
  assert.equal(result.conflict, null)
  return Date.parse((result.conflict === null && result.entries[0]?.ts) || '')
}

test('a decision that counts is committed only while nothing else used its counter since', async (t) => {
  const { open } = await scene(t)
  const [a, b] = [await open(), await open()]
  assert.equal(await floorOf(a), undefined)
  const first = await timeOf(a, allow(counters(0)))
  assert.equal(await floorOf(b), first)
  assert.equal((await b.commit(allow(counters(0)))).conflict, 'counters')
  // Another counter is another matter.
  assert.equal((await b.commit(allow(counters(0, 0, 'other')))).conflict, null)
  const second = await timeOf(b, allow(counters(first)))
  assert.ok(second > first, 'each entry is later than what it has counted')
  // One that is only counted overtakes whoever has read before.
  const third = await timeOf(a, allow(counters(null)))
  assert.ok(third > second)
  assert.equal((await b.commit(allow(counters(second)))).conflict, 'counters')
})

test('of one group, only the first that counts with a counter is committed', async (t) => {
  const { open } = await scene(t)
  const a = await open()
  await commit(a, allow())
  const results = await Promise.all(Array.from({ length: 5 }, () => a.commit(allow(counters(0)))))
  assert.deepEqual(results.map(({ conflict }) => conflict).toSorted(), [...Array(4).fill('counters'), null])
})

test('counters of a tenant move its own time, and none of another, in whichever group they come', async (t) => {
  const { url, open } = await scene(t)
  const a = await open()
  const other = (): Submission => ({
    guards: [],
    writes: [],
    entries: [{ ...aDecision('allow'), chain: 'other/live' }],
  })
  await Promise.all([commit(a, allow(counters(0))), commit(a, other())])
  const farMs = START_MS + 10 * 365 * 86_400_000
  await withClient(url, (client) => client.query(`UPDATE gate.counter SET floor = ${farMs}`))
  const mixed = Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? other() : allow(counters(null))))
  const times = await Promise.all(mixed.map((submission) => timeOf(a, submission)))
  for (const [i, ms] of times.entries()) assert.equal(ms > farMs, i % 2 === 1, `${i}: ${new Date(ms).toISOString()}`)
  // Those that are not counted share groups, and a head that is ahead moves no floor of another tenant.
  const others = Array.from({ length: 6 }, (_, i) =>
    i % 2 === 0 ? allow() : { ...other(), guards: [counters(null, 0, 'x')] },
  )
  const later = await Promise.all(others.map((submission) => timeOf(a, submission)))
  for (const [i, ms] of later.entries()) assert.equal(ms > farMs, i % 2 === 0, `${i}: ${new Date(ms).toISOString()}`)
  assert.ok(((await floorOf(a, 'x')) ?? Number.NaN) < farMs)
})

test('a counter that another sidecar holds refuses at once, and never keeps other decisions waiting', async (t) => {
  const { url, open } = await scene(t)
  const a = await open()
  await commit(a, allow(counters(0)))
  await withClient(url, async (client) => {
    await client.query('BEGIN')
    await client.query('SELECT FROM gate.counter FOR UPDATE')
    const [counted, plain] = await Promise.all([a.commit(allow(counters(null))), a.commit(allow())])
    assert.deepEqual([counted.conflict, plain.conflict], ['counters', null])
    await client.query('ROLLBACK')
  })
  assert.equal((await a.commit(allow(counters(null)))).conflict, null)
})

test('a decision comes behind what it has read, also by a clock that is behind', async (t) => {
  const { open } = await scene(t)
  const [ahead, behind] = [await open(700), await open()]
  const first = await timeOf(ahead, allow(counters(0)))
  assert.ok((await timeOf(behind, allow(counters(null)))) > first)
  assert.equal(await timeOf(behind, allow(counters(null, START_MS + 900))), START_MS + 900)
})

test('sidecars that count at once allow exactly as many as the limit, and what each has seen can be counted again', async (t) => {
  const { open } = await scene(t)
  const stores = await Promise.all([0, 3, 5, 40].map((ahead) => open(ahead)))
  const set = setOf(`
session: {fact: context.run}
history: {count: {payments: {actions: ["payment.*"], within: 1h, by: agent}}}
rules:
  - {id: few, actions: ["payment.*"], effect: deny, when: {fact: history.count.payments, operator: greaterThan, value: 20}, reason: Enough.}
  - {id: fine, actions: ["payment.*"], effect: allow, reason: Fine.}
`)
  const query = { action: 'payment.transfer', agent: 'key_a', context: {}, plan: undefined }
  const readers = stores.map((store) => historyReader(store))
  const decided: { count: number; end: string; allowed: boolean }[] = []
  /** What a check does, with the least that counts. */
  const decide = async (i: number): Promise<void> => {
    const [store, reader] = [stores[i % stores.length], readers[i % stores.length]]
    assert.ok(store !== undefined && reader !== undefined)
    for (;;) {
      const { history, seen } = await reader.read(set, LIVE, { ...query, nowMs: START_MS + 50 }, null)
      const count = history.tallies.get('history.count.payments')?.count ?? assert.fail()
      assert.ok(seen !== null && typeof seen.end === 'string')
      const entry = aDecision(count < 20 ? 'allow' : 'deny')
      const grounds = { ...entry.grounds, historyEnd: seen.end }
      const { conflict } = await store.commit({ guards: [seen.guard], writes: [], entries: [{ ...entry, grounds }] })
      if (conflict !== null) continue
      decided.push({ count, end: seen.end, allowed: count < 20 })
      return
    }
  }
  // Each sidecar decides one at a time, as the turns of its agent do.
  await Promise.all(
    stores.map(async (_, i) => {
      for (let n = 0; n < 12; n += 1) await decide(i)
    }),
  )
  assert.equal(decided.length, 48)
  const [reader = assert.fail()] = readers
  assert.deepEqual(
    decided
      .filter(({ allowed }) => allowed)
      .map(({ count }) => count)
      .toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => i),
  )
  for (const { count, end } of decided) {
    const again = await reader.at(set, LIVE, { ...query, nowMs: START_MS + 50 }, end)
    assert.equal(again.history.tallies.get('history.count.payments')?.count, count, end)
  }
})
