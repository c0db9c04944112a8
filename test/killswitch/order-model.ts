import assert from 'node:assert/strict'
import { after } from 'node:test'
import { type Answer, type Gate, startGate, temporaryFolder } from '../helpers.ts'

/** Model of what may be allowed, by the order of the steps alone: no time decides what came first. */

const HOUR = 3_600_000
const T0 = Date.parse('2026-03-01T10:00:00.000Z')
const VALID_MS = 60_000
const EXPIRES_MS = 12 * HOUR
/** A request may be read so long before its approval is made. */
const AHEAD_MS = 1000

export const ACTIONS = ['email.send', 'payment.transfer', 'payment.refund'] as const
export type Action = (typeof ACTIONS)[number]
const QUORUM: Readonly<Record<Action, number>> = { 'email.send': 0, 'payment.transfer': 1, 'payment.refund': 2 }
export const VOTERS = ['ann', 'bob', 'cid']

export const policyOf = (mail: 'allow' | 'deny'): Record<string, string> => ({
  'acme/main.yaml': `
apiVersion: gate-sidecar/v1
tenant: acme
domains: {finance: ["payment.*"], communication: ["email.*"]}
approval: {expiresIn: 12h}
rules:
  - {id: pair, actions: [payment.refund], effect: require_approval, reason: Two people., approval: {quorum: 2}}
  - {id: transfer, actions: [payment.transfer], effect: require_approval, reason: A person.}
  - {id: mail, actions: ["email.*"], effect: ${mail}, reason: As it is now.}
`,
})

export const STOPS = [
  { level: 'L1', scope: 'payment.*', covers: (action: Action) => action !== 'email.send' },
  { level: 'L2', scope: 'communication', covers: (action: Action) => action === 'email.send' },
  { level: 'L3', covers: () => true },
  { level: 'L4', covers: () => true },
] as const

type Key = Awaited<ReturnType<Gate['key']>>

interface Asked {
  id: string
  action: Action
  amount: number
  atMs: number
  /** Whose votes were taken, and the keys that gave them. */
  votes: Map<string, Key>
  /** The step of the newest vote. */
  votedAt: number
  isUsed: boolean
  /** Time under a stop, in which the deadline does not run; never less than the service counts. */
  pausedMs: number
}

interface Allowed {
  action: Action
  step: number
  atMs: number
}

export interface World {
  gate: Gate
  dir: string
  time: { nowMs: number }
  step: number
  mail: 'allow' | 'deny'
  bot: Key
  voters: Map<string, Key>
  admin: Key
  revoked: Set<string>
  asked: Asked[]
  allowed: Map<string, Allowed>
  stops: { stop: (typeof STOPS)[number]; step: number; isOver: boolean }[]
  /** The clock at the newest decision. */
  entryMs: number
  /** The newest step at which the clock went back behind that: else the chain cannot tell. */
  backAt: number
  decided: Set<string>
  seen: Set<string>
}

/** A service with an agent, people and an operator. */
export async function newWorld(): Promise<World> {
  const [dir, time] = [temporaryFolder(), { nowMs: T0 }]
  const gate = await opened({ dir, time, mail: 'allow' })
  const voters = await Promise.all(
    VOTERS.map(async (identity) => [identity, await gate.key({ roles: ['approver'], identity })] as const),
  )
  return {
    ...{ gate, dir, time, mail: 'allow', step: 0, entryMs: T0, backAt: 0 },
    ...{ bot: await gate.key({ roles: ['agent'], identity: 'bot' }), admin: await gate.key({ roles: ['admin'] }) },
    ...{ voters: new Map(voters), revoked: new Set(), asked: [], allowed: new Map(), stops: [] },
    ...{ decided: new Set(), seen: new Set() },
  }
}

/** The service on the folder of this world, with its policies and its clock. */
export function opened({ dir, time, mail }: Pick<World, 'dir' | 'time' | 'mail'>): Promise<Gate> {
  return startGate({ after }, { dir, clock: () => time.nowMs, policies: policyOf(mail), watch: 'off' })
}

const stoppedSince = ({ stops }: World, action: Action, step: number): boolean =>
  stops.some((one) => one.step > step && one.stop.covers(action))
export const isStopped = ({ stops }: World, action: Action): boolean =>
  stops.some(({ stop, isOver }) => !isOver && stop.covers(action))

/** Asserts the rules for an allow, new or repeated. */
export function assertAllowed(world: World, data: Answer['body'], action: Action, amount: number): void {
  const { step } = world
  const { nowMs } = world.time
  assert.equal(isStopped(world, action), false, 'allowed under a stop')
  assert.equal(world.revoked.has(world.bot.id), false, 'allowed for a revoked key')
  const [fromMs, untilMs] = [Date.parse(data.timestamp), Date.parse(data.validUntil)]
  assert.equal(fromMs <= nowMs && nowMs < untilMs && untilMs <= nowMs + VALID_MS, true, 'valid beyond its minute')
  const earlier = world.allowed.get(data.decisionId)
  if (earlier === undefined) {
    world.allowed.set(data.decisionId, { action, step, atMs: nowMs })
    if (action === 'email.send') assert.equal(world.mail, 'allow', 'not what the policies say')
    else assertApproved(world, data.approvalId, action, amount)
    return
  }
  world.seen.add('repeated')
  assert.equal(earlier.action, action)
  assert.equal(earlier.atMs <= nowMs && nowMs < earlier.atMs + VALID_MS, true, 'repeated after its minute')
  assert.equal(world.backAt > earlier.step, false, 'repeated after the clock went back')
  assert.equal(stoppedSince(world, action, earlier.step), false, 'repeated after a stop')
  if (action === 'email.send') assert.equal(world.mail, 'allow', 'repeated under other policies')
}

/** Asserts that people approved exactly this, and that it is used once. */
function assertApproved(world: World, id: string | null, action: Action, amount: number): void {
  const { nowMs } = world.time
  const asked = world.asked.find((one) => one.id === id) ?? assert.fail('by an approval that nobody asked for')
  assert.deepEqual(
    { action: asked.action, amount: asked.amount },
    { action, amount },
    'by an approval of another request',
  )
  assert.equal(asked.isUsed, false, 'by an approval that was used')
  const counted = [...asked.votes].filter(([, key]) => !world.revoked.has(key.id))
  assert.equal(counted.length >= QUORUM[action], true, 'by too few votes')
  assert.equal(stoppedSince(world, action, asked.votedAt), false, 'by votes before a stop')
  assert.equal(nowMs >= asked.atMs - AHEAD_MS, true, 'by an approval that begins in the future')
  assert.equal(nowMs < asked.atMs + EXPIRES_MS + asked.pausedMs, true, 'by an approval that has expired')
  asked.isUsed = true
  world.seen.add('approved')
}

export function assertHeld(world: World, data: Answer['body'], action: Action, amount: number): void {
  const { step } = world
  const { nowMs } = world.time
  let asked = world.asked.find(({ id }) => id === data.approvalId)
  if (asked === undefined) {
    const more = { votes: new Map(), votedAt: step, isUsed: false, pausedMs: 0 }
    asked = { id: data.approvalId, action, amount, atMs: nowMs, ...more }
    world.asked.push(asked)
  }
  const leftMs = Date.parse(data.approvalExpiresAt) - nowMs
  assert.equal(leftMs > 0 && leftMs <= EXPIRES_MS + asked.pausedMs + AHEAD_MS, true, `open for ${leftMs} ms`)
}
