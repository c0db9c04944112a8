import assert from 'node:assert/strict'
import { test } from 'node:test'
import { change, creation, type RecordKind, type Records, type RecordWrite } from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'
import type { Stores } from './contract.ts'
import {
  aKey,
  anApproval,
  aSigningKey,
  aStop,
  aTenant,
  changing,
  commit,
  creating,
  LIVE,
  note,
  only,
  START_MS,
} from './drafts.ts'

const clock = () => START_MS
const signingKey = aSigningKey()
const policy = { id: 'acme', revision: 1, digest: 'sha256:', loadedAt: '' }
/** One record of each kind. */
const records: { [K in RecordKind]: Records[K] } = {
  tenant: aTenant(),
  key: aKey(),
  signingKey,
  policy,
  switch: aStop(),
  approval: anApproval(),
}

const revisions: { name: string; stored: number; written: number; refused: boolean }[] = [
  { name: 'the first over nothing', stored: 0, written: 1, refused: false },
  { name: 'the next over the one that was read', stored: 1, written: 2, refused: false },
  { name: 'the first over one that exists', stored: 1, written: 1, refused: true },
  { name: 'a change of what is not there', stored: 0, written: 2, refused: true },
  { name: 'a change that somebody else made first', stored: 2, written: 2, refused: true },
  { name: 'a revision left out', stored: 1, written: 3, refused: true },
]

/** Writes and entries of one submission. */
export function commitContract(stores: Stores): void {
  for (const kind of Object.keys(records) as RecordKind[]) {
    for (const { name, stored, written, refused } of revisions) {
      test(`revision of ${kind}: ${name}`, async (t) => {
        const open = stores(t)
        const [here, elsewhere] = [await open(clock), await open(clock)]
        for (let revision = 1; revision <= stored; revision += 1) await commit(elsewhere, at(kind, revision))
        const submission = at(kind, written)
        assert.equal((await here.commit(submission)).conflict, refused ? 'revision' : null)
        assert.equal(
          (await entriesOf(here, submission.entries[0]?.chain)).length,
          refused && stored === 0 ? 0 : stored + (refused ? 1 : 2),
        )
      })
    }
  }

  test('a conflict leaves nothing of the writes before it', async (t) => {
    const open = stores(t)
    const store = await open(clock)
    await commit(store, creating('tenant', aTenant()))
    const key = aKey()
    const result = await store.commit({
      guards: [],
      writes: [
        creation('key', key).write,
        { kind: 'policySource', stored: { tenantId: 'acme', digest: 'd', source: 'text' } },
        creation('tenant', aTenant()).write,
      ],
      entries: [note()],
    })
    assert.equal(result.conflict, 'revision')
    assert.equal(store.state().keys.has(key.id), false)
    assert.equal((await open(clock)).state().keys.has(key.id), false)
    assert.equal(await store.policySource('acme', 'd'), undefined)
  })

  test('two equal requests make one pending approval', async (t) => {
    const open = stores(t)
    const [here, elsewhere] = [await open(clock), await open(clock)]
    const [first, second] = [anApproval(), anApproval()]
    const results = await Promise.all([first, second].map((item) => here.commit(creating('approval', item))))
    assert.deepEqual(
      results.map(({ conflict }) => conflict),
      [null, 'pending'],
    )
    assert.equal((await elsewhere.commit(creating('approval', anApproval()))).conflict, 'pending')
    assert.equal(await here.approval(second.id), undefined)
    assert.deepEqual(await here.approvalsFor(LIVE, first.digest), [first])
  })

  test('an equal request may ask again once the first is decided, and in another chain at once', async (t) => {
    const store = await stores(t)(clock)
    const first = anApproval()
    await commit(store, creating('approval', first))
    await commit(store, creating('approval', anApproval({ chain: 'acme/test' })))
    await commit(store, changing(change('approval', first, { status: 'rejected' })))
    await commit(store, creating('approval', anApproval()))
    assert.equal((await store.approvalsFor(LIVE, first.digest)).length, 2)
  })

  test('the appended entries come back in the order of the drafts, each after the one before', async (t) => {
    const store = await stores(t)(clock)
    const drafts = [note({ n: 1 }), note({ n: 2 }), note({ n: 3 }, { chain: 'acme/test' })]
    const result = await store.commit(only(...drafts))
    assert.ok(result.conflict === null)
    assert.deepEqual(
      result.entries.map(({ id, chain, seq }) => [id, chain, seq]),
      [
        [drafts[0]?.id, LIVE, 1],
        [drafts[1]?.id, LIVE, 2],
        [drafts[2]?.id, 'acme/test', 1],
      ],
    )
    const stored = await store.entriesFrom(LIVE, 1, 2)
    assert.deepEqual(
      stored.map(({ header, hash }) => ({ id: header.id, chain: LIVE, seq: header.seq, ts: header.ts, hash })),
      result.entries.slice(0, 2),
    )
  })

  test('what was written is what every process reads, whatever its letters', async (t) => {
    const open = stores(t)
    const data = {
      euro: '€',
      name: 'Zoë\u0301 李',
      smile: '😀',
      line: '\u2028',
      nul: '\u0000',
      'ключ "1"': [-0, 1e21, null],
    }
    const draft = note(data)
    const name = 'Buchhaltung – 経理 🧾'
    await commit(await open(clock), only(draft))
    await commit(await open(clock), creating('key', aKey({ id: 'key_n', name })))
    const elsewhere = await open(clock)
    const entry = await elsewhere.entry(draft.id)
    const section = entry?.sections.find((item) => item.name === 'data')
    // JSON has one zero (RFC 8785 3.2.2.3).
    assert.deepEqual(JSON.parse(section?.json ?? ''), { ...data, 'ключ "1"': [0, 1e21, null] })
    assert.equal(elsewhere.state().keys.get('key_n')?.name, name)
  })
}

function at<K extends RecordKind>(kind: K, revision: number) {
  const record = { ...records[kind], revision }
  return changing({ ...creation(kind, record), write: { kind, record } as RecordWrite })
}

function entriesOf(store: Store, chain = LIVE) {
  return store.entriesFrom(chain, 0, 100)
}
