import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { prunable, prune } from '../../src/actions/audit/prune.ts'
import { redact } from '../../src/actions/audit/redact.ts'
import { type Recent, type RecentLimits, recentReader } from '../../src/actions/overview/recent.ts'
import { digestOf } from '../../src/base/digest.ts'
import { idMaker } from '../../src/base/id.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { ACME_POLICY, fileTest, type Gate, startGate } from '../helpers.ts'
import { openTrail } from '../store/open-trail.ts'
import { FULL, fullTest } from '../tier.ts'
import { until } from '../until.ts'
import { assertDone, assertRefused, entries } from './support.ts'

const HOUR_MS = 3_600_000
/** A time at which no bucket begins. */
const START_MS = Date.parse('2026-03-02T10:17:42.500Z')
const HOST = { kind: 'host', id: 'host:0' } as const

type Key = Awaited<ReturnType<Gate['key']>>

async function overviewOf(gate: Gate, key: Key, hours?: number) {
  const answer = await gate.call(key, 'GET', `/overview${hours === undefined ? '' : `?hours=${hours}`}`)
  assertDone(answer)
  return answer.body.data
}

const pay = (gate: Gate, key: Key, amount: number, query = '') =>
  gate.call(key, 'POST', `/gate/check${query}`, {
    tenantId: 'acme',
    action: 'payment.transfer',
    context: { amount },
  })

/** Decision that a test saw. */
interface Seen {
  chain: string
  atMs: number
  decision: 'allow' | 'deny' | 'require_approval'
  rule: string | null
  decidedBy: string
}

/** The same figures, counted one by one. */
function counted(seen: readonly Seen[], from: string, to: string, bucketMs: number) {
  const within = seen.filter(({ atMs }) => atMs >= Date.parse(from) && atMs < Date.parse(to))
  const buckets = []
  for (let atMs = Date.parse(from); atMs < Date.parse(to); atMs += bucketMs) {
    const here = within.filter((one) => one.atMs >= atMs && one.atMs < atMs + bucketMs)
    const of = (decision: Seen['decision']): number => here.filter((one) => one.decision === decision).length
    const at = new Date(atMs).toISOString()
    buckets.push({ at, allow: of('allow'), deny: of('deny'), requireApproval: of('require_approval') })
  }
  const denials: Record<string, number> = {}
  for (const { decision, rule, decidedBy } of within) {
    const name = `${rule} ${decidedBy}`
    if (decision === 'deny') denials[name] = (denials[name] ?? 0) + 1
  }
  return { buckets, denials }
}

const denialsOf = (denials: { rule: string | null; decidedBy: string; count: number }[]) =>
  Object.fromEntries(denials.map(({ rule, decidedBy, count }) => [`${rule} ${decidedBy}`, count]))

const step = fc.record({
  /** True for the test chain, false for the live one. */
  inTest: fc.boolean(),
  request: fc.constantFrom(
    ['email.send'],
    ['payment.transfer', 5],
    ['payment.transfer', 5000],
    ['payment.transfer', 200_000],
    ['db.drop'],
    ['payment.transfer'],
  ) as fc.Arbitrary<[string, number?]>,
  laterMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 1, max: 5 * HOUR_MS })),
  asks: fc.option(fc.constantFrom(1, 2, 7, 24, 25, 100, 168), { freq: 3 }),
})

