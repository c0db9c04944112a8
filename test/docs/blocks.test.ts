import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documents } from '../../docs/build.ts'
import { faultsOf } from './faults.ts'

// Two at a time: most of a page's time is the start of commands.
describe('every block of a page runs as it is written', { concurrency: 2 }, () => {
  for (const [path, page] of documents()) {
    test(path, async () => {
      // A page of a code shows that fault and nothing else.
      const faults = await faultsOf(page, { isStrict: path.startsWith('docs/errors/') })
      assert.equal(faults.map(({ line, problem }) => `${path}:${line}: ${problem}`).join('\n'), '')
    })
  }
})
