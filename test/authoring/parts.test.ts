import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chainLengths, cycleThrough, findCycles } from '../../src/authoring/schemas/cycles.ts'
import { closest, editDistance } from '../../src/authoring/suggest/closest.ts'
import { cidrContains, parseCidr } from '../../src/policies/cidr.ts'
import { ANY, parseFactPath } from '../../src/policies/path.ts'
import { processorMs } from '../processor.ts'
import { runs } from '../tier.ts'

const PATHS: [text: string, segments: (string | typeof ANY)[] | undefined, spelling?: string][] = [
  ['context', []],
  ['context.a', ['a']],
  ['context.a-b_c.0', ['a-b_c', '0']],
  ['context["a"]', ['a'], 'context.a'],
  ['context["a b"].c', ['a b', 'c']],
  ['context["é"]', ['é']],
  ['context["\\u00e9"]', ['é'], 'context["é"]'],
  ['context.*', [ANY]],
  ['context.a.*.b', ['a', ANY, 'b']],
  ['context["*"]', ['*']],
  ['context.*.*', undefined],
  ['context.', undefined],
  ['context..a', undefined],
  ['context.é', undefined],
  ['context[a]', undefined],
  ['context["a]', undefined],
  ['context["\\q"]', undefined],
  ['.a', undefined],
  ['', undefined],
  [`context${'.a'.repeat(33)}`, undefined],
]

for (const [text, segments, spelling] of PATHS) {
  test(`parseFactPath: ${text.slice(0, 40)}`, () => {
    const path = parseFactPath(text)
    assert.deepEqual(path?.segments, segments)
    if (segments !== undefined) assert.equal(path?.text, spelling ?? text)
  })
}

test('property: the spelling of a path reads back as the same path', () => {
  const anySegment = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', '*', '"', ']', '.'))
  fc.assert(
    fc.property(fc.array(anySegment, { maxLength: 5 }), (segments) => {
      const path = parseFactPath(`context${segments.map((segment) => `[${JSON.stringify(segment)}]`).join('')}`)
      assert.deepEqual(path?.segments, segments)
      assert.deepEqual(parseFactPath(path?.text ?? ''), path)
    }),
  )
})

const RANGES: [range: string, address: string, contains: boolean | undefined][] = [
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['0.0.0.0/0', '255.255.255.255', true],
  ['1.2.3.4/32', '1.2.3.4', true],
  ['1.2.3.4/32', '1.2.3.5', false],
  ['10.0.0.0/8', '10.0.0', undefined],
  ['10.0.0.0/8', '010.0.0.1', undefined],
  ['10.0.0.0/8', '10.0.0.256', undefined],
  ['10.0.0.0/8', ' 10.0.0.1', undefined],
  ['10.0.0.0/8', '0x0a000001', undefined],
  ['10.0.0.0/8', '::ffff:10.0.0.1', true],
  ['10.0.0.0/8', '::ffff:0a00:1', true],
  ['10.0.0.0/8', '::10.0.0.1', true],
  ['10.0.0.0/8', '2001:db8::ffff:10.0.0.1', false],
  ['::/0', '10.0.0.1', false],
  ['::/0', '::', true],
  ['2001:db8::/32', '2001:DB8:0:0:0:0:0:1', true],
  ['2001:db8::/32', '2001:db9::', false],
  ['2001:db8::/33', '2001:db8:8000::', false],
  ['2001:db8::/32', '2001:db8::10000', undefined],
  ['fe80::/10', 'fe80::1%eth0', undefined],
  ['::1/128', '::1', true],
  ['::1/128', '1::', false],
  ['::/0', '1:2:3:4:5:6:7:8:9', undefined],
  ['::/0', '1:2:3:4:5:6:7', undefined],
  ['::/0', '1::2::3', undefined],
  ['::/0', '1:2:3:4:5:6:7::8', undefined],
  ['::/0', ':1', undefined],
  ['::/0', '1.2.3.4::', undefined],
  ['::/0', '::1.2.3.4:5', undefined],
]

for (const [range, address, contains] of RANGES) {
  test(`cidr: ${address} in ${range}`, () => {
    const parsed = parseCidr(range)
    assert.ok(parsed !== undefined)
    assert.equal(cidrContains([parsed], address), contains)
  })
}