test('the figures are those of a plain count of what this chain decided, whenever it is asked', async (t) => {
  const time = { ms: START_MS }
  const gate = await startGate(t, { clock: () => time.ms, watch: 'off' })
  const live = await gate.key()
  const inTest = await gate.key({ environment: 'test' })
  const seen: Seen[] = []
  const compare = async (key: Key, chain: string, hours: number): Promise<void> => {
    const data = await overviewOf(gate, key, hours)
    const expected = counted(
      seen.filter((one) => one.chain === chain),
      data.from,
      data.to,
      data.bucketMs,
    )
    assert.deepEqual(data.decisions, expected.buckets)
    assert.deepEqual(denialsOf(data.denials), expected.denials)
    assert.deepEqual([data.denialsLeftOut, data.completeFrom], [0, data.from])
    assert.ok(Date.parse(data.to) - Date.parse(data.from) >= hours * HOUR_MS)
    assert.ok(Date.parse(data.to) > time.ms && Date.parse(data.to) - data.bucketMs <= time.ms)
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      for (const { inTest: isTest, request, laterMs, asks } of steps) {
        const [key, chain] = isTest ? [inTest, 'acme/test'] : [live, 'acme/live']
        const [action, amount] = request
        const context = amount === undefined ? {} : { amount }
        const { data } = (await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action, context })).body
        const { timestamp, decision, rule, decidedBy } = data
        seen.push({ chain, atMs: Date.parse(timestamp), decision, rule, decidedBy })
        time.ms += laterMs
        if (asks !== null) await compare(key, chain, asks)
      }
      await compare(live, 'acme/live', 24)
      await compare(inTest, 'acme/test', 168)
    }),
    { numRuns: FULL ? 20 : 5 },
  )
  assert.ok(seen.length > (FULL ? 50 : 5))
})

const timesOf = ({ chains }: Recent): number[] => chains.flatMap(({ times }) => times)
/** Returns the number of its decisions from a time on. */
const since = (recent: Recent, fromMs: number): number => timesOf(recent).filter((atMs) => atMs >= fromMs).length

fileTest('of a busy chain the newest are kept, and from when on it is all of them is told', async (t) => {
  const time = { ms: START_MS }
  const gate = await startGate(t, { clock: () => time.ms, watch: 'off' })
  const key = await gate.key()
  const limits: RecentLimits = { decisions: 5, ended: 2, entries: 12 }
  const { store } = gate.server
  const recent = recentReader(store, limits)
  const late = recentReader(store, limits)
  const times: number[] = []
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 }), fc.boolean(), async (laters, asks) => {
      for (const laterMs of laters) {
        time.ms += laterMs
        const { timestamp } = (await pay(gate, key, 5)).body.data
        times.push(Date.parse(timestamp))
      }
      const readers = asks ? [recent, late] : [recent]
      for (const told of await Promise.all(readers.map((read) => read('acme/live', time.ms)))) {
        const kept = since(told, told.completeMs)
        assert.equal(kept, times.filter((atMs) => atMs >= told.completeMs).length)
        assert.ok(timesOf(told).length < 2 * limits.decisions + 1)
        const newest = times.slice(-limits.decisions).filter((atMs) => atMs > (times.at(-limits.decisions) ?? 0))
        assert.ok(kept >= newest.length, `${kept} of ${newest.length}`)
      }
    }),
    { numRuns: FULL ? 40 : 10 },
  )
  assert.ok(times.length > (FULL ? 50 : 5))
})

fullTest('reading a long chain lets others have their turn', async (t) => {
  const gate = await startGate(t, { watch: 'off' })
  const key = await gate.key()
  await Promise.all(Array.from({ length: 600 }, () => pay(gate, key, 5)))
  let turns = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turns += 1) await nextTurn()
  })()
  const told = await recentReader(gate.server.store)('acme/live', Date.now())
  isOver = true
  await counting
  assert.equal(timesOf(told).length, 600)
  assert.ok(turns >= 2, `${turns} turns`)
})

fileTest('where older entries were pruned, whoever looked before or not is told the same', async (t) => {
  const time = { ms: START_MS }
  const gate = await startGate(t, { clock: () => time.ms, watch: 'off' })
  const key = await gate.key()
  const beside = await openTrail(join(gate.dir, 'data'), () => time.ms)
  t.after(() => beside.close())
  const early = recentReader(gate.server.store)
  for (let i = 0; i < 4; i += 1) await pay(gate, key, 5)
  assert.equal(timesOf(await early('acme/live', time.ms)).length, 4)
  for (let i = 0; i < 4; i += 1) await pay(gate, key, 5)
  await beside.checkpoints.signAll()
  time.ms += 150 * 24 * HOUR_MS
  await pay(gate, key, 5)
  const range = await prunable(beside, 'acme/live', { beforeMs: time.ms - 100 * 24 * HOUR_MS })
  assert.ok(range.end >= 8)
  const archive = { first: 0, manifest: digestOf('the archive') }
  await prune(beside, HOST, range, { archive, reason: 'kept for 100 days' })

  const data = await overviewOf(gate, key, 168)
  const total = (buckets: { allow: number }[]): number => buckets.reduce((sum, { allow }) => sum + allow, 0)
  assert.deepEqual([total(data.decisions), data.completeFrom], [1, data.from])
  assert.equal(since(await early('acme/live', time.ms), Date.parse(data.from)), 1)
})

