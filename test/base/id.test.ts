import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ID_PREFIX, type IdKind, idMaker, isId, makeId, siblingId } from '../../src/base/id.ts'

const KINDS = Object.keys(ID_PREFIX) as IdKind[]
const time = fc.nat({ max: 2 ** 48 - 1 })
const random = fc.uint8Array({ minLength: 10, maxLength: 10 })
const zero = new Uint8Array(10)

// The example of the ULID specification (01ARYZ6S41TSV4RRFFQ69G5FAV), in lower case.
test('the layout is that of a ULID', () => {
  assert.equal(makeId('decision', 1469918176385, zero).slice(4, 14), '01aryz6s41')
})

const layouts: { name: string; timeMs: number; random: Uint8Array; text: string }[] = [
  { name: 'all zero', timeMs: 0, random: zero, text: '0'.repeat(26) },
  { name: 'all one', timeMs: 2 ** 48 - 1, random: new Uint8Array(10).fill(255), text: `7${'z'.repeat(25)}` },
  {
    name: 'first random bit',
    timeMs: 1,
    random: Uint8Array.of(128, ...zero.slice(1)),
    text: `${'0'.repeat(9)}1g${'0'.repeat(15)}`,
  },
  {
    name: 'last random bit',
    timeMs: 32,
    random: Uint8Array.of(...zero.slice(1), 1),
    text: `${'0'.repeat(8)}10${'0'.repeat(15)}1`,
  },
]

for (const { name, timeMs, random: bytes, text } of layouts) {
  test(`makeId: ${name}`, () => assert.equal(makeId('entry', timeMs, bytes), `aud_${text}`))
}

test('makeId needs exactly ten random bytes', () => {
  for (const length of [0, 9, 11]) assert.throws(() => makeId('key', 0, new Uint8Array(length)), TypeError)
})

test('prefixes are distinct and of three letters', () => {
  const prefixes = Object.values(ID_PREFIX)
  assert.equal(new Set(prefixes).size, prefixes.length)
  for (const prefix of prefixes) assert.match(prefix, /^[a-z]{3}$/)
})

test('property: ids of later milliseconds sort after, whatever their random bytes', () => {
  fc.assert(
    fc.property(time, time, random, random, (a, b, r, s) => {
      fc.pre(a !== b)
      assert.equal(makeId('decision', a, r) < makeId('decision', b, s), a < b)
    }),
  )
})

test('property: ids of one millisecond sort as their random bytes, and differ when those do', () => {
  fc.assert(
    fc.property(time, random, random, (at, r, s) => {
      const order = Buffer.compare(r, s)
      const [a, b] = [makeId('decision', at, r), makeId('decision', at, s)]
      assert.equal(a === b ? 0 : a < b ? -1 : 1, order)
    }),
  )
})

test('property: an id is known as its own kind only, and its sibling as the sibling’s', () => {
  fc.assert(
    fc.property(time, random, fc.constantFrom(...KINDS), fc.constantFrom(...KINDS), (at, r, kind, other) => {
      const id = makeId(kind, at, r)
      assert.equal(isId(id, kind), true)
      assert.equal(isId(id, other), kind === other)
      const sibling = siblingId(id, other)
      assert.equal(isId(sibling, other), true)
      assert.equal(siblingId(sibling, kind), id)
    }),
  )
})

test('idMaker reads clock and randomness anew for each id', () => {
  let tick = 0
  const newId = idMaker(
    () => ++tick,
    (bytes) => new Uint8Array(bytes).fill(tick),
  )
  const ids = [newId('key'), newId('key')]
  assert.deepEqual(ids, [makeId('key', 1, new Uint8Array(10).fill(1)), makeId('key', 2, new Uint8Array(10).fill(2))])
})

const BODY = '01aryz6s41'.padEnd(26, '0')
const notIds: { name: string; text: string }[] = [
  { name: 'another prefix', text: `apr_${BODY}` },
  { name: 'no prefix', text: BODY },
  { name: 'upper case', text: `dec_${BODY.toUpperCase()}` },
  { name: 'too short', text: `dec_${BODY.slice(1)}` },
  { name: 'too long', text: `dec_${BODY}0` },
  { name: 'a letter outside the alphabet', text: `dec_${BODY.replace('a', 'i')}` },
  { name: 'a line feed after', text: `dec_${BODY}\n` },
  { name: 'a path', text: `dec_../${BODY.slice(3)}` },
]

test('isId takes a decision id', () => assert.equal(isId(`dec_${BODY}`, 'decision'), true))
for (const { name, text } of notIds) {
  test(`isId refuses ${name}`, () => assert.equal(isId(text, 'decision'), false))
}
