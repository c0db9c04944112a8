import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_PLAN, PENDING_LIMITS } from '../../src/keys/plan.ts'
import { type Cleanup, type Gate, startGate, temporaryFolder } from '../helpers.ts'
import { postgresDatabase } from '../postgres.ts'
import { settingsFor } from '../store/roles.ts'
import { HANGS_MS, until } from '../until.ts'

/* Requests that read amid another sidecar's commit: its rows are there before it is heard of. */

const cleanup: Cleanup = { after }
const settings = settingsFor(await postgresDatabase(cleanup))
const a = await startGate(cleanup, { settings })
const b = await startGate(cleanup, { settings: { ...settings, data: join(temporaryFolder(), 'data') } })
const owner = await a.key()
const agent = await a.key({ roles: ['agent'] })

let count = 0
const fresh = (): string => `value-${++count}`
const post = (gate: Gate, path: string, body: object, { key = owner, value = fresh() } = {}) =>
  gate.call(key, 'POST', path, body, { 'idempotency-key': value })
const check = async (gate: Gate, amount: number, value = fresh()) => {
  const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount } }
  return (await post(gate, '/gate/check', body, { key: agent, value })).body.data
}
const trigger = (gate: Gate, scope: string, value = fresh()) =>
  post(gate, '/killswitch/trigger', { level: 'L1', scope, reason: 'drill', triggeredBy: 'ann' }, { value })
const recover = (gate: Gate, body: { id?: string } = {}, value = fresh()) =>
  post(gate, '/killswitch/recover', { ...body, recoveredBy: 'ann', comment: 'over' }, { value })
const stopsAt = async (gate: Gate) => (await gate.call(owner, 'GET', '/killswitch/status')).body.data.switches
/** Waits until the other service knows of this many stops. */
const heard = (stops: number) => until(`${stops} stops are known`, async () => (await stopsAt(b)).length === stops)
/** Ends the stop. Until the other service knows of it, requests there are still denied. */
const recovered = async (): Promise<void> => {
  await recover(a)
  await heard(0)
}

type Reads = 'approvals' | 'approvalsFor' | 'entry' | 'idempotencyUse'

/** Gives the next read of this name in a service to `around`, which says when it is made. */
function onNext(gate: Gate, name: Reads, around: (read: () => Promise<unknown>) => Promise<unknown>): void {
  const store = gate.server.store as unknown as Record<Reads, (...args: unknown[]) => Promise<unknown>>
  const read = store[name]
  store[name] = (...args) => {
    store[name] = read
    return around(() => read(...args))
  }
}

/** Reads once the other service has committed, before this one hears of it. */
function afterCommitOf<T>(work: () => Promise<T>) {
  return async (read: () => Promise<unknown>): Promise<unknown> => {
    const working = work()
    for (;;) {
      const found = await read()
      if (found === undefined) continue
      await working
      return found
    }
  }
}

test('one trigger at two sidecars at once is one stop, on disk, and neither stops being ready', async () => {
  for (let i = 0; i < 20; i += 1) {
    const [value, scope] = [fresh(), `email.a${i}`]
    const first = trigger(a, scope, value)
    await sleep(i / 2)
    for (const { body } of await Promise.all([first, trigger(b, scope, value)])) {
      assert.equal(body.data?.persisted, true, JSON.stringify(body))
      assert.equal((await fetch(`${b.server.url}/readyz`)).status, 200)
    }
    assert.equal((await stopsAt(a)).length, 1)
    await recovered()
  }
})

test('a repeated trigger, and a repeated recovery, say what the first one did', async () => {
  const value = fresh()
  onNext(
    b,
    'idempotencyUse',
    afterCommitOf(() => trigger(a, 'email.send', value)),
  )
  const repeated = await trigger(b, 'email.send', value)
  assert.equal(repeated.body.data?.active, true, JSON.stringify(repeated.body))
  for (const at of [b, a]) {
    const [{ id }] = await stopsAt(at)
    const over = fresh()
    onNext(
      at,
      'idempotencyUse',
      afterCommitOf(() => recover(a, { id }, over)),
    )
    assert.deepEqual((await recover(at, { id }, over)).body.data?.switches, [])
    await trigger(a, 'email.send')
    await heard(1)
  }
  await recovered()
})

test('an approval that another sidecar uses meanwhile is no fault of its record', async () => {
  const { approvalId } = await check(a, 5000)
  assert.equal((await post(b, `/approvals/${approvalId}/approve`, { approverId: 'ann' })).status, 200)
  onNext(b, 'approvalsFor', async (read) => {
    const approved = await read()
    assert.equal((await check(a, 5000)).decision, 'allow')
    return approved
  })
  const { decision, reason } = await check(b, 5000)
  assert.deepEqual([decision, reason], ['require_approval', 'Large payments need a person.'])
})

test('a request that another sidecar gives the last place of those pending waits for that one', async () => {
  const requester = await a.key({ roles: ['agent'], identity: 'patient' })
  const asked = async (gate: Gate, amount: number) => {
    const body = { tenantId: 'acme', action: 'payment.transfer', context: { amount } }
    return (await post(gate, '/gate/check', body, { key: requester })).body.data
  }
  await Promise.all(Array.from({ length: PENDING_LIMITS[DEFAULT_PLAN] - 1 }, (_, n) => asked(a, 8000 + n)))
  let first: string | undefined
  onNext(b, 'approvalsFor', async (read) => {
    const before = await read()
    first = (await asked(a, 9000)).approvalId
    return before
  })
  const { decision, approvalId } = await asked(b, 9000)
  assert.deepEqual([decision, approvalId], ['require_approval', first])
  assert.equal(await a.server.store.pendingOf('acme/live', 'patient'), PENDING_LIMITS[DEFAULT_PLAN])
  assert.equal((await asked(b, 9001)).decision, 'deny')
})

test('a stop that is committed while a hold is decided denies it, and while an allow is answered again', async () => {
  const value = fresh()
  assert.equal((await check(b, 1, value)).decision, 'allow')
  const stopped = async (read: () => Promise<unknown>) => {
    assert.equal((await trigger(a, 'payment.transfer')).body.data.persisted, true)
    return read()
  }
  onNext(b, 'approvalsFor', stopped)
  assert.equal((await check(b, 6000)).decidedBy, 'kill_switch')
  await recovered()
  onNext(b, 'entry', stopped)
  assert.equal((await check(b, 1, value)).decidedBy, 'kill_switch')
  await recovered()
})

test('a list of approved approvals has no other, though a stop cancels them meanwhile', async () => {
  // A service may note the cancellation before the list is read, which then has nothing.
  const endMs = performance.now() + HANGS_MS
  for (let listed = 0; listed === 0; ) {
    const { approvalId } = await check(a, 7000)
    assert.equal((await post(a, `/approvals/${approvalId}/approve`, { approverId: 'ann' })).status, 200)
    onNext(b, 'approvals', async (read) => {
      await trigger(a, 'payment.transfer')
      await heard(1)
      return read()
    })
    const { data } = (await b.call(owner, 'GET', '/approvals?status=approved')).body
    listed = data.length
    assert.deepEqual(
      data.map(({ id, status }: { id: string; status: string }) => [id, status]),
      listed === 0 ? [] : [[approvalId, 'approved']],
    )
    assert.equal(listed > 0 || performance.now() < endMs, true, 'only empty lists')
    await recovered()
  }
})
