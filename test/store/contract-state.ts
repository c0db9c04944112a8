import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sectionValue } from '../../src/audit/entry.ts'
import { change, creation } from '../../src/store/records.ts'
import type { KeyUse, StoredPolicies, Submission } from '../../src/store/submission.ts'
import type { Stores } from './contract.ts'
import { aKey, aSigningKey, aStop, aTenant, changing, commit, creating, LIVE, note, only, START_MS } from './drafts.ts'

const clock = () => START_MS
const signingKey = aSigningKey()
const policy = { id: 'acme', revision: 1, digest: 'sha256:', loadedAt: '' }

const keeping = (stored: StoredPolicies): Submission => ({
  guards: [],
  writes: [{ kind: 'policySource', stored }],
  entries: [note()],
})

/** Tests the state that a store keeps in memory. */
export function stateContract(stores: Stores): void {
  test('a commit of this process is in the state at once, one of another after refresh', async (t) => {
    const open = stores(t)
    const [here, elsewhere] = [await open(clock), await open(clock)]
    const [tenant, key, stop] = [aTenant(), aKey(), aStop()]
    const all = [
      creating('tenant', tenant),
      creating('key', key),
      creating('signingKey', signingKey),
      creating('policy', policy),
      creating('switch', stop),
    ]
    for (const submission of all) await commit(here, submission)
    const expected = {
      tenants: new Map([['acme', tenant]]),
      keys: new Map([[key.id, key]]),
      keysByHash: new Map([[key.hash, key]]),
      signingKeys: new Map([[signingKey.id, signingKey]]),
      policies: new Map([['acme', policy]]),
      // Three other entries, and the genesis.
      switches: [{ ...stop, lengths: { [LIVE]: 3 } }],
    }
    assert.deepEqual(shown(here.state()), expected)
    assert.equal(elsewhere.state().keys.size, 0)
    await elsewhere.refresh()
    assert.deepEqual(shown(elsewhere.state()), expected)
    assert.deepEqual(shown((await open(clock)).state()), expected)
  })

  test('a change on `_system` records where it stands among the entries of each other chain', async (t) => {
    const open = stores(t)
    const [here, elsewhere] = [await open(clock), await open(clock)]
    await commit(here, { guards: [], writes: [], entries: [note(), note()] })
    const everywhere = aStop({ level: 'L4', target: 'global', scope: 'global' })
    // Another process's entries count too, and so do those of the same commit that come before.
    await commit(elsewhere, { guards: [], writes: [], entries: [note()] })
    const stopped = creating('switch', everywhere)
    await commit(here, { ...stopped, entries: [note(), ...stopped.entries, note()] })
    const entry = await here.entryAt('_system', 1)
    assert.equal(entry?.header.type, 'killswitch.triggered')
    const { lengths } = (entry && sectionValue(entry, 'data')) ?? {}
    // Genesis, and four notes.
    assert.deepEqual(lengths, { [LIVE]: 5 })
  })

  test('refresh takes in changes, and not only what is new', async (t) => {
    const open = stores(t)
    const [here, elsewhere] = [await open(clock), await open(clock)]
    const key = aKey()
    await commit(here, creating('key', key))
    await elsewhere.refresh()
    await commit(here, changing(change('key', key, { revokedAt: '2026-01-01T00:00:00.000Z' })))
    await elsewhere.refresh()
    assert.equal(elsewhere.state().keys.get(key.id)?.revokedAt, '2026-01-01T00:00:00.000Z')
    assert.equal(elsewhere.state().keysByHash.get(key.hash)?.revision, 2)
  })

  test('a state that was taken stays as it was', async (t) => {
    const store = await stores(t)(clock)
    const before = store.state()
    await commit(store, creating('key', aKey()))
    assert.equal(before.keys.size, 0)
  })

  test('an imposed stop is in force before it is on disk, here alone', async (t) => {
    const open = stores(t)
    const [here, elsewhere] = [await open(clock), await open(clock)]
    const stop = aStop()
    here.impose(stop)
    assert.deepEqual(here.state().switches, [stop])
    assert.deepEqual(here.imposed(), [stop])
    await elsewhere.refresh()
    assert.deepEqual(elsewhere.state().switches, [])
  })

  test('an imposed stop leaves the overlay with its commit, and is listed once', async (t) => {
    const store = await stores(t)(clock)
    const [stop, other] = [aStop(), aStop({ level: 'L1' })]
    store.impose(stop)
    store.impose(other)
    await commit(store, only(note()))
    assert.equal(store.imposed().length, 2)
    await commit(store, creating('switch', stop))
    assert.deepEqual(store.imposed(), [other])
    assert.deepEqual(store.state().switches, [{ ...stop, lengths: { [LIVE]: 2 } }, other])
  })

  test('an imposed stop stays in force when its commit is refused', async (t) => {
    const store = await stores(t)(clock)
    const stop = aStop()
    store.impose(stop)
    const refused = { ...creating('switch', stop), guards: [{ kind: 'keyActive', keyId: 'key_x' } as const] }
    assert.equal((await store.commit(refused)).conflict, 'keyActive')
    const subject = { chain: LIVE, action: 'a.b', domain: undefined }
    assert.deepEqual(store.imposed(), [stop])
    assert.equal(
      (await store.commit({ ...only(note()), guards: [{ kind: 'notStopped', subject }] })).conflict,
      'notStopped',
    )
  })

  test('the instance keeps its name, for every process', async (t) => {
    const open = stores(t)
    const first = await open(clock)
    await commit(first, only(note()))
    assert.match(first.origin, /^[\x20-\x7e]+$/)
    assert.equal((await open(clock)).origin, first.origin)
    assert.notEqual((await stores(t)(clock)).origin, first.origin)
  })

  test('policy sources are kept by tenant and digest', async (t) => {
    const open = stores(t)
    const store = await open(clock)
    for (const [tenantId, digest, source] of [
      ['acme', 'one', 'old'],
      ['other', 'one', 'theirs'],
      ['acme', 'two', 'new'],
    ] as const)
      await commit(store, keeping({ tenantId, digest, source }))
    const read = async (tenantId: string, digest: string) => (await open(clock)).policySource(tenantId, digest)
    assert.deepEqual(
      await Promise.all([read('acme', 'one'), read('acme', 'two'), read('other', 'one'), read('other', 'two')]),
      ['old', 'new', 'theirs', undefined],
    )
  })

  test('the newest policy sources of a tenant are kept, those that came again too', async (t) => {
    const store = await stores(t)(clock)
    await commit(store, keeping({ tenantId: 'other', digest: 'd0', source: 'theirs' }))
    for (let i = 0; i < 102; i += 1) {
      await commit(store, keeping({ tenantId: 'acme', digest: `d${i}`, source: 'text' }))
      if (i === 50) await commit(store, keeping({ tenantId: 'acme', digest: 'd0', source: 'text again' }))
    }
    const read = (digest: string) => store.policySource('acme', digest)
    assert.deepEqual(await Promise.all(['d0', 'd1', 'd2', 'd3', 'd101'].map(read)), [
      'text again',
      undefined,
      undefined,
      'text',
      'text',
    ])
    assert.equal(await store.policySource('other', 'd0'), 'theirs')
  })

  test('policy sources of a tenant are kept up to 64 MiB', async (t) => {
    const store = await stores(t)(clock)
    const MIB = 1024 * 1024
    // As large as a set may be.
    const source = 'x'.repeat(16 * MIB)
    const sizes = async (): Promise<number[]> => {
      const found: number[] = []
      for (const digest of ['a', 'b', 'c', 'd', 'e'])
        found.push(((await store.policySource('acme', digest))?.length ?? 0) / MIB)
      return found
    }
    for (const digest of ['a', 'b', 'c', 'd']) await commit(store, keeping({ tenantId: 'acme', digest, source }))
    assert.deepEqual(await sizes(), [16, 16, 16, 16, 0])
    await commit(store, keeping({ tenantId: 'acme', digest: 'e', source: 'x' }))
    assert.deepEqual(await sizes(), [0, 16, 16, 16, 1 / MIB])
  })

  test('the use of an idempotency value is read by key, route and value, for ten minutes', async (t) => {
    let nowMs = START_MS
    const store = await stores(t)(() => nowMs)
    const use = { keyId: 'key_a', route: 'check', value: 'v', bodyDigest: 'sha256:d', entryId: 'aud_x', atMs: START_MS }
    await commit(store, { guards: [], writes: [{ kind: 'idempotency', use }], entries: [note()] })
    assert.deepEqual(await store.idempotencyUse('key_a', 'check', 'v'), use)
    assert.equal(await store.idempotencyUse('key_b', 'check', 'v'), undefined)
    assert.equal(await store.idempotencyUse('key_a', 'approve', 'v'), undefined)
    nowMs += 600_001
    assert.equal(await store.idempotencyUse('key_a', 'check', 'v'), undefined)
  })

  test('of the uses of a key the latest stays, whoever writes it and when', async (t) => {
    const open = stores(t)
    const [here, elsewhere] = [await open(clock), await open(clock)]
    const used = (keyId: string, second: number) => ({ keyId, at: `2026-01-01T00:00:0${second}.000Z` })
    const uses = (...noted: KeyUse[]): Submission => ({
      guards: [],
      writes: [{ kind: 'keyUse', uses: noted }],
      entries: [],
    })
    await commit(here, uses(used('key_a', 2), used('key_b', 1)))
    await commit(elsewhere, uses(used('key_a', 1), used('key_b', 3)))
    for (const store of [here, elsewhere, await open(clock)])
      assert.deepEqual(
        await store.keyUses(['key_b', 'key_a', 'key_c']),
        new Map([
          ['key_a', used('key_a', 2).at],
          ['key_b', used('key_b', 3).at],
        ]),
      )
    assert.deepEqual(await here.keyUses(['key_b']), new Map([['key_b', used('key_b', 3).at]]))
    assert.deepEqual(await here.chains(), [], 'it is in no chain')
  })

  test('a record stored twice in one submission counts its revisions', async (t) => {
    const store = await stores(t)(clock)
    const key = aKey()
    const named = change('key', key, { name: 'x' })
    const writes = [creation('key', key).write, named.write]
    await commit(store, { guards: [], writes, entries: [...creating('key', key).entries, ...changing(named).entries] })
    assert.equal(store.state().keys.get(key.id)?.revision, 2)
  })
}

function shown({
  tenants,
  keys,
  keysByHash,
  signingKeys,
  policies,
  switches,
}: ReturnType<import('../../src/store/store.ts').Store['state']>) {
  return { tenants, keys, keysByHash, signingKeys, policies, switches }
}
