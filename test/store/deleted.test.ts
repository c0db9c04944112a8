import assert from 'node:assert/strict'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DATA_FILE } from '../../src/store/sqlite/open.ts'
import { openStore } from '../../src/store/sqlite/store.ts'
import { startGate, temporaryFolder } from '../helpers.ts'
import { aTenant, creating, note, only } from './drafts.ts'

const UNAVAILABLE = { code: 'audit_unavailable' }

/** Each leaves something else, or nothing, where the open file was. */
const losses: { name: string; lose: (dir: string) => void }[] = [
  { name: 'the data file deleted', lose: (dir) => rmSync(join(dir, DATA_FILE)) },
  { name: 'its log deleted', lose: (dir) => rmSync(join(dir, `${DATA_FILE}-wal`)) },
  {
    name: 'all files deleted',
    lose: (dir) => {
      for (const end of ['', '-wal', '-shm']) rmSync(join(dir, DATA_FILE + end))
    },
  },
  {
    name: 'a copy in its place',
    lose: (dir) => {
      copyFileSync(join(dir, DATA_FILE), join(dir, 'copy'))
      renameSync(join(dir, 'copy'), join(dir, DATA_FILE))
    },
  },
]

for (const { name, lose } of losses) {
  test(`a running store fails closed: ${name}`, async (t) => {
    const dir = temporaryFolder()
    const store = openStore({ dir, create: true, clock: Date.now })
    t.after(() => store.close())
    await store.commit(creating('tenant', aTenant()))
    lose(dir)
    await assert.rejects(store.commit(only(note())), UNAVAILABLE)
    await assert.rejects(store.chains(), UNAVAILABLE)
    assert.throws(() => store.refresh())
    await assert.rejects(store.commit(only(note())), UNAVAILABLE, 'and stays so')
  })
}

test('a file that is put back is used again', async (t) => {
  const dir = temporaryFolder()
  const store = openStore({ dir, create: true, clock: Date.now })
  t.after(() => store.close())
  await store.commit(only(note()))
  renameSync(join(dir, DATA_FILE), join(dir, 'aside'))
  await assert.rejects(store.commit(only(note())), UNAVAILABLE)
  renameSync(join(dir, 'aside'), join(dir, DATA_FILE))
  assert.equal((await store.commit(only(note()))).conflict, null)
})

test('a server whose data file was deleted decides nothing and is not ready', async (t) => {
  const gate = await startGate(t)
  const key = await gate.key()
  const check = () => gate.call(key, 'POST', '/gate/check', { tenantId: 'acme', action: 'email.send' })
  assert.equal((await check()).body.data.decision, 'allow')
  for (const end of ['', '-wal', '-shm']) rmSync(join(gate.dir, 'data', DATA_FILE + end))
  assert.deepEqual([(await check()).status, (await check()).body.error], [503, 'audit_unavailable'])
  assert.equal((await gate.call(key, 'GET', '/readyz')).status, 503)
})
