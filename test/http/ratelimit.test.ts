import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setPlan } from '../../src/actions/keys/tenants.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Plan } from '../../src/keys/plan.ts'
import { type Answer, type Gate, startGate } from '../helpers.ts'
import { assertDone, assertRefused, entriesOf, stopTime } from './support.ts'

const MAIL = { tenantId: 'acme', action: 'email.send' }

async function plan(gate: Gate, tenant: string, name: Plan): Promise<void> {
  const deps = { store: gate.server.store, clock: Date.now, newId: idMaker(Date.now, randomBytes) }
  await setPlan(deps, { kind: 'host', id: 'host:0' }, tenant, name)
}

/** Sends `count` requests, a few at a time. */
async function many(count: number, send: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  let sent = 0
  const work = async (): Promise<void> => {
    while (sent < count) {
      sent += 1
      answers.push(await send())
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  return answers
}

/** Sends more than the limit allows. The bucket refills a little meanwhile, so the number allowed has this bound. */
async function burst(
  count: number,
  limit: number,
  send: () => Promise<Answer>,
  start = performance.now(),
): Promise<{ allowed: number; refused: Answer[] }> {
  const answers = await many(count, send)
  const refused = answers.filter(({ status }) => status === 429)
  const most = limit + Math.ceil(((performance.now() - start) * Math.max(limit, 60)) / 60_000)
  const allowed = count - refused.length
  assert.ok(allowed >= Math.min(count, limit) && allowed <= most, `${allowed} allowed, ${limit} to ${most} expected`)
  return { allowed, refused }
}

test('the free plan: sixty a minute, by tenant and environment, and nothing decided beyond', async (t) => {
  const gate = await startGate(t)
  stopTime(t)
  const [owner, second, sandbox, other] = await Promise.all([
    gate.key(),
    gate.key({ roles: ['agent'] }),
    gate.key({ environment: 'test' }),
    gate.key({ tenant: 'other' }),
  ])
  await plan(gate, 'acme', 'free')
  const held = await gate.call(owner, 'POST', '/gate/check', {
    ...MAIL,
    action: 'payment.transfer',
    context: { amount: 2000 },
  })
  assert.match(held.headers.get('ratelimit-policy') ?? '', /^"free";q=60;w=60$/)
  assert.match(held.headers.get('ratelimit') ?? '', /^"free";r=59;t=0$/)

  const before = await entriesOf(gate, 'gate.decision')
  const { allowed, refused } = await burst(70, 59, () => gate.call(owner, 'POST', '/gate/check', MAIL))
  const endMs = performance.now()
  assert.equal(await entriesOf(gate, 'gate.decision'), before + allowed)
  for (const answer of refused) {
    assertRefused(answer, 'rate_limited')
    assert.match(answer.headers.get('retry-after') ?? '', /^1$/)
    assert.match(answer.headers.get('ratelimit-policy') ?? '', /^"free";q=60;w=60$/)
    assert.match(answer.headers.get('ratelimit') ?? '', /^"free";r=0;t=1$/)
  }

  // Another key of the tenant, another counted route: the same bucket.
  await burst(5, 0, () => gate.call(second, 'POST', '/gate/risk', { action: 'email.send' }), endMs)
  // The test side and another tenant have their own.
  assertDone(await gate.call(sandbox, 'POST', '/gate/check', MAIL))
  assertDone(await gate.call(other, 'POST', '/gate/check', { ...MAIL, tenantId: 'other' }))
  await exemptRoutesWork(gate, owner, held.body.data.approvalId)
})

async function exemptRoutesWork(
  gate: Gate,
  owner: { secret: string; tenant: string },
  approvalId: string,
): Promise<void> {
  const EXEMPT: [method: string, path: string, body?: object][] = [
    ['GET', '/approvals'],
    ['GET', `/approvals/${approvalId}`],
    ['POST', `/approvals/${approvalId}/reject`, { approverId: 'x' }],
    ['POST', '/killswitch/trigger', { level: 'L3', reason: 'x', triggeredBy: 'x' }],
    ['GET', '/killswitch/status'],
    ['POST', '/killswitch/recover', { recoveredBy: 'x', comment: 'x' }],
    ['GET', '/audit/chain'],
    ['GET', '/healthz'],
    ['GET', '/readyz'],
  ]
  for (const [method, path, body] of EXEMPT) assertDone(await gate.call(owner, method, path, body))
}

test('who is refused cannot ask forever, and does not use up what others have', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  const agent = await gate.key({ roles: ['agent'] })
  await plan(gate, 'acme', 'free')
  await burst(700, 600, () => gate.call({ ...owner, secret: 'sk_live_guess' }, 'GET', '/approvals'))
  await burst(700, 600, () => gate.call(agent, 'GET', '/audit/chain'))
  assertDone(await gate.call(owner, 'GET', '/audit/chain'))
  const answer = await gate.call(agent, 'POST', '/gate/check', MAIL)
  assertDone(answer)
  assert.match(answer.headers.get('ratelimit') ?? '', /r=59/)
})

test('status reads have six hundred a minute a key', async (t) => {
  const gate = await startGate(t)
  const [owner, second] = [await gate.key(), await gate.key()]
  stopTime(t)
  const { refused } = await burst(700, 600, () => gate.call(owner, 'GET', '/killswitch/status'))
  assertRefused(refused[0] as Answer, 'rate_limited')
  assertDone(await gate.call(second, 'GET', '/killswitch/status'))
})

test('sessions are opened and sign-in links made thirty times a minute a key, together', async (t) => {
  const gate = await startGate(t)
  stopTime(t)
  const [owner, second] = [await gate.key(), await gate.key()]
  await many(10, () => gate.call(owner, 'POST', '/session/code'))
  const { allowed, refused } = await burst(30, 20, () => gate.call(owner, 'POST', '/session'))
  assertRefused(refused[0] as Answer, 'rate_limited')
  assert.match(refused[0]?.headers.get('ratelimit-policy') ?? '', /^"sign-in";q=30;w=60$/)
  assert.equal(await entriesOf(gate, 'session.started'), allowed)
  assertDone(await gate.call(owner, 'GET', '/session'))
  assertDone(await gate.call(second, 'POST', '/session'))
})

test('enterprise is not limited, and says nothing of limits', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  const answers = await many(620, () => gate.call(owner, 'POST', '/gate/risk', { action: 'email.send' }))
  assert.ok(answers.every(({ status, headers }) => status === 200 && headers.get('ratelimit') === null))
})

test('another plan holds from the next request on', async (t) => {
  const gate = await startGate(t)
  const owner = await gate.key()
  await plan(gate, 'acme', 'free')
  await burst(61, 60, () => gate.call(owner, 'POST', '/gate/risk', { action: 'email.send' }))
  await plan(gate, 'acme', 'enterprise')
  assertDone(await gate.call(owner, 'POST', '/gate/risk', { action: 'email.send' }))
})
