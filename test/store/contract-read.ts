import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenQuery } from '../../src/store/queries.ts'
import type { Stores } from './contract.ts'
import { aDecision, anApproval, commit, creating, LIVE, note, only, START_MS } from './drafts.ts'

const clock = () => START_MS
const digest = (letter: string) => `sha256:${letter.repeat(64)}`
const hour = (n: number) => `2026-01-01T0${n}:00:00.000Z`

const approvals = {
  late: anApproval({ id: 'apr_1', digest: digest('1'), expiresAt: hour(3) }),
  early: anApproval({ id: 'apr_2', digest: digest('2'), expiresAt: hour(1), requestedBy: 'key_other' }),
  approved: anApproval({ id: 'apr_3', digest: digest('1'), expiresAt: hour(2), status: 'approved' }),
  rejected: anApproval({ id: 'apr_4', digest: digest('1'), expiresAt: hour(2), status: 'rejected' }),
  consumed: anApproval({ id: 'apr_5', digest: digest('1'), expiresAt: hour(2), status: 'consumed' }),
  foreign: anApproval({
    id: 'apr_6',
    digest: digest('1'),
    expiresAt: hour(4),
    chain: 'other/live',
    status: 'approved',
  }),
}

/** Reads other than pages. */
export function readContract(stores: Stores): void {
  const withApprovals = async (t: Parameters<Stores>[0]) => {
    const store = await stores(t)(clock)
    for (const approval of Object.values(approvals)) await commit(store, creating('approval', approval))
    return store
  }
  const names = (items: readonly { id: string }[]) => items.map(({ id }) => id)

  const lists: {
    name: string
    query: Partial<Parameters<import('../../src/store/store.ts').Store['approvals']>[0]>
    ids: string[]
    total?: number
  }[] = [
    { name: 'pending, oldest deadline first', query: {}, ids: ['apr_2', 'apr_1'] },
    {
      name: 'several statuses',
      query: { statuses: ['pending', 'approved', 'rejected'] },
      ids: ['apr_2', 'apr_3', 'apr_4', 'apr_1'],
    },
    { name: 'no status', query: { statuses: [] }, ids: [] },
    { name: 'of one requester', query: { requestedBy: 'key_other' }, ids: ['apr_2'] },
    { name: 'another chain', query: { chain: 'other/live', statuses: ['approved'] }, ids: ['apr_6'] },
    { name: 'one a page', query: { limit: 1 }, ids: ['apr_2'], total: 2 },
    { name: 'the page after', query: { limit: 1, offset: 1 }, ids: ['apr_1'], total: 2 },
    { name: 'no more than the bytes', query: { maxBytes: 1 }, ids: ['apr_2'], total: 2 },
    { name: 'none that is expired by now', query: { actual: { expired: ['apr_2'], cancelled: [] } }, ids: ['apr_1'] },
    {
      name: 'what is expired or cancelled by now',
      query: { statuses: ['expired', 'cancelled'], actual: { expired: ['apr_1'], cancelled: ['apr_3'] } },
      ids: ['apr_3', 'apr_1'],
    },
  ]
  for (const { name, query, ids, total } of lists) {
    test(`approvals: ${name}`, async (t) => {
      const store = await withApprovals(t)
      const found = await store.approvals({ chain: LIVE, statuses: ['pending'], limit: 10, offset: 0, ...query })
      assert.deepEqual({ ids: names(found.items), total: found.total }, { ids, total: total ?? ids.length })
    })
  }

  test('approvals by digest: pending, approved or rejected of the chain, newest first', async (t) => {
    const store = await withApprovals(t)
    assert.deepEqual(names(await store.approvalsFor(LIVE, digest('1'))), ['apr_4', 'apr_3', 'apr_1'])
    assert.deepEqual(await store.approvalsFor(LIVE, digest('9')), [])
  })

  const openLists: { name: string; query: Partial<OpenQuery>; ids: string[] }[] = [
    { name: 'of every chain', query: {}, ids: ['apr_2', 'apr_3', 'apr_1', 'apr_6'] },
    { name: 'the first of them', query: { limit: 2 }, ids: ['apr_2', 'apr_3'] },
    { name: 'those after one', query: { after: approvals.approved }, ids: ['apr_1', 'apr_6'] },
    {
      name: 'after one with the same deadline',
      query: { after: { expiresAt: hour(2), id: 'apr_2' } },
      ids: ['apr_3', 'apr_1', 'apr_6'],
    },
    { name: 'of one chain', query: { chain: LIVE }, ids: ['apr_2', 'apr_3', 'apr_1'] },
    { name: 'of one status', query: { statuses: ['approved'] }, ids: ['apr_3', 'apr_6'] },
    { name: 'due, to the millisecond', query: { dueAt: hour(3) }, ids: ['apr_2', 'apr_3', 'apr_1'] },
    { name: 'none due yet', query: { dueAt: '2026-01-01T00:59:59.999Z' }, ids: [] },
    { name: 'one at least, however few bytes', query: { maxBytes: 1 }, ids: ['apr_2'] },
  ]
  for (const { name, query, ids } of openLists) {
    test(`open approvals: ${name}`, async (t) => {
      const store = await withApprovals(t)
      const found = await store.openApprovals({ statuses: ['pending', 'approved'], limit: 10, ...query })
      assert.deepEqual(names(found), ids)
    })
  }

  for (const { name, query, ids } of openLists.filter(({ query }) => query.maxBytes === undefined)) {
    test(`how open approvals of one chain stand: ${name}`, async (t) => {
      const store = await withApprovals(t)
      const found = await store.openStandings({ statuses: ['pending', 'approved'], limit: 10, ...query, chain: LIVE })
      const expected = (
        await store.openApprovals({ statuses: ['pending', 'approved'], limit: 10, ...query, chain: LIVE })
      ).map(({ id, chain, action, domain, status, createdAt, requestedEnd, decidedEnd, expiresAt }) => {
        return { id, chain, action, domain, status, createdAt, requestedEnd, decidedEnd, expiresAt }
      })
      assert.deepEqual(found, expected)
      assert.equal(found.length > 0, ids.length > 0)
    })
  }

  test('how open approvals stand is read without what was asked for, however large that is', async (t) => {
    const store = await stores(t)(clock)
    const context = { text: 'x'.repeat(200_000) }
    for (let n = 0; n < 50; n += 1)
      await commit(store, creating('approval', anApproval({ digest: `sha256:${n}`, context })))
    const timed = async (read: () => Promise<unknown[]>): Promise<number> => {
      const start = performance.now()
      assert.equal((await read()).length, 50)
      return performance.now() - start
    }
    const query = { chain: LIVE, statuses: ['pending' as const], limit: 50 }
    const timesMs: number[] = []
    // The shortest of some: another program may take the processor for a moment.
    for (let n = 0; n < 5; n += 1) timesMs.push(await timed(() => store.openStandings(query)))
    const standingsMs = Math.min(...timesMs)
    const wholeMs = await timed(() => store.openApprovals(query))
    assert.ok(standingsMs < wholeMs / 8, `${standingsMs} ms of ${wholeMs} ms`)
  })

  test('lengths of chains, and where entries of some types stand in a part of one', async (t) => {
    const store = await stores(t)(clock)
    const types = ['custom.a', 'custom.b', 'custom.c', 'custom.a']
    for (const type of types) await commit(store, only(note({}, { type })))
    await commit(store, { guards: [], writes: [], entries: [aDecision('allow')] })
    await commit(store, only(note({}, { chain: 'other/live', type: 'custom.a' })))
    const lengths = await store.lengths([LIVE, 'other/live', 'none/live'])
    assert.deepEqual(
      [...lengths],
      [
        [LIVE, 6],
        ['other/live', 2],
        ['none/live', 0],
      ],
    )
    const seqs = (wanted: string[], first: number, end: number) => store.seqsOfTypes(LIVE, wanted, { first, end })
    assert.deepEqual(await seqs(['custom.a', 'custom.c'], 0, 6), [1, 3, 4])
    assert.deepEqual(await seqs(['custom.a', 'custom.c'], 2, 4), [3])
    assert.deepEqual(await seqs(['gate.decision'], 0, 6), [])
    assert.deepEqual(await seqs([], 0, 6), [])
  })

  test('an approval is found pending without being read', async (t) => {
    const store = await withApprovals(t)
    assert.equal(await store.isPending(approvals.late), true)
    assert.equal(await store.isPending(approvals.approved), false)
    assert.equal(await store.isPending({ ...approvals.late, id: 'apr_0' }), false)
  })

  test('approved and unused approvals of every chain', async (t) => {
    const store = await withApprovals(t)
    assert.deepEqual(names(await store.openApprovals({ statuses: ['approved'], limit: 10 })).sort(), ['apr_3', 'apr_6'])
  })

  test('an approval is read as it was written', async (t) => {
    const store = await withApprovals(t)
    assert.deepEqual(await store.approval('apr_1'), approvals.late)
    assert.equal(await store.approval('apr_0'), undefined)
  })

  test('recent actions are those of the newest decisions, each once', async (t) => {
    const store = await stores(t)(clock)
    for (const action of ['old.one', 'a.b', 'c.d', 'a.b']) {
      await commit(store, { guards: [], writes: [], entries: [aDecision('deny', { action })] })
      await commit(store, only(note()))
    }
    assert.deepEqual((await store.recentActions(LIVE, 3)).sort(), ['a.b', 'c.d'])
    assert.deepEqual(await store.recentActions('acme/test', 3), [])
  })

  test('chains are those with entries', async (t) => {
    const store = await stores(t)(clock)
    assert.deepEqual(await store.chains(), [])
    await commit(store, only(note(), note({}, { chain: '_system' }), note(), note({}, { chain: 'acme/test' })))
    assert.deepEqual(await store.chains(), ['_system', LIVE, 'acme/test'])
  })
}
