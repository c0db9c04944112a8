import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { genesisHead } from '../../src/audit/chain.ts'
import { entryFault, headOf } from '../../src/audit/verify.ts'
import { change } from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'
import type { Submission } from '../../src/store/submission.ts'
import { runs } from '../tier.ts'
import type { Stores } from './contract.ts'
import { aKey, aStop, aTenant, changing, commit, creating, LIVE, note, only, START_MS } from './drafts.ts'

const clock = () => START_MS
const unknownKey = { kind: 'keyActive', keyId: 'key_unknown' } as const

/** Submissions that arrive together. */
export function groupContract(stores: Stores): void {
  test('a conflict refuses only its own submission', async (t) => {
    const open = stores(t)
    const store = await open(clock)
    const drafts = [note({ n: 0 }), note({ n: 1 }), note({ n: 2 })]
    const results = await Promise.all(
      drafts.map((draft, i) => store.commit({ ...only(draft), guards: i === 1 ? [unknownKey] : [] })),
    )
    assert.deepEqual(
      results.map(({ conflict }) => conflict),
      [null, 'keyActive', null],
    )
    assert.deepEqual(await ids(await open(clock)), [drafts[0]?.id, drafts[2]?.id])
    await assertChained(store)
  })

  test('what counts on nothing more being allowed is written before others that wait, in its order, and after those under way', async (t) => {
    const store = await stores(t)(clock)
    const named = (n: string) => only(note({ n }))
    const counting = (n: string) => ({
      ...named(n),
      guards: [{ kind: 'noNewAllows' as const, chain: LIVE, since: 0, of: [] }],
    })
    const begun = [store.commit(named('under way'))]
    await turn()
    begun.push(store.commit(named('waits')), store.commit(counting('counts')))
    begun.push(store.commit(named('waits too')), store.commit(counting('counts too')))
    await Promise.all(begun)
    const entries = await store.entriesFrom(LIVE, 1, 10)
    const written = entries.map(({ sections }) => sections.find(({ name }) => name === 'data')?.json)
    const order = ['under way', 'counts', 'counts too', 'waits', 'waits too']
    assert.deepEqual(
      written,
      order.map((n) => JSON.stringify({ n })),
    )
    await assertChained(store)
  })

  test('what is large is written alone, and in turns with small ones that come again and again', async (t) => {
    const store = await stores(t)(clock)
    // No group ends early, however busy the machine is.
    t.mock.method(performance, 'now', () => 0)
    const large = (n: string) => store.commit(only(note({ n, text: 'x'.repeat(100_000) })))
    const small = (n: string) => store.commit(only(note({ n })))
    const again = async (): Promise<void> => {
      for (const n of ['small 2', 'small 3', 'small 4']) await small(n)
    }
    await Promise.all([large('large 1'), large('large 2'), small('small 1'), large('large 3'), again()])
    const entries = await store.entriesFrom(LIVE, 1, 10)
    const written = entries.map(({ sections }) => /"n":"(.+?)"/.exec(sections.map(({ json }) => json).join())?.[1])
    const order = ['small 1', 'small 2', 'large 1', 'small 3', 'large 2', 'small 4', 'large 3']
    assert.deepEqual(written, order)
    await assertChained(store)
  })

  for (const [name, data] of [
    ['a lone surrogate', '\ud800'],
    ['no number', Number.NaN],
  ] as const) {
    test(`an entry that has no canonical form refuses only its own submission: ${name}`, async (t) => {
      const store = await stores(t)(clock)
      const bad = only(note(), note(data))
      const drafts = [note(), note()]
      const together = [bad, only(...drafts.slice(0, 1)), bad, only(...drafts.slice(1))]
      const results = await Promise.allSettled(together.map((submission) => store.commit(submission)))
      assert.deepEqual(
        results.map(({ status }) => status),
        ['rejected', 'fulfilled', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(
        await ids(store),
        drafts.map(({ id }) => id),
      )
      await assertChained(store)
    })
  }

  test('a record that has no canonical form refuses only its own submission, with what was written before it', async (t) => {
    const store = await stores(t)(clock)
    const good = creating('tenant', aTenant())
    const bad = creating('key', aKey())
    const broken = { kind: 'key', record: aKey({ name: '\ud800' }) } as const
    const drafts = [note(), note()]
    const results = await Promise.allSettled([
      commit(store, only(...drafts.slice(0, 1))),
      store.commit({ ...good, writes: [...good.writes, broken], entries: [...good.entries, ...bad.entries] }),
      commit(store, only(...drafts.slice(1))),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.ok(results[1]?.status === 'rejected' && results[1].reason instanceof TypeError)
    assert.equal(store.state().tenants.size, 0)
    assert.deepEqual(
      await ids(store),
      drafts.map(({ id }) => id),
    )
    await assertChained(store)
  })

  test('what one submission writes, the guards of the next ones see', async (t) => {
    const store = await stores(t)(clock)
    const key = aKey()
    const stop = aStop()
    await commit(store, creating('key', key))
    const keyActive = { ...only(note()), guards: [{ kind: 'keyActive', keyId: key.id } as const] }
    const subject = { chain: LIVE, action: 'payment.transfer', domain: undefined }
    const notStopped = { ...only(note()), guards: [{ kind: 'notStopped', subject } as const] }
    const together: Submission[] = [
      notStopped,
      keyActive,
      creating('switch', stop),
      changing(change('key', key, { revokedAt: '2026-01-01T00:00:00.000Z' })),
      { ...notStopped, entries: [note()] },
      { ...keyActive, entries: [note()] },
    ]
    const results = await Promise.all(together.map((submission) => store.commit(submission)))
    // A stop goes before all that wait.
    assert.deepEqual(
      results.map(({ conflict }) => conflict),
      ['notStopped', null, null, null, 'notStopped', 'keyActive'],
    )
  })

  test('what a refused submission wrote, the guards of the next ones do not see', async (t) => {
    const store = await stores(t)(clock)
    const key = aKey()
    const refused = creating('key', key)
    const results = await Promise.all([
      store.commit({ ...refused, writes: [...refused.writes, ...refused.writes] }),
      store.commit({ ...only(note()), guards: [{ kind: 'keyActive', keyId: key.id }] }),
    ])
    assert.deepEqual(
      results.map(({ conflict }) => conflict),
      ['revision', 'keyActive'],
    )
  })

  test('what is more than a group is committed after it, and others have their turn between', async (t) => {
    const store = await stores(t)(clock)
    const answered: number[] = []
    const submitted = Array.from({ length: 501 }, async (_, n) => {
      await commit(store, only(note({ n })))
      answered.push(n)
    })
    let seen = 0
    let largest = 0
    const look = (): void => {
      largest = Math.max(largest, answered.length - seen)
      seen = answered.length
      if (seen < submitted.length) setImmediate(look)
    }
    setImmediate(look)
    await Promise.all(submitted)
    look()
    assert.deepEqual(answered, [...answered.keys()])
    assert.ok(largest < submitted.length, `${largest} at once`)
    await assertChained(store)
  })

  test('a group of slow submissions ends early', async (t) => {
    const store = await stores(t)(clock)
    const text = 'x'.repeat(1_000_000)
    let answered = 0
    const submitted = Array.from({ length: 30 }, async () => {
      await commit(store, only(note(text)))
      answered += 1
    })
    await Promise.race(submitted)
    assert.ok(answered < submitted.length, 'thirty megabytes in one group')
    await Promise.all(submitted)
    await assertChained(store)
  })

  test('close waits for what was submitted', async (t) => {
    const open = stores(t)
    const store = await open(clock)
    const draft = note()
    const submitted = store.commit(only(draft))
    await store.close()
    assert.equal((await submitted).conflict, null)
    assert.deepEqual(await ids(await open(clock)), [draft.id])
  })

  test('a closed store neither reads nor writes', async (t) => {
    const open = stores(t)
    const store = await open(clock)
    await store.close()
    await assert.rejects(store.commit(only(note())), { code: 'audit_unavailable' })
    await assert.rejects(store.chains(), { code: 'audit_unavailable' })
    assert.deepEqual(await ids(await open(clock)), [])
  })

  test('whatever arrives together at two stores of one file, each chain has one line', async (t) => {
    const open = stores(t)
    const pair = [await open(clock), await open(clock)] as const
    const one = fc.record({
      at: fc.constantFrom(0, 1),
      chain: fc.constantFrom(LIVE, 'acme/test', 'other/live'),
      refused: fc.boolean(),
      entries: fc.integer({ min: 1, max: 3 }),
    })
    let expected = 0
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 12 }), async (submissions) => {
        const results = await Promise.all(
          submissions.map(({ at, chain, refused, entries }) =>
            (at === 0 ? pair[0] : pair[1]).commit({
              guards: refused ? [unknownKey] : [],
              writes: [],
              entries: Array.from({ length: entries }, () => note({}, { chain })),
            }),
          ),
        )
        expected += submissions.reduce((sum, { refused, entries }) => sum + (refused ? 0 : entries), 0)
        assert.deepEqual(
          results.map(({ conflict }) => conflict),
          submissions.map(({ refused }) => (refused ? 'keyActive' : null)),
        )
      }),
      { numRuns: runs(40) },
    )
    const counts = await Promise.all((await pair[0].chains()).map((chain) => assertChained(pair[0], chain)))
    assert.equal(
      counts.reduce((sum, count) => sum + count - 1, 0),
      expected,
    )
  })
}

async function ids(store: Store): Promise<string[]> {
  return (await store.entriesFrom(LIVE, 1, 100)).map(({ header }) => header.id)
}

/** Every entry follows from the one before. Returns how many there are. */
async function assertChained(store: Store, chain = LIVE): Promise<number> {
  let head = genesisHead(store.origin, chain)
  for (const entry of await store.entriesFrom(chain, 0, 10_000)) {
    assert.equal(entryFault(chain, head, entry), undefined)
    head = headOf(entry)
  }
  return head.seq + 1
}
