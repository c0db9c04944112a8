import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../src/base/time.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import { postgresDatabase } from '../postgres.ts'
import { storeContract } from './contract.ts'
import { aStop, commit, creating, note, only, START_MS } from './drafts.ts'

const opened = (url: string, clock: Clock) => openServerStore({ address: { url }, clock })

storeContract(postgresDatabase, opened)

test('a chain that is new to everybody is decided by the records as they are: a stop covers it at once', async (t) => {
  const url = await postgresDatabase(t)
  const [here, elsewhere] = [await opened(url, () => START_MS), await opened(url, () => START_MS)]
  t.after(() => Promise.all([here.close(), elsewhere.close()]))
  await commit(elsewhere, creating('switch', aStop({ level: 'L4', target: 'global', scope: 'global' })))
  const subject = { chain: 'new/live', action: 'email.send', domain: undefined }
  const entry = note({}, { chain: 'new/live' })
  const { conflict } = await here.commit({ guards: [{ kind: 'notStopped', subject }], writes: [], entries: [entry] })
  assert.equal(conflict, 'notStopped')
})

test('a write that the server cannot take is refused, and not left out', async (t) => {
  const store = await opened(await postgresDatabase(t), () => START_MS)
  t.after(() => store.close())
  const stored = { tenantId: 'acme', digest: 'sha256:0', source: 'a\0b' }
  const submission = { guards: [], writes: [{ kind: 'policySource' as const, stored }], entries: [note()] }
  await assert.rejects(store.commit(submission), /cannot be written/)
  assert.deepEqual(await store.chains(), [])
})

test('chains that two make at once, each in another order, are made once and fail nobody', async (t) => {
  const url = await postgresDatabase(t)
  const [here, elsewhere] = [await opened(url, () => START_MS), await opened(url, () => START_MS)]
  t.after(() => Promise.all([here.close(), elsewhere.close()]))
  for (let round = 0; round < 10; round += 1) {
    const chains = Array.from({ length: 40 }, (_, i) => `t${round}x${i}/live`)
    const writing = [
      ...chains.map((chain) => here.commit(only(note({}, { chain })))),
      ...chains.toReversed().map((chain) => elsewhere.commit(only(note({}, { chain })))),
    ]
    for (const { conflict } of await Promise.all(writing)) assert.equal(conflict, null)
  }
})

test('staleness counts from the first refresh: a slow start is not refused, and silence after it is', async (t) => {
  const address = { url: await postgresDatabase(t) }
  const store = await openServerStore({ address, clock: () => START_MS, maxStalenessMs: 20 })
  t.after(() => store.close())
  await sleep(50)
  assert.equal((await store.commit(only(note()))).conflict, null)
  await store.refresh()
  await sleep(50)
  await assert.rejects(store.commit(only(note())), /cannot be reached/)
})
