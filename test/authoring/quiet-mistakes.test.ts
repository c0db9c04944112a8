import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lintWithTests } from '../../src/authoring/cases/untested.ts'
import type { Diagnostic } from '../../src/authoring/diagnostics/diagnostics.ts'
import { MISTAKES, SOUND, SUGGESTED } from './mistakes.ts'
import { HEADER, LISTS } from './sources.ts'

async function findingsOf(policy: string): Promise<readonly Diagnostic[]> {
  const files = [{ name: 'main.yaml', bytes: Buffer.from(HEADER + policy) }]
  const lists = new Map([...LISTS, ['lists/empty.txt', Buffer.from('# None yet.\n')]])
  return lintWithTests({ tenant: 'acme', files, lists, ignored: [] })
}

async function codesOf(policy: string): Promise<string[]> {
  return [...new Set((await findingsOf(policy)).map(({ code }) => code))]
}

for (const [name, code, policy] of MISTAKES)
  test(`a quiet mistake is reported: ${name}`, async () => assert.deepEqual(await codesOf(policy), [code]))

for (const [name, policy] of SOUND)
  test(`no mistake is none: ${name}`, async () => assert.deepEqual(await codesOf(policy), []))

for (const [wanted, policy] of SUGGESTED)
  test(`a suggestion neither widens nor breaks the rule: ${wanted}`, async () => {
    assert.deepEqual(
      (await findingsOf(policy)).map(({ suggestion }) => suggestion),
      [wanted],
    )
  })

test('a path through a list is reported with the form that asks its items', async () => {
  const [, , policy = ''] = MISTAKES.find(([name]) => name === 'a member of the items of a list') ?? []
  const [found] = await findingsOf(policy)
  assert.match(
    found?.message ?? '',
    /^context\.items is a list, .* Write context\.items\.\*\.price, and ask with someFact:\.$/,
  )
})