test('figures of approvals: who waits, how people decided and how long they took', async (t) => {
  const time = { ms: START_MS }
  const gate = await startGate(t, { clock: () => time.ms, watch: 'off' })
  const agent = await gate.key({ roles: ['agent'], identity: 'bot' })
  const ann = await gate.key({ roles: ['approver', 'auditor', 'operator'], identity: 'ann' })
  const hold = async (amount: number): Promise<string> => (await pay(gate, agent, amount)).body.data.approvalId
  const vote = async (id: string, verb: 'approve' | 'reject') =>
    assertDone(await gate.call(ann, 'POST', `/approvals/${id}/${verb}`, { approverId: 'ann' }))
  const figures = async () => (await overviewOf(gate, ann, 24)).approvals
  const none = { approved: 0, rejected: 0, expired: 0, cancelled: 0 }
  const nobody = { pending: 0, oldestPendingAt: null, nextDeadlineAt: null, decided: none, waitMs: null }
  assert.deepEqual(await figures(), nobody)

  const askedMs = time.ms
  const [first, second] = [await hold(2000), await hold(3000)]
  time.ms += 60_000
  await hold(4000)
  const iso = (ms: number): string => new Date(ms).toISOString()
  const waiting = { ...nobody, pending: 3, oldestPendingAt: iso(askedMs), nextDeadlineAt: iso(askedMs + HOUR_MS / 2) }
  assert.deepEqual(await figures(), waiting)

  await vote(first, 'approve')
  time.ms += 40_000
  await vote(second, 'reject')
  assert.deepEqual(await figures(), {
    pending: 1,
    oldestPendingAt: iso(askedMs + 60_000),
    nextDeadlineAt: iso(askedMs + 60_000 + HOUR_MS / 2),
    decided: { ...none, approved: 1, rejected: 1 },
    waitMs: { p50: 60_000, p90: 100_000, max: 100_000 },
  })

  // While all is stopped no time runs for approvals; what was approved and not used is taken back.
  const stop = { level: 'L3', reason: 'drill', triggeredBy: 'ann' }
  assertDone(await gate.call(ann, 'POST', '/killswitch/trigger', stop))
  time.ms += 600_000
  assert.equal((await figures()).nextDeadlineAt, iso(askedMs + 660_000 + HOUR_MS / 2))
  assertDone(await gate.call(ann, 'POST', '/killswitch/recover', { recoveredBy: 'ann', comment: 'over' }))
  await until('it is cancelled', async () => (await figures()).decided.cancelled === 1)
  time.ms += HOUR_MS
  assert.deepEqual([(await figures()).pending, (await figures()).nextDeadlineAt], [0, null])
  const over = await until('it has expired', async () => {
    const told = await figures()
    return told.decided.expired === 1 && told
  })
  assert.deepEqual(over.decided, { approved: 1, rejected: 1, expired: 1, cancelled: 1 })
  assert.deepEqual(over.waitMs, { p50: 60_000, p90: 100_000, max: 100_000 })
  assert.deepEqual((await overviewOf(gate, await gate.key({ environment: 'test' }))).approvals, nobody)
})

test('the next deadline is that of an action that goes on while others are stopped', async (t) => {
  const time = { ms: START_MS }
  const policy = ACME_POLICY.replace('effect: allow, reason: Mail is fine.', 'effect: require_approval, reason: Mail.')
  const policies = { 'acme/main.yaml': policy }
  const gate = await startGate(t, { clock: () => time.ms, policies, watch: 'off' })
  const owner = await gate.key()
  await pay(gate, owner, 5000)
  time.ms += 60_000
  const mail = { tenantId: 'acme', action: 'email.send' }
  const { approvalExpiresAt } = (await gate.call(owner, 'POST', '/gate/check', mail)).body.data
  const stop = { level: 'L1', scope: 'payment.transfer', reason: 'drill', triggeredBy: 'ann' }
  assertDone(await gate.call(owner, 'POST', '/killswitch/trigger', stop))
  time.ms += 600_000
  assert.equal((await overviewOf(gate, owner)).approvals.nextDeadlineAt, approvalExpiresAt)
})

