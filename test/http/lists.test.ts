import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { expireDue, listApprovals } from '../../src/actions/approvals/approvals.ts'
import { callerOf } from '../../src/actions/deps.ts'
import type { Approval, ApprovalStatus } from '../../src/approvals/approval.ts'
import { idMaker } from '../../src/base/id.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { type Cleanup, temporaryFolder } from '../helpers.ts'
import { aKey, anApproval, aStop, commit, creating, START_MS } from '../store/drafts.ts'

const caller = callerOf(aKey({ roles: ['owner'] }), 'acme')
const at = (minutes: number): string => new Date(START_MS + minutes * 60_000).toISOString()
let letters = 0
const digest = (): string => {
  letters += 1
  return `sha256:${letters.toString(16).padStart(64, '0')}`
}

/** A store without a service, so that nothing sweeps. */
function opened(t: Cleanup) {
  let nowMs = START_MS
  const store = openStore({ dir: temporaryFolder(), create: true, clock: () => nowMs })
  t.after(() => store.close())
  const make = async (id: string, changes: Partial<Approval>): Promise<void> =>
    commit(store, creating('approval', anApproval({ id, digest: digest(), ...changes })))
  return {
    store,
    make,
    wait: (minutes: number) => {
      nowMs += minutes * 60_000
    },
    deps: { store, clock: () => nowMs, newId: idMaker(() => nowMs, randomBytes) },
  }
}

test('a list and its total are of the status that holds now, before any sweep', async (t) => {
  const { make, wait, deps } = opened(t)
  for (const n of [1, 2, 3, 4, 5, 6]) await make(`apr_${n}`, { expiresAt: at(n * 10) })
  await make('apr_7', { expiresAt: at(5), status: 'expired' })
  wait(35)
  const list = async (status: ApprovalStatus, limit: number, offset = 0) => {
    const { items, page } = await listApprovals(deps, caller, { status, limit, offset })
    return { ids: items.map(({ id }) => id), page }
  }
  const rows: [status: ApprovalStatus, limit: number, offset: number, ids: string[], total: number][] = [
    ['pending', 2, 0, ['apr_4', 'apr_5'], 3],
    ['pending', 2, 2, ['apr_6'], 3],
    ['expired', 10, 0, ['apr_7', 'apr_1', 'apr_2', 'apr_3'], 4],
    ['expired', 1, 1, ['apr_1'], 4],
    ['approved', 10, 0, [], 0],
  ]
  for (const [status, limit, offset, ids, total] of rows) {
    assert.deepEqual(await list(status, limit, offset), { ids, page: { limit, offset, total } })
  }
})

test('an approval that a stop has cancelled is listed as cancelled before any entry says so', async (t) => {
  const { store, make, wait, deps } = opened(t)
  await make('apr_1', { status: 'approved', decidedAt: at(1), expiresAt: at(60) })
  wait(2)
  await commit(store, creating('switch', aStop({ triggeredAt: at(2) })))
  for (const [status, total] of [
    ['approved', 0],
    ['cancelled', 1],
  ] as const) {
    const { items, page } = await listApprovals(deps, caller, { status, limit: 10, offset: 0 })
    assert.deepEqual([items.length, page.total], [total, total], status)
  }
})

test('approvals that a stop holds open do not keep the run from those of other tenants', async (t) => {
  const { store, make, wait, deps } = opened(t)
  await commit(store, creating('switch', aStop()))
  await Promise.all(Array.from({ length: 700 }, (_, n) => make(`apr_a${n}`, { expiresAt: at(1) })))
  await make('apr_z', { chain: 'other/live', expiresAt: at(2) })
  wait(10)
  assert.equal(await expireDue(deps), 1)
  assert.equal((await store.approval('apr_z'))?.status, 'expired')
})
