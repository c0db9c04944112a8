import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { approve, expireDue, noteCancelled, reject } from '../../src/actions/approvals/approvals.ts'
import { verifySeqs } from '../../src/actions/audit/verify-range.ts'
import { type Caller, type CheckDeps, callerOf } from '../../src/actions/deps.ts'
import { check } from '../../src/actions/gate/check.ts'
import { historyReader } from '../../src/actions/gate/history.ts'
import { createKey, revokeKey } from '../../src/actions/keys/keys.ts'
import { ensureTenant } from '../../src/actions/keys/tenants.ts'
import { operatorOf, persistUnwritten, trigger } from '../../src/actions/killswitch/killswitch.ts'
import { recover } from '../../src/actions/killswitch/recover.ts'
import { idMaker } from '../../src/base/id.ts'
import type { Role } from '../../src/keys/roles.ts'
import { lengthOf } from '../../src/store/bounds.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { setOf } from '../authoring/sources.ts'
import { temporaryFolder } from '../helpers.ts'
import { aStop } from '../store/drafts.ts'
import { interrupted } from '../store/interrupted.ts'
import { tamper } from '../store/used-folder.ts'

const HOST = { kind: 'host', id: 'host:0' } as const
const HOUR = 3_600_000
const T0 = Date.parse('2026-03-01T10:00:00.000Z')
const SET = setOf(`
approval: {expiresIn: 1h}
rules:
  - {id: one, actions: [pay.one], effect: require_approval, reason: One person.}
  - {id: two, actions: [pay.two], effect: require_approval, reason: Two people., approval: {quorum: 2}}
`)
const ONE = { tenantId: 'acme', action: 'pay.one', context: { n: 1 } }
const TWO = { ...ONE, action: 'pay.two' }
const vote = { tenantId: 'acme', approverId: 'a person' }

interface Scene {
  deps: CheckDeps
  dir: string
  agent: Caller
  ann: Caller
  bob: Caller
  wait(ms: number): void
  revoke(caller: Caller): Promise<unknown>
  stop(): Promise<unknown>
  recover(): Promise<unknown>
  /** `deps`, where `act` runs once between a decision and its commit. */
  interrupted(act: () => unknown): CheckDeps
}

async function scene(t: TestContext): Promise<Scene> {
  const dir = join(temporaryFolder(), 'data')
  let nowMs = T0
  const clock = () => nowMs
  const store = openStore({ dir, create: true, clock })
  t.after(() => store.close())
  const newId = idMaker(clock, randomBytes)
  const deps: CheckDeps = { store, clock, newId, policies: { get: () => SET }, history: historyReader(store) }
  await ensureTenant(deps, HOST, 'acme')
  const host = { actor: HOST, caller: undefined }
  const caller = async (role: Role): Promise<Caller> => {
    const { id } = await createKey(deps, host, 'acme', { roles: [role] })
    return callerOf(store.state().keys.get(id) ?? assert.fail('the key was made'), 'acme')
  }
  const [agent, ann, bob] = [await caller('agent'), await caller('approver'), await caller('approver')]
  const keepUnwritten = () => assert.fail('the stop is on disk at once')
  return {
    deps,
    dir,
    agent,
    ann,
    bob,
    wait: (ms) => {
      nowMs += ms
    },
    revoke: (one) => revokeKey(deps, host, one.key.id),
    stop: () =>
      trigger({ ...deps, keepUnwritten }, operatorOf(ann), {
        tenantId: 'acme',
        level: 'L3',
        reason: 'x',
        triggeredBy: 'x',
      }),
    recover: () => {
      nowMs += 1
      return recover(deps, operatorOf(ann), { tenantId: 'acme', recoveredBy: 'x', comment: 'x' })
    },
    interrupted: (act) => ({ ...deps, store: interrupted(store, act) }),
  }
}

/** Events between the decision to use an approval and the commit of its use, with the resulting decision. */
const ENDED: [what: string, act: (scene: Scene) => unknown, decided: string][] = [
  ['nothing happens', () => undefined, 'allow'],
  ['1 ms before its deadline', ({ wait }) => wait(HOUR - 1), 'allow'],
  ['its deadline comes', ({ wait }) => wait(HOUR), 'require_approval'],
  ['its approver is revoked', ({ revoke, ann }) => revoke(ann), 'require_approval'],
  ['another approver is revoked', ({ revoke, bob }) => revoke(bob), 'allow'],
  ['the action is stopped', ({ stop }) => stop(), 'deny'],
  [
    'the action is stopped, and the stop ended',
    async ({ stop, recover }) => {
      await stop()
      await recover()
    },
    'require_approval',
  ],
]

for (const [what, act, decided] of ENDED) {
  test(`an approval that is being used, when ${what}: ${decided}`, async (t) => {
    const at = await scene(t)
    const held = await check(at.deps, at.agent, ONE)
    await approve(at.deps, at.ann, held.approvalId ?? '', vote)
    const { decision } = await check(
      at.interrupted(() => act(at)),
      at.agent,
      ONE,
    )
    assert.equal(decision, decided)
    const used = await at.deps.store.approval(held.approvalId ?? '')
    assert.equal(used?.status === 'consumed', decided === 'allow')
  })
}

