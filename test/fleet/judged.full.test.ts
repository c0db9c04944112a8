import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isLane } from '../../src/audit/chain.ts'
import { sectionValue } from '../../src/audit/entry.ts'
import type { Grounds } from '../../src/audit/grounds.ts'
import type { Store } from '../../src/store/store.ts'
import { assertRecorded, later, post, type Service } from '../e2e/processes.ts'
import { ownServer } from '../postgres.ts'
import { until } from '../until.ts'
import { fleet } from './fleet.ts'

const SIDECARS = 8
const SECONDS = 20
const RESTARTS = [5, 12]
const STOPPED_EVERY_MS = 1500
/** Mails of the agent in an hour, over the whole fleet. */
const LIMIT = 40
const POLICY = `
apiVersion: gate-sidecar/v1
tenant: acme
history: {count: {mails: {actions: ["email.*"], within: 1h, by: agent}}}
rules:
  - {id: many, actions: ["email.*"], effect: deny, when: {fact: history.count.mails, operator: greaterThan, value: ${LIMIT}}, reason: Enough.}
  - {id: mail, actions: ["email.*"], effect: allow, reason: Fine.}
  - {id: large, actions: ["payment.*"], effect: require_approval, when: {fact: context.amount, operator: greaterThan, value: 1000}, reason: Large.}
  - {id: payment, actions: ["payment.*"], effect: allow, reason: Fine.}
`

test('eight sidecars, one killed each second, a server that restarts, stops and approvals: all that is told is true', async (t) => {
  const server = await ownServer(t)
  const { serve, key, open, policies } = await fleet(t, { database: server.url })
  writeFileSync(join(policies, 'acme/main.yaml'), POLICY)
  const [owner, agent, busy] = [await key('owner'), await key('agent'), await key('agent')]
  const sidecars: (Service | undefined)[] = await Promise.all(Array.from({ length: SIDECARS }, () => serve()))
  const acknowledged: string[] = []
  const redeemed: string[] = []
  let isOver = false
  let amount = 2000
  const anyone = (): string => {
    const alive = sidecars.flatMap((sidecar) => sidecar?.url ?? [])
    // Nobody answers at the discard port.
    return alive[Math.floor(Math.random() * alive.length)] ?? 'http://127.0.0.1:9'
  }
  /** Starts a sidecar, again as long as the server is away. */
  const start = async (at: number): Promise<void> => {
    while (!isOver && sidecars[at] === undefined) sidecars[at] = await serve().catch(() => undefined)
  }
  const check = async (by: typeof agent, action: string, amount: number) => {
    const reply = await post(anyone(), by, '/gate/check', { action, context: { amount } })
    if (reply === undefined) await later(20)
    if (reply?.status !== 200) return undefined
    acknowledged.push(reply.body.data.decisionId)
    return reply.body.data
  }
  const repeat = async (work: () => Promise<unknown>): Promise<void> => {
    while (!isOver) await work()
  }
  /** Holds a payment at one sidecar, votes at another, and uses it at two at once. */
  const approve = async (): Promise<void> => {
    amount += 1
    const mine = amount
    const held = await check(agent, 'payment.transfer', mine)
    if (held?.decision !== 'require_approval') return
    await post(anyone(), owner, `/approvals/${held.approvalId}/approve`, { approverId: 'ann', comment: 'seen' })
    const used = await Promise.all([1, 2].map(() => check(agent, 'payment.transfer', mine)))
    for (const answer of used) if (answer?.decision === 'allow') redeemed.push(held.approvalId)
  }
  const stop = async (): Promise<void> => {
    const of = { level: 'L3', scope: 'acme' }
    await post(anyone(), owner, '/killswitch/trigger', { ...of, reason: 'drill', triggeredBy: 'ann' })
    await later(100)
    while (
      (await post(anyone(), owner, '/killswitch/recover', { ...of, recoveredBy: 'ann', comment: 'over' }))?.status !==
      200
    )
      if (isOver) return
      else await later(50)
    await later(STOPPED_EVERY_MS)
  }
  let isLimitReached = false
  const mail = async (): Promise<void> => {
    const decided = await check(agent, 'email.send', 1)
    isLimitReached ||= decided?.reason === 'Enough.'
  }
  const loads = [
    ...Array.from({ length: 8 }, () => repeat(() => check(busy, 'payment.transfer', 1))),
    ...Array.from({ length: 4 }, () => repeat(mail)),
    ...Array.from({ length: 2 }, () => repeat(approve)),
    repeat(stop),
  ]
  const started: Promise<void>[] = []
  try {
    for (let second = 1; second <= SECONDS; second += 1) {
      await later(1000)
      if (RESTARTS.includes(second)) await server.restart()
      const at = Math.floor(Math.random() * SIDECARS)
      await sidecars[at]?.end('SIGKILL')
      sidecars[at] = undefined
      started.push(start(at))
    }
    await until('so many mails were allowed', () => isLimitReached)
  } finally {
    isOver = true
  }
  await Promise.all([...loads, ...started])
  await Promise.all(sidecars.map((sidecar) => sidecar?.end('SIGTERM')))
  assert.ok(acknowledged.length > 100, `${acknowledged.length} decisions`)
  assert.ok(redeemed.length > 0, 'some approvals were used')
  assert.equal(new Set(redeemed).size, redeemed.length, 'each once')
  await assertCounted(await open())
  // Holds each allow to the stops and approvals before it, in every lane.
  await assertRecorded(await open(), acknowledged)
})

/** Counts the mails again: as many as the limit, each later than the ones before. */
async function assertCounted(store: Store): Promise<void> {
  const lanes = (await store.lanes('acme/live')).filter(isLane)
  assert.ok(lanes.length >= SIDECARS)
  const { items } = await store.trailPage({
    ...{ trail: 'acme/live', eventType: 'gate.decision', order: 'asc', limit: 1_000_000, offset: 0 },
    sections: ['decision', 'grounds'],
  })
  const mails = items.filter((entry) => (sectionValue(entry, 'grounds') as unknown as Grounds).taken === 'email.send')
  assert.equal(mails.length, LIMIT)
  const times = mails.map(({ header }) => header.ts)
  assert.equal(new Set(times).size, times.length)
  for (const [i, mail] of mails.entries()) {
    const { historyEnd } = sectionValue(mail, 'grounds') as unknown as Grounds
    assert.equal(
      times.filter((ts) => ts < String(historyEnd)).length,
      i,
      'it has seen the ones before it, and no other',
    )
  }
  await store.close()
}
