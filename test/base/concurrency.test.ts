import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { takeTurns } from '../../src/base/concurrency.ts'
import { runs } from '../tier.ts'

/** Tasks that end when told; `begun` has their names in the order of their beginnings. */
function tasks(limit: number) {
  const turns = takeTurns(limit)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const add = (key: string, name: string, signal?: AbortSignal): Promise<void> =>
    turns.run(
      key,
      () => {
        begun.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      },
      signal,
    )
  return { turns, begun, add, end: (name: string) => ends.get(name)?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('turns: a key with many tasks waiting does not delay another, and has one place at a time', async () => {
  const { begun, add, end } = tasks(2)
  for (const name of ['a1', 'a2', 'a3']) void add('a', name)
  await settled()
  assert.deepEqual(begun, ['a1'])
  for (const name of ['b1', 'c1', 'b2']) void add(name.slice(0, 1), name)
  await settled()
  assert.deepEqual(begun, ['a1', 'b1'])
  for (const name of ['a1', 'c1', 'b1', 'a2', 'b2']) {
    end(name)
    await settled()
  }
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('turns: who leaves the queue is rejected with the reason, and takes no place', async () => {
  const { turns, begun, add, end } = tasks(1)
  void add('a', 'a1')
  const leaving = new AbortController()
  const left = add('b', 'b1', leaving.signal)
  void add('c', 'c1')
  assert.equal(turns.waitingOf('b'), 1)
  leaving.abort(new Error('too long'))
  await assert.rejects(left, { message: 'too long' })
  assert.equal(turns.waitingOf('b'), 0)
  end('a1')
  await settled()
  assert.deepEqual(begun, ['a1', 'c1'])
})

test('property: turns run every task, never two of a key nor more than the limit, also where some fail', async () => {
  const keys = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.boolean()), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(keys, fc.integer({ min: 1, max: 3 }), async (wanted, limit) => {
      const turns = takeTurns(limit)
      const running: string[] = []
      const ended = wanted.map(([key, fails]) =>
        turns.run(key, async () => {
          assert.ok(running.length < limit && !running.includes(key))
          running.push(key)
          await settled()
          running.splice(running.indexOf(key), 1)
          if (fails) throw new Error('fails')
        }),
      )
      const results = await Promise.allSettled(ended)
      assert.deepEqual(
        results.map(({ status }) => status === 'rejected'),
        wanted.map(([, fails]) => fails),
      )
    }),
    { numRuns: runs(100) },
  )
})
