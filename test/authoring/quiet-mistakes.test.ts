import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lintWithTests } from '../../src/authoring/cases/untested.ts'
import { MISTAKES, SOUND } from './mistakes.ts'
import { HEADER, LISTS } from './sources.ts'

async function codesOf(policy: string): Promise<string[]> {
  const files = [{ name: 'main.yaml', bytes: Buffer.from(HEADER + policy) }]
  const lists = new Map([...LISTS, ['lists/empty.txt', Buffer.from('# None yet.\n')]])
  const found = await lintWithTests({ tenant: 'acme', files, lists, ignored: [] })
  return [...new Set(found.map(({ code }) => code))]
}

for (const [name, code, policy] of MISTAKES)
  test(`a quiet mistake is reported: ${name}`, async () => assert.deepEqual(await codesOf(policy), [code]))

for (const [name, policy] of SOUND)
  test(`no mistake is none: ${name}`, async () => assert.deepEqual(await codesOf(policy), []))
