import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { laneOf } from '../../src/audit/chain.ts'
import type { DecisionEntry } from '../../src/audit/draft.ts'
import type { EventType } from '../../src/audit/events.ts'
import type { Stores } from './contract.ts'
import { aDecision, commit, LIVE, note, only, START_MS } from './drafts.ts'

const [ONE, TWO, TEN] = [laneOf(LIVE, 1), laneOf(LIVE, 2), laneOf(LIVE, 10)]
/** Lanes of other trails, whose names resemble those of the trail. */
const OTHERS = ['acme/test', laneOf('acme/test', 1), laneOf('acme2/live', 1), laneOf('a/live', 1)]
const WHOLE = { first: 0, end: 1000, limit: 100 }
const RECORDED: readonly EventType[] = ['outcome.recorded']
const SETTLED: readonly EventType[] = ['outcome.recorded', 'outcome.missing']

/** Reads of a trail as a whole, wherever in it an entry stands. */
export function trailContract(stores: Stores): void {
  const opened = async (t: TestContext) => {
    const time = { ms: START_MS }
    const store = await stores(t)(() => time.ms)
    const put = (entry: DecisionEntry | ReturnType<typeof note>) =>
      commit(store, { guards: [], writes: [], entries: [entry] })
    const decide = async (chain: string, { agent = 'bot', action = 'email.send' } = {}): Promise<string> => {
      const entry = aDecision('allow', { action })
      const { grounds } = entry
      await put({ ...entry, chain, grounds: { ...grounds, caller: { ...grounds.caller, agent } } })
      return entry.decision.id
    }
    const tell = (chain: string, decisionId: string, type: EventType = 'outcome.recorded', reportedBy = 'bot') =>
      put(note({ decisionId, ...(type === 'outcome.recorded' && { reportedBy }) }, { chain, type }))
    return { store, time, decide, tell }
  }

  test('the chains of a trail are its own and its lanes, as far as they have entries', async (t) => {
    const { store } = await opened(t)
    assert.deepEqual(await store.lanes(LIVE), [])
    for (const chain of [...OTHERS, '_system', TWO]) await commit(store, only(note({}, { chain })))
    assert.deepEqual(await store.lanes(LIVE), [TWO])
    for (const chain of [TEN, LIVE]) await commit(store, only(note({}, { chain })))
    assert.deepEqual((await store.lanes(LIVE)).sort(), [LIVE, TEN, TWO])
    assert.deepEqual(await store.lanes('_system'), ['_system'])
    assert.deepEqual(await store.lanes(TWO), [TWO], 'a lane is a part of a trail')
  })

  test('what is told of a decision is found in each lane, in the order of the trail, and in no other trail', async (t) => {
    const { store, time, decide, tell } = await opened(t)
    const [id, other] = [await decide(ONE), await decide(ONE)]
    for (const chain of OTHERS) await tell(chain, id)
    assert.deepEqual(await store.outcomeEntries(LIVE, id, SETTLED), [])
    await tell(TEN, id, 'outcome.missing')
    await tell(TWO, id)
    await tell(LIVE, other)
    time.ms += 1
    await tell(LIVE, id)
    const found = async (types: readonly EventType[]) =>
      (await store.outcomeEntries(LIVE, id, types)).map(({ header }) => header.chain)
    assert.deepEqual(await found(SETTLED), [TWO, TEN, LIVE])
    assert.deepEqual(await found(RECORDED), [TWO, LIVE])
    assert.deepEqual(await store.outcomeEntries(LIVE, 'dec_x', SETTLED), [])
  })

  test('who reports to a trail is told with the first report, by time, then by lane', async (t) => {
    const { store, time, decide, tell } = await opened(t)
    const report = async (chain: string, agent: string) => tell(chain, await decide(chain), 'outcome.recorded', agent)
    for (const chain of OTHERS) await report(chain, 'elsewhere')
    assert.deepEqual(await store.reporters(LIVE), [])
    await report(TWO, 'early')
    time.ms += 1
    await report(LIVE, 'early')
    await report(TEN, 'late')
    await report(TWO, 'late')
    time.ms += 1
    await report(LIVE, 'late')
    await report(ONE, 'a "quoted" \u{1f600}')
    await tell(ONE, await decide(ONE), 'outcome.missing')
    await commit(store, only(note({ reportedBy: 'a caller' }, { chain: ONE })))
    const at = (ms: number) => new Date(START_MS + ms).toISOString()
    assert.deepEqual(await store.reporters(LIVE), [
      { agent: 'a "quoted" \u{1f600}', chain: ONE, seq: 2, ts: at(2) },
      { agent: 'early', chain: TWO, seq: 2, ts: at(0) },
      { agent: 'late', chain: TWO, seq: 4, ts: at(1) },
    ])
  })

  test('an allow is unreported until any lane of its trail tells of it', async (t) => {
    const { store, decide, tell } = await opened(t)
    const ids = [await decide(ONE), await decide(ONE), await decide(ONE), await decide(ONE)] as const
    await decide(TWO)
    await decide(ONE, { agent: 'other' })
    const unreported = async (chain: string, agent = 'bot') =>
      (await store.unreported({ ...WHOLE, chain, agent })).map(({ decisionId, seq }) => [decisionId, seq])
    for (const chain of OTHERS) await tell(chain, ids[0])
    const all = ids.map((id, i) => [id, i + 1])
    assert.deepEqual(await unreported(ONE), all)
    await tell(TEN, ids[1])
    await tell(LIVE, ids[2], 'outcome.missing')
    await tell(ONE, ids[3])
    assert.deepEqual(await unreported(ONE), all.slice(0, 1))
    assert.equal((await unreported(TWO)).length, 1)
    assert.deepEqual(await unreported(LIVE), [])
  })

  test('recent actions are those of the newest decisions of all lanes together', async (t) => {
    const { store, time, decide } = await opened(t)
    await decide(OTHERS[1] ?? LIVE, { action: 'not.ours' })
    for (const [chain, action] of [
      [TWO, 'old.one'],
      [LIVE, 'a.b'],
      [TEN, 'c.d'],
      [ONE, 'e.f'],
      [TEN, 'c.d'],
    ] as const) {
      await decide(chain, { action })
      time.ms += 1
    }
    // Of one time, the higher lane is the newer one.
    await decide(TEN, { action: 'ten.x' })
    await decide(TWO, { action: 'two.x' })
    assert.deepEqual(await store.recentActions(LIVE, 1), ['ten.x'])
    assert.deepEqual((await store.recentActions(LIVE, 5)).sort(), ['c.d', 'e.f', 'ten.x', 'two.x'])
    assert.deepEqual((await store.recentActions(LIVE, 100)).length, 6)
  })
}