test('a vote that is not the last of its quorum ends nothing', async (t) => {
  const policy = ACME_POLICY.replace('reason: Large payments need a person.', 'approval: {quorum: 2}, reason: Two.')
  const gate = await startGate(t, { policies: { 'acme/main.yaml': policy }, watch: 'off' })
  const owner = await gate.key()
  const { approvalId } = (await pay(gate, owner, 5000)).body.data
  for (const [i, identity] of ['ann', 'ben'].entries()) {
    const voter = await gate.key({ roles: ['approver'], identity })
    assertDone(await gate.call(voter, 'POST', `/approvals/${approvalId}/approve`, { approverId: identity }))
    const { pending, decided } = (await overviewOf(gate, owner)).approvals
    assert.deepEqual([pending, decided.approved], [1 - i, i])
  }
})

test('what was erased breaks nothing: decisions are counted, and rejections without how long they took', async (t) => {
  const time = { ms: START_MS }
  const gate = await startGate(t, { clock: () => time.ms, watch: 'off' })
  const owner = await gate.key()
  const { approvalId } = (await pay(gate, owner, 5000)).body.data
  assertDone(await gate.call(owner, 'POST', `/approvals/${approvalId}/reject`, { approverId: 'ann' }))
  time.ms += HOUR_MS
  const end = await lengthOf(gate.server.store, 'acme/live')
  const deps = { store: gate.server.store, clock: () => time.ms, newId: idMaker(Date.now, randomBytes) }
  const done = await redact(deps, HOST, { chain: 'acme/live', first: 0, end, reason: 'asked for' })
  assert.ok(done.approvals === 1 && done.sections > 1, JSON.stringify(done))
  const { decisions, approvals } = await overviewOf(gate, owner)
  assert.equal(
    decisions.reduce((sum: number, { requireApproval }: { requireApproval: number }) => sum + requireApproval, 0),
    1,
  )
  assert.deepEqual([approvals.decided.rejected, approvals.waitMs], [1, null])
})

test('the rules that deny most come first, ten of them, and how many more there are', async (t) => {
  const rules = Array.from({ length: 13 }, (_, i) => `  - {id: r${i}, actions: [a${i}.x], effect: deny, reason: R.}`)
  const policy = `apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n${rules.join('\n')}\n`
  const gate = await startGate(t, { policies: { 'acme/main.yaml': policy }, watch: 'off' })
  const key = await gate.key()
  for (let i = 0; i < 13; i += 1)
    for (let n = 0; n < (i === 7 ? 3 : i === 4 ? 2 : 1); n += 1)
      await gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: `a${i}.x` })
  const { denials, denialsLeftOut } = await overviewOf(gate, key)
  assert.deepEqual([denials.length, denialsLeftOut], [10, 3])
  assert.deepEqual(denials.slice(0, 3), [
    { rule: 'r7', decidedBy: 'deny_rule', count: 3 },
    { rule: 'r4', decidedBy: 'deny_rule', count: 2 },
    { rule: 'r0', decidedBy: 'deny_rule', count: 1 },
  ])
})

