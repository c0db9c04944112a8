import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DecisionEntry } from '../../src/audit/draft.ts'
import { parseGlob } from '../../src/base/glob.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import type { TakenBy, TakenQuery } from '../../src/store/queries.ts'
import { takenQuery } from '../../src/store/sqlite/decisions.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { chainPlaces } from '../../src/store/sqlite/places.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { read } from '../../src/store/steps.ts'
import type { Guard } from '../../src/store/submission.ts'
import { temporaryFolder } from '../helpers.ts'
import { aDecision, commit, LIVE, note, START_MS } from './drafts.ts'

function allowed(action: string, agent: string, session: string | null): DecisionEntry {
  const entry = aDecision('allow', { action })
  const caller = { ...entry.grounds.caller, agent }
  return { ...entry, grounds: { ...entry.grounds, caller, session, taken: action } }
}

const ENTRIES = [
  note(),
  allowed('a.one', 'bot', 's'),
  aDecision('deny', { action: 'a.two' }),
  allowed('a.three', 'ann', 's'),
  allowed('a.four', 'bot', null),
  allowed('a.five', 'bot', 's\0t'),
  allowed('a.six', 'bot', 's'),
]

const tables: { name: string; by: TakenBy; actions: string[] }[] = [
  {
    name: 'those of all agents',
    by: { agent: null, session: null },
    actions: ['a.one', 'a.three', 'a.four', 'a.five', 'a.six'],
  },
  {
    name: 'those of an agent, in any session and in none',
    by: { agent: 'bot', session: null },
    actions: ['a.one', 'a.four', 'a.five', 'a.six'],
  },
  { name: 'those of a session of an agent', by: { agent: 'bot', session: 's' }, actions: ['a.one', 'a.six'] },
  { name: 'a session of any characters', by: { agent: 'bot', session: 's\0t' }, actions: ['a.five'] },
  { name: 'none of an agent that did nothing', by: { agent: 'new', session: null }, actions: [] },
]

for (const { name, by, actions } of tables) {
  test(`actions that were allowed: ${name}`, async (t) => {
    const store = openStore({ dir: temporaryFolder(), create: true, clock: () => START_MS })
    t.after(() => store.close())
    for (const entry of ENTRIES) await commit(store, { guards: [], writes: [], entries: [entry] })
    const end = await lengthOf(store, LIVE)
    const takenIn = (range: Pick<TakenQuery, 'first' | 'end' | 'limit'>) =>
      store.snapshot((at) => read(at.taken({ ...by, chain: LIVE, ...range })))
    const taken = await takenIn({ first: 0, end, limit: 100 })
    assert.deepEqual(
      taken.map(({ action }) => action),
      actions,
    )
    const [, second] = taken
    if (second === undefined) return
    const part = await takenIn({ first: second.seq, end: second.seq + 1, limit: 100 })
    assert.deepEqual(part, [second])
    assert.equal((await takenIn({ first: 0, end, limit: 1 })).length, 1)
  })
}

/** The quickest of some runs, in ms. */
function quickest(work: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const sinceMs = performance.now()
    work()
    return performance.now() - sinceMs
  })
  return Math.min(...times)
}

