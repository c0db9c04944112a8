import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { FULL } from '../tier.ts'
import { BIN, runBuilt } from './program.ts'

/** A policy with a warning or two on each of its lines. */
function folderOf(count: number): string {
  const dir = temporaryFolder()
  const leaves = (i: number) =>
    `{fact: context.amount, operator: greaterThan, value: ${i}}, {fact: context.country, operator: in, value: [DE, FR, IT]}`
  const rule = (_: unknown, i: number) =>
    `  - {id: r${i}, actions: ["a${i}"], effect: deny, reason: R., when: {all: [${leaves(i)}]}}`
  const rules = Array.from({ length: count }, rule).join('\n')
  writeFiles(dir, { 'acme/main.yaml': `apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n${rules}\n` })
  return dir
}

test('validate: thousands of faults in a large file are shown with their lines, in memory for a few', async () => {
  // Lines near the limit of a file's size, or fewer in less memory. With a copy of the lines for each fault, 4,500 ended after 4 GiB.
  const [count, megabytes, warnings] = FULL ? [4500, 512, '500\\d'] : [1500, 128, '3000']
  const policies = folderOf(count)
  const { code, stdout } = await runBuilt(['validate', '--policies', policies], {
    env: { NODE_OPTIONS: `--max-old-space-size=${megabytes}` },
  })
  assert.equal(code, 0)
  assert.match(stdout, /\n 4 \| ….*\{fact: context\.amount, operator: greaterThan, value: 0\}/)
  assert.match(stdout, new RegExp(`1 policy set: 0 errors, ${warnings} warnings\\.\n$`))
})

test('validate: who reads only the beginning of the report gets that, and no stack', () => {
  const command = `"${process.execPath}" "${BIN}" validate --policies "${join(folderOf(500))}" | head -1`
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  assert.match(stdout, /^acme\/main\.yaml:4:\d+ warning GATE2007 /)
  assert.equal(stderr, '')
})

for (const command of ['validate', 'lint']) {
  test(`${command}: a folder that cannot be read is one error, and the others are reported`, async () => {
    const policies = folderOf(1)
    writeFiles(policies, { 'gone/other.yaml': 'apiVersion: gate-sidecar/v1\ntenant: gone\nrulez: []\n' })
    symlinkSync('nowhere', join(policies, 'gone/main.yaml'))
    const { code, stdout, stderr } = await runBuilt([command, '--policies', policies])
    assert.deepEqual([code, stderr], [1, ''])
    assert.match(stdout, /^acme\/main\.yaml:4:/m)
    assert.match(stdout, /^gone\/:1:1 error GATE1023 The folder holds "main\.yaml", which cannot be read \(ENOENT\)/m)
    assert.match(stdout, /^2 policy sets: 1 error, /m)
  })
}
