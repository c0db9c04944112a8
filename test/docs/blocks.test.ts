import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documents } from '../../docs/build.ts'
import { FULL } from '../tier.ts'
import { faultsOf } from './faults.ts'

// Two at a time: most of a page's time is the start of commands.
describe('every block of a page runs as it is written', { concurrency: 2 }, () => {
  for (const [path, page] of documents()) {
    test(path, async () => {
      // A page of a code shows that fault and nothing else.
      const isStrict = path.startsWith('docs/errors/')
      // Commands of the other pages are run in the full tier.
      const faults = await faultsOf(page, { isStrict, runsCommands: FULL || path === 'README.md' })
      assert.equal(faults.map(({ line, problem }) => `${path}:${line}: ${problem}`).join('\n'), '')
    })
  }
})