for (const text of [
  '10.0.0.0',
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/08',
  '10.0.0.0/8/8',
  '/8',
  '10.0.0.0/',
  'a/8',
  '10.0.0.0/-1',
]) {
  test(`cidr: ${text} is no range`, () => assert.equal(parseCidr(text), undefined))
}

test('cidr: bits beyond the prefix are noticed', () => {
  assert.deepEqual(
    ['10.0.0.1/8', '10.0.0.0/8', '::1/64'].map((text) => parseCidr(text)?.hostBits),
    [true, false, true],
  )
})

const WORDS: [word: string, names: string[], nearest: string | undefined][] = [
  ['denny', ['allow', 'deny'], 'deny'],
  ['dney', ['allow', 'deny'], 'deny'],
  ['Deny', ['allow', 'deny'], 'deny'],
  ['zzz', ['allow', 'deny'], undefined],
  ['ab', ['cd'], undefined],
  ['x'.repeat(65), ['x'.repeat(65)], undefined],
]
for (const [word, names, nearest] of WORDS) {
  test(`closest: ${word.slice(0, 10)}`, () => assert.equal(closest(word, names), nearest))
}

const references = (edges: Record<string, string[]>) =>
  new Map(Object.entries(edges).map(([name, to]) => [name, new Set(to)]))

test('cycles: groups, the way round, and chains', () => {
  const edges = references({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['d'], e: ['a'], f: [] })
  const groups = findCycles(edges).map((group) => [...group].sort())
  assert.deepEqual(groups.sort(), [['a', 'b', 'c'], ['d']])
  assert.deepEqual(cycleThrough('b', ['a', 'b', 'c'], edges), ['b', 'c', 'a', 'b'])
  assert.deepEqual(cycleThrough('d', ['d'], edges), ['d', 'd'])
  const chain = chainLengths(references({ a: ['b', 'c'], b: ['c'], c: [], d: ['unknown'] }))
  assert.deepEqual([...chain].sort(), [
    ['a', 3],
    ['b', 2],
    ['c', 1],
    ['d', 1],
  ])
})

test('cycles: a ring of 50,000 names takes neither stack nor time', () => {
  const ring = new Map(Array.from({ length: 50_000 }, (_, i) => [`n${i}`, new Set([`n${(i + 1) % 50_000}`])]))
  const start = processorMs()
  assert.equal(findCycles(ring)[0]?.length, 50_000)
  ring.set('n49999', new Set())
  assert.equal(chainLengths(ring).get('n0'), 50_000)
  assert.ok(processorMs() - start < 3000)
})

test('property: a name is in a group exactly when it can reach itself', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const edge = fc.array(fc.constantFrom(...names), { maxLength: 3 })
  fc.assert(
    fc.property(fc.tuple(edge, edge, edge, edge, edge), (lists) => {
      const edges = new Map(names.map((name, i) => [name, new Set(lists[i])]))
      const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
        [...(edges.get(from) ?? [])].some((next) => {
          if (next === to) return true
          if (seen.has(next)) return false
          seen.add(next)
          return reaches(next, to, seen)
        })
      assert.deepEqual(
        findCycles(edges).flat().sort(),
        names.filter((name) => reaches(name, name)),
      )
    }),
  )
})

/** By its definition (Boytsov 2011, optimal string alignment). */
function distanceByDefinition(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length
  const [lastA, lastB] = [a.at(-1), b.at(-1)]
  const ways = [
    distanceByDefinition(a.slice(0, -1), b) + 1,
    distanceByDefinition(a, b.slice(0, -1)) + 1,
    distanceByDefinition(a.slice(0, -1), b.slice(0, -1)) + (lastA === lastB ? 0 : 1),
  ]
  if (a.length > 1 && b.length > 1 && lastA === b.at(-2) && a.at(-2) === lastB)
    ways.push(distanceByDefinition(a.slice(0, -2), b.slice(0, -2)) + 1)
  return Math.min(...ways)
}

test('property: distances of words are those of the definition, as far as they need be known', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
  fc.assert(
    fc.property(word, word, fc.integer({ min: 1, max: 7 }), (a, b, least) => {
      const distance = distanceByDefinition(a, b)
      assert.equal(editDistance(a, b), distance)
      const known = editDistance(a, b, least)
      if (distance < least) assert.equal(known, distance)
      else assert.ok(known >= least, `${known}`)
    }),
    { numRuns: runs(500) },
  )
})