test('an approval that a stop has kept past its first deadline is not swept, and is used', async (t) => {
  const { deps, agent, ann, wait, stop, recover } = await scene(t)
  const { approvalId } = await check(deps, agent, ONE)
  await stop()
  wait(HOUR)
  await recover()
  await approve(deps, ann, approvalId ?? '', vote)
  assert.equal(await expireDue(deps), 0)
  assert.equal((await check(deps, agent, ONE)).decision, 'allow')
})

test('a stop has cancelled an approval in the trail once it is in the trail itself', async (t) => {
  const { deps, agent, ann } = await scene(t)
  const { approvalId } = await check(deps, agent, ONE)
  await approve(deps, ann, approvalId ?? '', vote)
  const stop = aStop()
  deps.store.impose(stop)
  assert.equal(await noteCancelled(deps), 0)
  await persistUnwritten(deps, { stop, actor: HOST })
  assert.equal(await noteCancelled(deps), 1)
  const { valid, fault } = await verifySeqs(deps.store, 'acme/live', {
    first: 0,
    end: await lengthOf(deps.store, 'acme/live'),
  })
  assert.ok(valid, fault ?? '')
})

/** Events between the second vote of a quorum of two and its commit, with the vote's error or the status after it. */
const VOTED: [what: string, act: (scene: Scene) => unknown, came: string][] = [
  ['nothing happens', () => undefined, 'approved'],
  ['1 ms before the deadline', ({ wait }) => wait(HOUR - 1), 'approved'],
  ['the deadline comes', ({ wait }) => wait(HOUR), 'approval_expired'],
  ['the first voter is revoked', ({ revoke, ann }) => revoke(ann), 'pending'],
  ['the voter is revoked', ({ revoke, bob }) => revoke(bob), 'unauthenticated'],
  ['the action is stopped', ({ stop }) => stop(), 'kill_switch_active'],
]

for (const [what, act, came] of VOTED) {
  test(`the last vote, when ${what}: ${came}`, async (t) => {
    const at = await scene(t)
    const { approvalId } = await check(at.deps, at.agent, TWO)
    await approve(at.deps, at.ann, approvalId ?? '', vote)
    const last = approve(
      at.interrupted(() => act(at)),
      at.bob,
      approvalId ?? '',
      vote,
    )
    const told = await last.then(
      ({ status }) => status as string,
      ({ code }) => code,
    )
    assert.equal(told, came)
  })
}

/** Clock at a note of expiry, and at its commit, with the status that is recorded. */
const NOTED: [what: string, readMs: number, commitMs: number, status: string][] = [
  ['the deadline has come', HOUR, HOUR, 'expired'],
  ['the clock goes back before the deadline', HOUR, HOUR - 1, 'pending'],
  ['the clock was set back', -2000, -2000, 'expired'],
  ['the clock comes forward again', -2000, 0, 'pending'],
]

for (const [what, readMs, commitMs, status] of NOTED) {
  const settings: [who: string, act: (at: Scene) => unknown][] = [
    [
      'the service',
      ({ interrupted, wait }) =>
        expireDue(
          interrupted(() => wait(commitMs - readMs)),
          { all: true },
        ),
    ],
    [
      'a new request',
      ({ interrupted, wait, agent }) =>
        check(
          interrupted(() => wait(commitMs - readMs)),
          agent,
          ONE,
        ),
    ],
  ]
  for (const [who, act] of settings)
    test(`the expiry that ${who} notes, when ${what}: ${status}`, async (t) => {
      const at = await scene(t)
      const { approvalId } = await check(at.deps, at.agent, ONE)
      at.wait(readMs)
      await act(at)
      assert.equal((await at.deps.store.approval(approvalId ?? ''))?.status, status)
    })
}

test('a rejection counts for nothing when the deadline comes before its commit', async (t) => {
  const at = await scene(t)
  const { approvalId } = await check(at.deps, at.agent, ONE)
  const late = at.interrupted(() => at.wait(HOUR))
  await assert.rejects(reject(late, at.ann, approvalId ?? '', { approverId: 'ann', reason: 'no' }), {
    code: 'approval_expired',
  })
})

/** Edits of the file that leave the row of an approval and its entries in disagreement, or an entry and its hash. */
const EDITED: [what: string, sql: string][] = [
  ['its row is set back', `UPDATE approval SET body = replace(body, '"consumed"', '"approved"')`],
  [
    'its row and what its entries say are edited',
    `UPDATE approval SET body = replace(body, '"consumed"', '"approved"');
     UPDATE section SET json = replace(json, '"consumed"', '"approved"') WHERE name = 'data'`,
  ],
]

for (const [what, sql] of EDITED) {
  test(`a used approval allows nothing more when ${what} in the file`, async (t) => {
    const { deps, dir, agent, ann } = await scene(t)
    const { approvalId } = await check(deps, agent, ONE)
    await approve(deps, ann, approvalId ?? '', vote)
    assert.equal((await check(deps, agent, ONE)).decision, 'allow')
    tamper(dir, (db) => db.exec(sql))
    assert.notEqual((await check(deps, agent, ONE)).decision, 'allow')
  })
}
