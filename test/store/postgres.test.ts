import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../src/base/time.ts'
import { openServerStore } from '../../src/store/postgres/store.ts'
import { postgresDatabase } from '../postgres.ts'
import { storeContract } from './contract.ts'
import { aStop, commit, creating, note, START_MS } from './drafts.ts'

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