test('what an agent did is found without passing over what the others did', (t) => {
  const db = openDatabase(temporaryFolder(), { create: true })
  t.after(() => db.close())
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
    INSERT INTO audit_entry (at, ts, id, hash, prev, commits, salts, action, agent, session, taken)
      SELECT (1 << 33) + i, 0, randomblob(16), zeroblob(32), zeroblob(32), x'', x'', 'a.b', 'bot', 's', 1 FROM n`)
  db.exec("INSERT INTO chain (name) VALUES ('acme/live')")
  const taken = takenQuery(db, chainPlaces(db))
  const range = { chain: LIVE, first: 0, end: 20_000, limit: 20_000 }
  const [none, all] = ['new', 'bot'].map((agent) => quickest(() => taken({ ...range, agent, session: null })))
  assert.ok(Number(none) < Number(all) / 20, `${none} ms, ${all} ms`)
})

test('earlier actions are found by their place, and read without their requests, whatever the size of these', (t) => {
  const db = openDatabase(temporaryFolder(), { create: true })
  t.after(() => db.close())
  const prepared = t.mock.method(db, 'prepare')
  const taken = takenQuery(db, chainPlaces(db))
  const sources = prepared.mock.calls.map(({ arguments: [source] }) => String(source))
  const queries = sources.filter((source) => source.includes('WHERE taken = 1'))
  assert.equal(queries.length, 3)
  for (const query of queries) {
    const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`)
    const details = plan.all(...Array(query.split('?').length - 1).fill(1)).map(({ detail }) => detail)
    assert.match(details.join(), /^SEARCH audit_entry USING .*rowid>\? AND rowid<\?\)$/)
    // SQLite plans a query with a bare parameter for a limit anew at each use, which takes longer than the query.
    assert.doesNotMatch(query, /LIMIT \?(?! \+)/)
  }
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
    INSERT INTO audit_entry (at, ts, id, hash, prev, commits, salts, action, agent, taken, request)
      SELECT (1 << 33) + i, 0, randomblob(16), zeroblob(32), zeroblob(32), x'', x'', 'a.b', 'bot', 1, iif(i < 100, '{}', hex(zeroblob(100000))) FROM n`)
  db.exec("INSERT INTO chain (name) VALUES ('acme/live')")
  for (const agent of [null, 'bot']) {
    const [small, large] = [0, 100].map((first) =>
      quickest(() => taken({ chain: LIVE, agent, session: null, first, end: first + 100, limit: 100 })),
    )
    assert.ok(Number(large) < 10 * Number(small), `${small} ms, ${large} ms`)
  }
})

const since: { name: string; by: TakenBy; pattern: string; from: number; conflict: 'noNewAllows' | null }[] = [
  { name: 'an action of all', by: { agent: null, session: null }, pattern: 'a.*', from: 6, conflict: 'noNewAllows' },
  { name: 'the newest of all', by: { agent: null, session: null }, pattern: 'a.*', from: 7, conflict: 'noNewAllows' },
  { name: 'an action before', by: { agent: null, session: null }, pattern: 'a.one', from: 3, conflict: null },
  { name: 'another action', by: { agent: null, session: null }, pattern: 'b.*', from: 0, conflict: null },
  { name: 'one that was denied', by: { agent: null, session: null }, pattern: 'a.two', from: 0, conflict: null },
  { name: "another agent's", by: { agent: 'ann', session: null }, pattern: 'a.six', from: 0, conflict: null },
  {
    name: 'one in the session',
    by: { agent: 'bot', session: 's' },
    pattern: 'a.six',
    from: 0,
    conflict: 'noNewAllows',
  },
  { name: 'one out of the session', by: { agent: 'bot', session: 's' }, pattern: 'a.four', from: 0, conflict: null },
]

for (const { name, by, pattern, from, conflict } of since) {
  test(`an allow that counts on nothing more having been allowed: ${name} since`, async (t) => {
    const store = openStore({ dir: temporaryFolder(), create: true, clock: () => START_MS })
    t.after(() => store.close())
    for (const entry of ENTRIES) await commit(store, { guards: [], writes: [], entries: [entry] })
    const glob = parseGlob(pattern)
    assert.ok(glob)
    const of = [{ ...by, actions: [glob] }]
    const result = await store.commit({
      guards: [{ kind: 'noNewAllows', chain: LIVE, since: from, of }],
      writes: [],
      entries: [allowed('a.more', 'bot', 's')],
    })
    assert.equal(result.conflict, conflict)
  })
}

test('an allow that counts on nothing more having been allowed: not after one of its own group', async (t) => {
  const store = openStore({ dir: temporaryFolder(), create: true, clock: () => START_MS })
  t.after(() => store.close())
  for (const entry of ENTRIES) await commit(store, { guards: [], writes: [], entries: [entry] })
  const glob = parseGlob('a.*')
  assert.ok(glob)
  const since = await lengthOf(store, LIVE)
  const counting: Guard = {
    kind: 'noNewAllows',
    chain: LIVE,
    since,
    of: [{ agent: null, session: null, actions: [glob] }],
  }
  // What arrives in one turn of the event loop is one group.
  const results = await Promise.all(
    ['bot', 'ann'].map((agent) =>
      store.commit({ guards: [counting], writes: [], entries: [allowed('a.more', agent, null)] }),
    ),
  )
  assert.deepEqual(
    results.map(({ conflict }) => conflict),
    [null, 'noNewAllows'],
  )
})

for (const [others, conflict] of [
  [4000, null],
  [6000, 'noNewAllows'],
] as const) {
  test(`an allow that counts on nothing more having been allowed: behind ${others} entries it is ${conflict ?? 'committed'}`, async (t) => {
    const dir = temporaryFolder()
    const store = openStore({ dir, create: true, clock: () => START_MS })
    t.after(() => store.close())
    await commit(store, { guards: [], writes: [], entries: [note()] })
    const since = await lengthOf(store, LIVE)
    const denials = Array.from({ length: others }, () => ({ guards: [], writes: [], entries: [aDecision('deny')] }))
    await Promise.all(denials.map((submission) => commit(store, submission)))
    const glob = parseGlob('**')
    assert.ok(glob)
    const counting: Guard = {
      kind: 'noNewAllows',
      chain: LIVE,
      since,
      of: [{ agent: null, session: null, actions: [glob] }],
    }
    const result = await store.commit({ guards: [counting], writes: [], entries: [allowed('a.more', 'bot', null)] })
    assert.equal(result.conflict, conflict)
  })
}
