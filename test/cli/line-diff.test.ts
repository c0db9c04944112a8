import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineDiff } from '../../src/cli/policies/line-diff.ts'

/** The second text, made from the first and the hunks. */
function applied(before: string, hunks: ReturnType<typeof lineDiff>): string {
  const lines = before.split('\n')
  const result: string[] = []
  let at = 0
  for (const hunk of hunks) {
    for (; at < hunk.before - 1; at += 1) result.push(lines[at] ?? '')
    assert.equal(result.length, hunk.after - 1)
    for (const { mark, text } of hunk.lines) {
      if (mark !== '+') assert.equal(lines[at++], text)
      if (mark !== '-') result.push(text)
    }
  }
  return [...result, ...lines.slice(at)].join('\n')
}

test('property: a difference, applied to the first text, gives the second', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '', 'd'), { maxLength: 40 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const hunks = lineDiff(before, after)
      assert.equal(applied(before, hunks), after)
      assert.equal(hunks.length === 0, before === after)
    }),
    { numRuns: 1000 },
  )
})

test('texts too long to be compared line by line are shown as changed', () => {
  const lines = (text: string): string => Array.from({ length: 3000 }, (_, i) => `${text}${i}`).join('\n')
  const hunks = lineDiff(lines('a'), lines('b'))
  assert.equal(applied(lines('a'), hunks), lines('b'))
})
