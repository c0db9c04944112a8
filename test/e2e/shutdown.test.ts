import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openFile, startGate, temporaryFolder } from '../helpers.ts'

test('a stop that could not be written is tried once more when the service ends', async (t) => {
  const gate = await startGate(t, { dir: temporaryFolder() })
  const key = await gate.key()
  const file = join(gate.dir, 'data/gate-sidecar.db')
  // Away for a moment: nothing can be committed, and the file is the same one afterwards.
  renameSync(file, `${file}.away`)
  const body = { tenantId: 'acme', level: 'L3', reason: 'odd', triggeredBy: 'ann' }
  assert.equal((await gate.call(key, 'POST', '/killswitch/trigger', body)).body.data.persisted, false)
  renameSync(`${file}.away`, file)
  await gate.server.close()
  const store = openFile(join(gate.dir, 'data'))
  t.after(() => store.close())
  assert.equal(store.state().switches.length, 1)
})
