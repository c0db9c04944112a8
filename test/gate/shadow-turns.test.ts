import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { shadowTurns } from '../../src/actions/gate/shadow-turns.ts'

const LIMIT_MS = 20
const REST_MS = 400
const SET = {}

/** Turns in a time that the test moves, and works that end when it says so. */
function scene(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turns = shadowTurns()
  const begun: string[] = []
  return {
    turns,
    begun,
    /** Begins a work of this name. */
    take(name: string, key: object = SET) {
      let resolve: (text: string) => void = () => undefined
      let reject: (error: Error) => void = () => undefined
      const promise = new Promise<string>((done, failed) => {
        resolve = done
        reject = failed
      })
      const result = turns.take(key, () => {
        begun.push(name)
        return promise
      })
      return { result, promise, resolve, reject }
    },
    tick: (ms: number): void => t.mock.timers.tick(ms),
  }
}

test('what takes no time is done at once, and what it throws is thrown', (t) => {
  const { turns } = scene(t)
  assert.equal(
    turns.take(SET, () => 1),
    1,
  )
  assert.throws(
    () =>
      turns.take(SET, () => {
        throw new Error('broken')
      }),
    /broken/,
  )
  assert.equal(
    turns.take(SET, () => 2),
    2,
  )
})

test('of one set, one work runs at a time, in order; another set has turns of its own', async (t) => {
  const { take, begun, turns } = scene(t)
  const [a, b, c, other] = [take('a'), take('b'), take('c'), take('other', {})]
  const late = turns.take(SET, () => 'quick')
  assert.deepEqual(begun, ['a', 'other'])
  a.resolve('A')
  assert.equal(await a.result, 'A')
  await new Promise(setImmediate)
  b.reject(new Error('broken'))
  await assert.rejects(async () => b.result, /broken/)
  assert.deepEqual(begun, ['a', 'other', 'b', 'c'])
  c.resolve('C')
  other.resolve('O')
  assert.deepEqual([await c.result, await late, await other.result], ['C', 'quick', 'O'])
})

test('nobody waits for a late work, until it has ended and rested', async (t) => {
  const { take, begun, turns, tick } = scene(t)
  const [slow, behind] = [take('slow'), take('behind')]
  tick(LIMIT_MS)
  assert.deepEqual([await slow.result, await behind.result], [undefined, undefined])
  const now = (): unknown => turns.take(SET, () => 'now')
  assert.equal(now(), undefined)
  slow.resolve('S')
  await slow.promise
  await new Promise(setImmediate)
  assert.equal(now(), undefined)
  tick(REST_MS - 1)
  assert.equal(now(), undefined)
  tick(1)
  assert.equal(now(), 'now')
  assert.deepEqual(begun, ['slow'])
})

test('a check leaves the line when its own time is over, and the line is short', async (t) => {
  const { take, begun, tick } = scene(t)
  const first = take('first')
  tick(LIMIT_MS - 1)
  const second = take('second')
  first.resolve('F')
  assert.equal(await first.result, 'F')
  await new Promise(setImmediate)
  const third = take('third')
  tick(LIMIT_MS - 1)
  second.resolve('S')
  assert.deepEqual([await second.result, begun], ['S', ['first', 'second', 'third']])
  third.resolve('T')
  await third.result
  const many = Array.from({ length: 60 }, (_, i) => take(`${i}`))
  assert.equal(many.filter(({ result }) => result === undefined).length, 60 - 1 - 50)
  tick(LIMIT_MS)
  for (const { result } of many) assert.equal(await result, undefined)
})

test('an error after the limit is nobody’s', async (t) => {
  const { take, tick } = scene(t)
  const slow = take('slow')
  tick(LIMIT_MS)
  assert.equal(await slow.result, undefined)
  slow.reject(new Error('too late'))
  await new Promise(setImmediate)
})
