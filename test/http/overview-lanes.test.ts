import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type Recent, recentReader } from '../../src/actions/overview/recent.ts'
import { isLane } from '../../src/audit/chain.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { type Gate, startGate } from '../helpers.ts'
import { LIVE } from '../store/drafts.ts'
import { runs } from '../tier.ts'
import { lanesBeside } from './lanes.ts'
import { assertDone } from './support.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.parse('2026-03-02T10:17:42.500Z')
const LANES = [0, 8, 9, 10] as const

async function scene(t: TestContext) {
  const time = { ms: START_MS }
  const gate = await startGate(t, { clock: () => time.ms, watch: 'off' })
  return { time, gate, owner: await gate.key(), lanes: await lanesBeside(t, gate, () => time.ms) }
}

async function overviewOf(gate: Gate, key: Awaited<ReturnType<Gate['key']>>, hours = 24) {
  const answer = await gate.call(key, 'GET', `/overview?hours=${hours}`)
  assertDone(answer)
  return answer.body.data
}

/** A count, and what was read while it stayed: the service writes entries of its own at any time. */
async function between<T>(count: () => Promise<number>, read: () => Promise<T>): Promise<[number, T]> {
  for (;;) {
    const before = await count()
    const value = await read()
    if ((await count()) === before) return [before, value]
  }
}

const step = fc.record({
  lane: fc.constantFrom(...LANES),
  decision: fc.constantFrom('allow' as const, 'deny' as const, 'require_approval' as const),
  rule: fc.constantFrom('one', 'two'),
  laterMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: HOUR_MS })),
  asks: fc.boolean(),
})

test('the figures are those of a plain count over all lanes, whenever they are asked for', async (t) => {
  const { time, gate, owner, lanes } = await scene(t)
  const seen: { atMs: number; decision: string; rule: string }[] = []
  const compare = async (): Promise<void> => {
    const { from, to, decisions, denials, completeFrom } = await overviewOf(gate, owner)
    const within = seen.filter(({ atMs }) => atMs >= Date.parse(from) && atMs < Date.parse(to))
    const count = (decision: string, rule?: string): number =>
      within.filter((one) => one.decision === decision && (rule === undefined || one.rule === rule)).length
    const sum = (member: string): number =>
      decisions.reduce((total: number, bucket: Record<string, number>) => total + (bucket[member] ?? 0), 0)
    assert.deepEqual(
      [sum('allow'), sum('deny'), sum('requireApproval')],
      [count('allow'), count('deny'), count('require_approval')],
    )
    for (const { rule, count: told } of denials) assert.equal(told, count('deny', rule))
    assert.equal(completeFrom, from)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      for (const { lane, decision, rule, laterMs, asks } of steps) {
        await lanes.decide(lane, owner, { decision, rule })
        seen.push({ atMs: time.ms, decision, rule })
        time.ms += laterMs
        if (asks) await compare()
      }
      await compare()
    }),
    { numRuns: runs(50) },
  )
})

test('the trail: all entries of its lanes, and the time of the newest, in whichever lane', async (t) => {
  const { time, gate, owner, lanes } = await scene(t)
  const total = async (): Promise<number> => {
    const lengths = await lanes.store.lengths(await lanes.store.lanes(LIVE))
    return [...lengths.values()].reduce((sum, length) => sum + length)
  }
  for (const lane of [9, 0, 10, 8, 9]) {
    time.ms += 1000
    await lanes.decide(lane, owner)
    const [count, { entries, newestAt }] = await between(total, async () => (await overviewOf(gate, owner)).audit)
    assert.equal(entries, count)
    assert.equal(newestAt, new Date(time.ms).toISOString())
  }
  const inTest = await gate.key({ environment: 'test' })
  const [count, { entries }] = await between(
    () => lengthOf(lanes.store, 'acme/test'),
    async () => (await overviewOf(gate, inTest)).audit,
  )
  assert.equal(entries, count)
})

test('approvals end in the chain of the trail, and count beside decisions in lanes', async (t) => {
  const { gate, owner, lanes } = await scene(t)
  await lanes.decide(8, owner)
  const hold = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 5000 } }
  const { approvalId } = (await gate.call(owner, 'POST', '/gate/check', hold)).body.data
  assertDone(await gate.call(owner, 'POST', `/approvals/${approvalId}/reject`, { approverId: 'ann' }))
  assert.equal((await overviewOf(gate, owner)).approvals.decided.rejected, 1)
})

test('the chains of a trail share its limits, and from when on they have everything is told', async (t) => {
  const { time, gate, owner, lanes } = await scene(t)
  const limits = { decisions: 12, ended: 2, entries: 30 }
  const [early, late] = [recentReader(gate.server.store, limits), recentReader(gate.server.store, limits)]
  const decided: number[] = []
  const timesOf = ({ chains }: Recent): number[] => chains.flatMap(({ times }) => times)
  const decide = async (lane: number): Promise<void> => {
    time.ms += 1
    await lanes.decide(lane, owner)
    decided.push(time.ms)
  }
  const hold = async (recent: Recent): Promise<void> => {
    const times = timesOf(recent)
    const share = Math.ceil(limits.decisions / (await lanes.store.lanes(LIVE)).length)
    for (const chain of recent.chains) assert.ok(chain.times.length < 2 * share, `${chain.times.length} of ${share}`)
    const since = (all: number[]): number[] => all.filter((atMs) => atMs >= recent.completeMs).sort()
    assert.deepEqual(since(times), since(decided))
    assert.ok(since(times).length > 0)
  }
  for (let i = 0; i < 23; i += 1) await decide(8)
  await hold(await early(LIVE, time.ms))
  for (const lane of [9, 10, 11]) {
    for (let i = 0; i < 9; i += 1) await decide(lane)
    await hold(await early(LIVE, time.ms))
  }
  await hold(await late(LIVE, time.ms))
  assert.ok((await lanes.store.lanes(LIVE)).filter(isLane).length >= 4)
})
