import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { approve } from '../../src/actions/approvals/approvals.ts'
import { type Caller, type CheckDeps, callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { idempotencyOf } from '../../src/actions/idempotency.ts'
import { createKey, revokeKey } from '../../src/actions/keys/keys.ts'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import { operatorOf, trigger } from '../../src/actions/killswitch/killswitch.ts'
import { loadPolicySet } from '../../src/authoring/load/load.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Role } from '../../src/keys/roles.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { ACME_POLICY, temporaryFolder } from '../helpers.ts'

const HOST = { kind: 'host', id: 'host:0' } as const
const files = [{ name: 'main.yaml', bytes: Buffer.from(ACME_POLICY) }]
const { set } = loadPolicySet({ tenant: 'acme', files, lists: new Map(), ignored: [] })
const newId = idMaker(Date.now, randomBytes)
const depsOver = (store: Store): CheckDeps => ({
  store,
  clock: Date.now,
  newId,
  policies: { get: () => set },
  history: historyReader(store),
})

interface Scene {
  /** This process, and another one on the same file. */
  here: CheckDeps
  elsewhere: CheckDeps
  agent: Caller
  approver: Caller
  /** `here`, where `act` runs once between the next decision and its commit. */
  interrupted: (act: () => Promise<unknown>) => CheckDeps
  decisions: () => Promise<string[]>
}

async function scene(t: TestContext): Promise<Scene> {
  const dir = temporaryFolder()
  const [here, elsewhere] = [true, true].map((create) => {
    const store = openStore({ dir, create, clock: Date.now })
    t.after(() => store.close())
    return depsOver(store)
  })
  assert.ok(here && elsewhere)
  await ensureTenant(here, HOST, 'acme')
  const caller = async (role: Role, identity: string): Promise<Caller> => {
    const { id } = await createKey(here, { actor: HOST, caller: undefined }, 'acme', { roles: [role], identity })
    await elsewhere.store.refresh()
    return callerOf(here.store.state().keys.get(id) ?? assert.fail('the key was made'), 'acme')
  }
  const interrupted = (act: () => Promise<unknown>): CheckDeps => {
    let done = false
    const commit: Store['commit'] = async (submission) => {
      if (!done) {
        done = true
        await act()
      }
      return here.store.commit(submission)
    }
    return { ...here, store: { ...here.store, commit } }
  }
  const decisions = async () => {
    const entries = await here.store.entriesFrom('acme/live', 0, 100)
    return entries
      .flatMap(({ sections }) => sections.filter(({ name }) => name === 'decision'))
      .map(({ json }) => JSON.parse(json).decision)
  }
  return {
    here,
    elsewhere,
    agent: await caller('agent', 'bot'),
    approver: await caller('approver', 'ann'),
    interrupted,
    decisions,
  }
}

const mail = { tenantId: 'acme', action: 'email.send' }
const large = { tenantId: 'acme', action: 'payment.transfer', context: { amount: 2000 } }
const stop = { tenantId: 'acme', level: 'L3', reason: 'odd', triggeredBy: 'ann' } as const
const withTask = (deps: CheckDeps) => ({ ...deps, keepUnwritten: () => assert.fail('the stop is on disk at once') })

for (const where of ['here', 'elsewhere'] as const) {
  test(`a stop between decision and commit wins: ${where}`, async (t) => {
    const { agent, approver, interrupted, decisions, ...processes } = await scene(t)
    const deps = interrupted(() => trigger(withTask(processes[where]), operatorOf(approver), stop))
    const { decision, decidedBy } = await check(deps, agent, mail)
    assert.deepEqual([decision, decidedBy], ['deny', 'kill_switch'])
    assert.deepEqual(await decisions(), ['deny'])
  })

  test(`a key revoked between decision and commit decides nothing: ${where}`, async (t) => {
    const { agent, interrupted, decisions, ...processes } = await scene(t)
    const deps = interrupted(() => revokeKey(processes[where], { actor: HOST, caller: undefined }, agent.key.id))
    await assert.rejects(check(deps, agent, mail), { code: 'unauthenticated' })
    assert.deepEqual(await decisions(), [])
  })

  test(`an approval used between decision and commit is not used again: ${where}`, async (t) => {
    const { agent, approver, interrupted, decisions, ...processes } = await scene(t)
    const held = await check(processes.here, agent, large)
    await approve(processes.here, approver, held.approvalId ?? '', { tenantId: 'acme', approverId: 'ann' })
    const deps = interrupted(() => check(processes[where], agent, large))
    const second = await check(deps, agent, large)
    assert.equal(second.decision, 'require_approval')
    assert.notEqual(second.approvalId, held.approvalId)
    assert.deepEqual(await decisions(), ['require_approval', 'allow', 'require_approval'])
  })

  test(`the same request between decision and commit waits for the same approval: ${where}`, async (t) => {
    const { agent, interrupted, decisions, ...processes } = await scene(t)
    const others: (string | null)[] = []
    const deps = interrupted(async () => others.push((await check(processes[where], agent, large)).approvalId))
    const { approvalId } = await check(deps, agent, large)
    assert.deepEqual([approvalId], others)
    const { total } = await processes.here.store.approvals({
      chain: 'acme/live',
      statuses: ['pending'],
      limit: 9,
      offset: 0,
    })
    assert.equal(total, 1)
    assert.deepEqual(await decisions(), ['require_approval', 'require_approval'])
  })

  test(`a stop between vote and commit keeps the approval from being granted: ${where}`, async (t) => {
    const { agent, approver, interrupted, ...processes } = await scene(t)
    const { approvalId } = await check(processes.here, agent, large)
    const deps = interrupted(() => trigger(withTask(processes[where]), operatorOf(approver), stop))
    const vote = approve(deps, approver, approvalId ?? '', { tenantId: 'acme', approverId: 'ann' })
    await assert.rejects(vote, { code: 'kill_switch_active' })
    assert.equal((await processes.here.store.approval(approvalId ?? ''))?.status, 'pending')
  })
}

test('many equal requests at once wait for one approval', async (t) => {
  const { here, elsewhere, agent } = await scene(t)
  const asked = Array.from({ length: 16 }, (_, n) => check(n % 2 === 0 ? here : elsewhere, agent, large))
  const ids = new Set((await Promise.all(asked)).map(({ approvalId }) => approvalId))
  assert.equal(ids.size, 1)
})

test('many equal requests at once use an approval once', async (t) => {
  const { here, elsewhere, agent, approver, decisions } = await scene(t)
  const { approvalId } = await check(here, agent, large)
  await approve(here, approver, approvalId ?? '', { tenantId: 'acme', approverId: 'ann' })
  const asked = Array.from({ length: 16 }, (_, n) => check(n % 2 === 0 ? here : elsewhere, agent, large))
  await Promise.all(asked)
  assert.equal((await decisions()).filter((decision) => decision === 'allow').length, 1)
})

test('one Idempotency-Key many times at once makes one decision', async (t) => {
  const { here, elsewhere, agent, decisions } = await scene(t)
  const once = idempotencyOf('same', 'check', mail)
  const asked = Array.from({ length: 16 }, (_, n) => check(n % 2 === 0 ? here : elsewhere, agent, mail, once))
  const ids = new Set((await Promise.all(asked)).map(({ decisionId }) => decisionId))
  assert.equal(ids.size, 1)
  assert.deepEqual(await decisions(), ['allow'])
})

test('what a stop met at once with many requests did not stop was committed before it', async (t) => {
  const { here, elsewhere, agent, approver } = await scene(t)
  const asked = Array.from({ length: 40 }, (_, n) => check(n % 2 === 0 ? here : elsewhere, agent, mail))
  const stopped = trigger(withTask(elsewhere), operatorOf(approver), stop)
  const more = Array.from({ length: 40 }, (_, n) => check(n % 2 === 0 ? here : elsewhere, agent, mail))
  await Promise.all([...asked, stopped, ...more])
  const entries = await here.store.entriesFrom('acme/live', 0, 200)
  const stopSeq = entries.find(({ header }) => header.type === 'killswitch.triggered')?.header.seq ?? 0
  const allowedAfter = entries
    .filter(({ header }) => header.seq > stopSeq)
    .flatMap(({ sections }) => sections.filter(({ name, json }) => name === 'decision' && json.includes('"allow"')))
  assert.deepEqual(allowedAfter, [])
  assert.ok(stopSeq > 0)
})
