import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type Answer, fileTest, writeFiles } from '../helpers.ts'
import { assertDone } from '../http/support.ts'
import { FULL } from '../tier.ts'
import { until } from '../until.ts'
import {
  ACTIONS,
  assertAllowed,
  assertHeld,
  isStopped,
  newWorld,
  opened,
  policyOf,
  STOPS,
  VOTERS,
  type World,
} from './order-model.ts'

/**
 * What an agent, people, operators, the clock and the disk do, drawn at random; each allow is held to a model that knows
 * the order of the steps alone.
 */

const JUMPS_MS = [1, 2, 5, 20, 40, 59, 61, 600, 7200, 3 * 86_400].map((seconds) => seconds * 1000)

async function check(world: World, n: number): Promise<void> {
  const action = ACTIONS[n % 3] ?? 'email.send'
  const amount = n % 7 === 0 ? 1 : 0
  const headers: Record<string, string> = n % 4 === 0 ? {} : { 'idempotency-key': `${action}-${amount}` }
  const body = { tenantId: 'acme', action, context: { amount } }
  const answer = await world.gate.call(world.bot, 'POST', '/gate/check', body, headers)
  const { data } = answer.body
  assertDone(answer)
  if (data.decision === 'allow') assertAllowed(world, data, action, amount)
  // A deny is repeated as long as its Idempotency-Key is kept.
  if (action === 'email.send' && !isStopped(world, action) && !world.decided.has(data.decisionId))
    assert.equal(data.decision, world.mail)
  if (!world.decided.has(data.decisionId)) world.entryMs = world.time.nowMs
  world.decided.add(data.decisionId)
  if (data.decision === 'require_approval') assertHeld(world, data, action, amount)
}

async function vote(world: World, n: number): Promise<void> {
  const asked = world.asked.at(-1 - (n % 2))
  const [voter, key] = [...world.voters][n % VOTERS.length] ?? []
  if (asked === undefined || voter === undefined || key === undefined) return
  const answer = await world.gate.call(key, 'POST', `/approvals/${asked.id}/approve`, { approverId: voter })
  if (answer.status !== 200) return
  assert.equal(isStopped(world, asked.action), false, 'a vote under a stop')
  asked.votes.set(voter, key)
  asked.votedAt = world.step
}

async function stop(world: World, n: number): Promise<Answer['body']> {
  const drawn = STOPS[n % STOPS.length] ?? STOPS[0]
  const { covers: _, ...request } = drawn
  const body = { ...request, reason: 'odd', triggeredBy: 'opa' }
  const { data } = (await world.gate.call(world.admin, 'POST', '/killswitch/trigger', body)).body
  // Refused when nothing can be written and the same stop is in force already.
  assert.equal(data?.active ?? world.stops.some(({ stop, isOver }) => stop === drawn && !isOver), true)
  if (data !== undefined) world.stops.push({ stop: drawn, step: world.step, isOver: false })
  return data
}

/** A stop while nothing can be written, and a restart once there is room: it is in force before it is written. */
async function stopUnwritten(world: World, n: number): Promise<void> {
  const file = join(world.dir, 'data/gate-sidecar.db')
  renameSync(file, `${file}.away`)
  const stopped = await stop(world, n)
  if (stopped !== undefined) assert.match(stopped.warning, /kept in the reserve/)
  assert.deepEqual(await world.gate.server.close(), [])
  renameSync(`${file}.away`, file)
  world.gate = await opened(world)
}

async function restart(world: World): Promise<void> {
  await world.gate.server.close()
  world.gate = await opened(world)
}

const STEPS: Readonly<Record<string, (world: World, n: number) => unknown>> = {
  check,
  vote,
  approve: async (world, n) => {
    await check(world, 3 * n + 1)
    await vote(world, n)
  },
  stop,
  stopUnwritten,
  restart,
  /** Ends every stop; one that is not on disk yet can be ended once it is. */
  async recover(world) {
    const body = { recoveredBy: 'opa', comment: 'over' }
    const recovered = () => world.gate.call(world.admin, 'POST', '/killswitch/recover', body)
    await until('no stop is left', async () => (await recovered()).body.error === 'kill_switch_inactive')
    for (const one of world.stops) one.isOver = true
  },
  async revoke(world, n) {
    const [voter, key] = n % 4 === 3 ? (['bot', world.bot] as const) : ([...world.voters][n % 3] ?? assert.fail())
    assertDone(await world.gate.call(world.admin, 'DELETE', `/keys/${key.id}`))
    world.revoked.add(key.id)
    if (n % 4 === 3) {
      assert.equal((await world.gate.call(world.bot, 'POST', '/gate/check', { action: 'email.send' })).status, 401)
      world.bot = await world.gate.key({ roles: ['agent'], identity: 'bot' })
    } else world.voters.set(voter, await world.gate.key({ roles: ['approver'], identity: voter }))
  },
  async changePolicy(world) {
    world.mail = world.mail === 'allow' ? 'deny' : 'allow'
    writeFiles(join(world.dir, 'policies'), policyOf(world.mail))
    assertDone(await world.gate.call(world.admin, 'POST', '/policies/reload'))
  },
  later(world, n) {
    const byMs = JUMPS_MS[n % JUMPS_MS.length] ?? 0
    for (const asked of world.asked) if (isStopped(world, asked.action)) asked.pausedMs += byMs
    world.time.nowMs += byMs
  },
  /** Something is decided before the clock comes forward again: else the chain cannot tell. */
  async earlier(world, n) {
    world.time.nowMs -= JUMPS_MS[n % JUMPS_MS.length] ?? 0
    if (world.time.nowMs < world.entryMs) world.backAt = world.step
    await check(world, 0)
  },
}