test('how long checks take is told without what they waited for people, here and for Prometheus', async (t) => {
  const gate = await startGate(t, { watch: 'off' })
  const key = await gate.key()
  const metrics = async (): Promise<string> => (await fetch(`${gate.server.url}/metrics`)).text()
  assert.equal((await overviewOf(gate, key)).latency, null)
  assert.match(await metrics(), /^gate_sidecar_check_duration_seconds_count 0$/m)
  await pay(gate, key, 5)
  const startMs = performance.now()
  await pay(gate, key, 5000, '?wait=2')
  assert.ok(performance.now() - startMs >= 2000)
  // A risk query is no check. A check that is refused counts, and tells nothing about how long decisions take.
  await gate.call(key, 'POST', '/gate/risk', { action: 'email.send' })
  await gate.call(key, 'POST', '/gate/check', {})
  const { latency } = await overviewOf(gate, key)
  assert.equal(latency.count, 2)
  assert.ok(latency.p50Ms > 0 && latency.p50Ms <= latency.p99Ms && latency.p99Ms < 1900, JSON.stringify(latency))
  const text = await metrics()
  assert.match(text, /^# TYPE gate_sidecar_check_duration_seconds histogram$/m)
  assert.match(text, /^gate_sidecar_check_duration_seconds_bucket\{le="2.5"\} 3$/m)
  assert.match(text, /^gate_sidecar_check_duration_seconds_bucket\{le="\+Inf"\} 3$/m)
  assert.ok(Number(/_duration_seconds_sum (\S+)$/m.exec(text)?.[1]) < 1.9)
})

test('the trail: how long the chain is and how new, and that nothing goes elsewhere', async (t) => {
  const gate = await startGate(t, { watch: 'off' })
  const key = await gate.key()
  const { timestamp } = (await pay(gate, key, 5)).body.data
  const { store } = gate.server
  const length = async (): Promise<number> =>
    [...(await store.lengths(await store.lanes('acme/live'))).values()].reduce((sum, one) => sum + one)
  const before = await length()
  const { entries, newestAt, ...others } = (await overviewOf(gate, key)).audit
  // The service writes too.
  assert.ok(before >= 3 && before <= entries && entries <= (await length()))
  assert.ok(newestAt >= timestamp)
  assert.deepEqual(others, { lastVerified: null, unanchoredEntries: null, sinks: [], fault: null })
})

test('what is enforced: the policies, whether they are the newest, the strongest stop', async (t) => {
  const gate = await startGate(t, { watch: 'off' })
  const key = await gate.key()
  const posture = async (one = key) => (await overviewOf(gate, one)).posture
  const before = await posture()
  const { digest, loadedAt } = (await gate.call(key, 'GET', '/policies')).body.data
  assert.deepEqual(before.policies, { inForce: true, digest, mode: 'enforce', loadedAt, current: true, faults: 0 })
  assert.deepEqual(before.killSwitch, { active: false, level: null, scope: null })
  assert.deepEqual([before.environment, before.watching], ['live', false])
  assert.ok(before.failModes.length > 5)

  writeFileSync(join(gate.dir, 'policies/acme/main.yaml'), `${ACME_POLICY}nonsense: 1\n`)
  await gate.call(key, 'POST', '/policies/reload')
  const stop = { level: 'L1', scope: 'email.send', reason: 'Phishing.', triggeredBy: 'ann' }
  assertDone(await gate.call(key, 'POST', '/killswitch/trigger', stop))
  const changed = await posture()
  assert.deepEqual(changed.policies, { inForce: true, digest, mode: 'enforce', loadedAt, current: false, faults: 1 })
  assert.deepEqual(changed.killSwitch, { active: true, level: 'L1', scope: 'email.send' })
  const inTest = await posture(await gate.key({ environment: 'test' }))
  assert.deepEqual([inTest.environment, inTest.killSwitch.active], ['test', false])
  const stranger = await posture(await gate.key({ tenant: 'nobody' }))
  assert.deepEqual(stranger.policies, {
    ...{ inForce: false, digest: null, mode: null },
    ...{ loadedAt: null, current: false, faults: 0 },
  })
})

const gate = await startGate({ after })
const auditor = await gate.key({ roles: ['auditor'] })

for (const [hours, buckets, bucketMs] of [
  [1, 60, 60_000],
  [24, 96, 900_000],
  [25, 50, 1_800_000],
  [168, 84, 7_200_000],
] as const) {
  test(`${hours} hours have ${buckets} buckets, without decisions too, and looking leaves no trace`, async () => {
    const before = await entries(gate)
    const data = await overviewOf(gate, auditor, hours)
    assert.deepEqual([data.decisions.length, data.bucketMs], [buckets, bucketMs])
    assert.equal(Date.parse(data.from) % bucketMs, 0)
    assert.equal(await entries(gate), before)
  })
}

for (const query of ['hours=0', 'hours=169', 'hours=-1', 'hours=1.5', 'hours=', 'days=1'])
  test(`?${query} is refused`, async () =>
    assertRefused(await gate.call(auditor, 'GET', `/overview?${query}`), 'invalid_request'))
