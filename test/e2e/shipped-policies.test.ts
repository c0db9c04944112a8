import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readPolicyFolders } from '../../src/files/read-folders.ts'
import { assertTestsPass } from '../authoring/test-files.ts'

const folders = readPolicyFolders(fileURLToPath(new URL('../../policies/', import.meta.url)))

test('two policy sets are shipped as examples, and four for recorded agents', () => {
  const shipped = ['acme', 'agentdojo', 'agentdyn', 'demo', 'injecagent', 'tau-bench']
  assert.deepEqual(folders.map(({ tenant }) => tenant).sort(), shipped)
})

for (const { tenant, source } of folders) {
  test(`the policies of ${tenant}: no fault, all tests pass, and every rule decides one of their cases`, async () => {
    assert.ok('files' in source)
    const { set, decided } = await assertTestsPass(source)
    assert.ok(set.rules.length > 5)
    assert.deepEqual(
      set.rules.map(({ id }) => id).filter((id) => !decided.has(id)),
      [],
    )
  })
}