/** Asserts that the trail passes its verification, which replays who might do what. */
async function assertLawful({ gate, admin }: World): Promise<void> {
  const days = { startDate: '2000-01-01', endDate: '2999-12-31' }
  const { data } = (await gate.call(admin, 'POST', '/audit/verify', days)).body
  assert.deepEqual([data.valid, data.unlawfulEntries, data.fault], [true, 0, null])
}

async function history(steps: readonly (readonly [string, number])[]): Promise<Set<string>> {
  const world = await newWorld()
  try {
    for (const [name, n] of steps) {
      world.step += 1
      await STEPS[name]?.(world, n)
    }
    await assertLawful(world)
  } finally {
    await world.gate.server.close()
  }
  return world.seen
}

/** How often each is drawn: most of the time, somebody asks or votes. */
const WEIGHTS: Readonly<Record<string, number>> = {
  check: 24,
  approve: 12,
  vote: 8,
  later: 6,
  earlier: 3,
  stop: 3,
  recover: 4,
}

const step = fc.oneof(
  ...Object.keys(STEPS).map((name) => ({
    weight: WEIGHTS[name] ?? 1,
    arbitrary: fc.tuple(fc.constant(name), fc.nat({ max: 59 })),
  })),
)
const drawn = fc.array(step, { minLength: 20, maxLength: 80, size: 'max' })

/** Histories by which an allow once slipped through; the last two hold what is allowed. */
const EXAMPLES: [string, number][][] = [
  // A stop after a vote that lies ahead of the clock.
  [
    ['later', 8],
    ['approve', 0],
    ['earlier', 0],
    ['stop', 2],
    ['recover', 0],
    ['check', 4],
  ],
  // An allow that lies ahead of the clock, and one to whose time the clock comes again, once and twice.
  [
    ['later', 8],
    ['check', 3],
    ['earlier', 7],
    ['check', 3],
    ['later', 7],
    ['check', 3],
  ],
  [
    ['later', 7],
    ['check', 0],
    ['earlier', 4],
    ['later', 3],
    ['check', 3],
    ['earlier', 4],
    ['later', 6],
    ['check', 3],
  ],
  // A stop that is over before the request, with an end that is to come by the clock.
  [
    ['stop', 0],
    ['later', 9],
    ['recover', 0],
    ['earlier', 9],
    ['later', 0],
    ['approve', 0],
    ['later', 9],
    ['check', 40],
  ],
  // A stop that the disk refuses, before a restart.
  [
    ['stopUnwritten', 2],
    ['check', 0],
  ],
  // An approval, and a decision, after a jump of days and back.
  [
    ['later', 9],
    ['approve', 0],
    ['earlier', 9],
    ['check', 4],
  ],
  // A use, or an allow, that is repeated after a stop.
  [
    ['approve', 0],
    ['check', 1],
    ['stop', 2],
    ['recover', 0],
    ['check', 1],
  ],
  [
    ['check', 3],
    ['stop', 1],
    ['recover', 0],
    ['check', 3],
  ],
  [
    ['approve', 0],
    ['check', 4],
  ],
  [
    ['check', 3],
    ['later', 4],
    ['check', 3],
  ],
]

fileTest('whatever the clock does, an allow is by the order of stops, votes, uses and policies', async () => {
  const seen = new Set<string>()
  const property = fc.asyncProperty(drawn, async (steps) => {
    for (const what of await history(steps)) seen.add(what)
  })
  await fc.assert(property, { numRuns: FULL ? 200 : 20, examples: EXAMPLES.map((steps) => [steps]) })
  assert.deepEqual([...seen].sort(), ['approved', 'repeated'])
})
