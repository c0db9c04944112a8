import assert from 'node:assert/strict'
import { statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { policyFolderReader, readPolicyFolders } from '../../src/files/policies.ts'
import { LIMITS } from '../../src/policy/limits.ts'
import { loadPolicySet } from '../../src/policy/load.ts'
import { temporaryFolder, writeFiles } from '../helpers.ts'

test('a policy that is slow to parse is parsed once, and its lists are still watched', (_t) => {
  const dir = temporaryFolder()
  const items = Array.from({ length: 20_000 }, (_, i) => `  - {id: r${i}, a: [b, c]}`).join('\n')
  writeFiles(dir, {
    'acme/main.yaml': `lists: {out: {file: lists/out.txt}}\nrules:\n${items}\n`,
    'acme/lists/out.txt': 'a',
  })
  const read = policyFolderReader(dir)
  const started = performance.now()
  const [before] = read()
  const once = performance.now() - started
  const [again] = read()
  const twice = performance.now() - started - once
  assert.equal(again?.fingerprint, before?.fingerprint)
  assert.ok(twice * 10 < once, `${once} ms, then ${twice} ms`)
  // The same size, and the same time.
  const path = join(dir, 'acme/lists/out.txt')
  const { atime, mtime } = statSync(path)
  writeFileSync(path, 'b')
  utimesSync(path, atime, mtime)
  assert.notEqual(read()[0]?.fingerprint, before?.fingerprint)
})

test('of a file without end, no more is read than tells that it is too large', (_t) => {
  const dir = temporaryFolder()
  writeFiles(dir, {
    'acme/main.yaml': '',
    'acme/more.yaml': 'lists: {out: {file: lists/out.txt}}\n',
    'acme/lists/out.txt': '',
  })
  truncateSync(join(dir, 'acme/main.yaml'), 3 * 1024 ** 3)
  truncateSync(join(dir, 'acme/lists/out.txt'), 3 * 1024 ** 3)
  const source = readPolicyFolders(dir)[0]?.source
  assert.ok(source && 'files' in source)
  assert.equal(source.files.find(({ name }) => name === 'main.yaml')?.bytes.byteLength, LIMITS.fileBytes + 1)
  assert.deepEqual(source.lists.get('lists/out.txt'), { problem: `has more than ${LIMITS.listBytes} bytes` })
  assert.ok(loadPolicySet(source).diagnostics.some(({ code }) => code === 'GATE1001'))
})
