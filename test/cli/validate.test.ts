import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder, writeFiles } from '../helpers.ts'
import { BIN, runBuilt } from './program.ts'

/** A policy near the limit of a file's size, with a warning or two on each of its 4,500 lines. */
function largeFolder(): string {
  const dir = temporaryFolder()
  const leaves = (i: number) =>
    `{fact: context.amount, operator: greaterThan, value: ${i}}, {fact: context.country, operator: in, value: [DE, FR, IT]}`
  const rule = (_: unknown, i: number) =>
    `  - {id: r${i}, actions: ["a${i}"], effect: deny, reason: R., when: {all: [${leaves(i)}]}}`
  const rules = Array.from({ length: 4500 }, rule).join('\n')
  writeFiles(dir, { 'acme/main.yaml': `apiVersion: gate-sidecar/v1\ntenant: acme\nrules:\n${rules}\n` })
  return dir
}

test('validate: thousands of faults in a large file are shown with their lines, in memory for a few', async () => {
  const policies = largeFolder()
  // The text is split once: with a copy of its lines for each fault this ended after 4 GiB.
  const { code, stdout } = await runBuilt(['validate', '--policies', policies], {
    env: { NODE_OPTIONS: '--max-old-space-size=512' },
  })
  assert.equal(code, 0)
  assert.match(stdout, /\n 4 \| ….*\{fact: context\.amount, operator: greaterThan, value: 0\}/)
  assert.match(stdout, /1 policy set: 0 errors, 500\d warnings\.\n$/)
})

test('validate: who reads only the beginning of the report gets that, and no stack', () => {
  const command = `"${process.execPath}" "${BIN}" validate --policies "${join(largeFolder())}" | head -1`
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  assert.match(stdout, /^acme\/main\.yaml:4:\d+ warning GATE2007 /)
  assert.equal(stderr, '')
})
