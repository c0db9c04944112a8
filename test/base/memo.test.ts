import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lru, memo } from '../../src/base/memo.ts'

const cases: { name: string; kept: (make: (key: string) => string) => (key: string) => string; made: string }[] = [
  { name: 'memo: makes each value once', kept: memo, made: 'abcd' },
  { name: 'lru: forgets the least recently used value alone', kept: (make) => lru(2, make), made: 'abcbd' },
]

for (const { name, kept, made } of cases) {
  test(name, () => {
    const keys: string[] = []
    const read = kept((key) => {
      keys.push(key)
      return key.toUpperCase()
    })
    const asked = ['a', 'b', 'a', 'c', 'a', 'b', 'b', 'd', 'b']
    assert.deepEqual(
      asked.map(read),
      asked.map((key) => key.toUpperCase()),
    )
    assert.equal(keys.join(''), made)
  })
}
