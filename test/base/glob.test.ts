import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ACTION_PATTERN, type Glob, globContains, globMatches, globsIntersect, parseGlob } from '../../src/base/glob.ts'
import { processorMs } from '../processor.ts'

function glob(text: string): Glob {
  const parsed = parseGlob(text)
  assert.ok(parsed, `${text} is a glob`)
  return parsed
}

const matches: { glob: string; yes?: string[]; no?: string[] }[] = [
  { glob: 'payment.transfer', yes: ['payment.transfer'], no: ['payment', 'payment.transfers', 'Payment.transfer'] },
  { glob: 'payment.*', yes: ['payment.a', 'payment.', 'payment.a-b'], no: ['payment', 'payment.a.b', 'xpayment.a'] },
  { glob: 'payment.**', yes: ['payment', 'payment.a', 'payment.a.b'], no: ['payments', 'payments.a'] },
  { glob: '**', yes: ['a', 'a.b', 'a.b.c'] },
  { glob: '*', yes: ['a', 'a/b:c'], no: ['a.b'] },
  { glob: '**.delete', yes: ['delete', 'db.delete', 'db.row.delete'], no: ['delete.db', 'undelete'] },
  { glob: 'a.**.z', yes: ['a.z', 'a.b.z', 'a.z.z'], no: ['a', 'z', 'a.b', 'a.zz'] },
  { glob: 'a.**.b.**.c', yes: ['a.b.c', 'a.x.b.y.c', 'a.b.b.c.c'], no: ['a.c', 'a.c.b', 'a.b'] },
  { glob: 'get*', yes: ['get', 'getUser'], no: ['get.user', 'forget'] },
  { glob: '*User', yes: ['User', 'getUser'], no: ['Users'] },
  { glob: 'a*b*a', yes: ['aba', 'abba', 'aabaa'], no: ['ab', 'aa', 'abab'] },
  { glob: '*.*', yes: ['a.b'], no: ['a', 'a.b.c'] },
  { glob: 'a.**.**.b', yes: ['a.b', 'a.x.b'], no: ['a'] },
  { glob: 'a-b', yes: ['a-b'], no: ['aab'] },
]

for (const row of matches) {
  test(`globMatches: ${row.glob}`, () => {
    for (const action of row.yes ?? []) assert.equal(globMatches(glob(row.glob), action), true, action)
    for (const action of row.no ?? []) assert.equal(globMatches(glob(row.glob), action), false, action)
  })
}

const notGlobs = [
  '',
  '.a',
  '-a',
  'a b',
  'a\n',
  'a.***',
  'a**',
  '**a.b',
  'a.b**.c',
  'a?',
  '[a]',
  'a'.repeat(129),
  'é',
  'a\\*',
]
for (const text of notGlobs) {
  test(`parseGlob refuses ${JSON.stringify(text.slice(0, 20))}`, () => assert.equal(parseGlob(text), undefined))
}

test('parseGlob: 128 characters pass, and a glob without star is exact', () => {
  assert.equal(glob('a'.repeat(128)).exact, true)
  assert.equal(glob('a.*').exact, false)
})

test('ACTION_PATTERN takes no star', () => {
  const action = new RegExp(ACTION_PATTERN)
  for (const name of ['a', 'Bash', 'mcp__fs__read', 'a.b-c:d/e', 'a'.repeat(128)]) assert.match(name, action)
  for (const name of ['', '*', 'a*', '.a', 'a b', 'a\n', 'a'.repeat(129)]) assert.doesNotMatch(name, action)
})

const meetings: { a: string; b: string; meet: boolean }[] = [
  { a: 'payment.*', b: '*.transfer', meet: true },
  { a: 'payment.*', b: 'invoice.*', meet: false },
  { a: 'payment.*', b: 'payment', meet: false },
  { a: 'payment.**', b: 'payment', meet: true },
  { a: 'payment.*', b: 'payment.a.**', meet: true },
  { a: 'payment.*', b: 'payment.a.b.**', meet: false },
  { a: '**.a', b: 'b.**', meet: true },
  { a: '**.a', b: '**.b', meet: false },
  { a: 'a*', b: '*b', meet: true },
  { a: 'a*c', b: 'ab*', meet: true },
  { a: 'a*c', b: 'b*', meet: false },
  { a: '*', b: '**', meet: true },
  { a: 'a.*.c', b: 'a.**.d', meet: false },
]

for (const { a, b, meet } of meetings) {
  test(`globsIntersect: ${a} and ${b} ${meet ? 'meet' : 'do not meet'}`, () => {
    assert.equal(globsIntersect(glob(a), glob(b)), meet)
    assert.equal(globsIntersect(glob(b), glob(a)), meet)
  })
}

// The reference: plain backtracking, with a regular expression a segment.
function reference(pattern: readonly string[], parts: readonly string[]): boolean {
  const [head, ...rest] = pattern
  if (head === undefined) return parts.length === 0
  if (head === '**') return parts.some((_, i) => reference(rest, parts.slice(i))) || reference(rest, [])
  const [part, ...others] = parts
  if (part === undefined) return false
  return new RegExp(`^${head.replaceAll('*', '.*')}$`).test(part) && reference(rest, others)
}

const letter = fc.constantFrom('a', 'b')
const word = fc.string({ unit: letter, minLength: 1, maxLength: 4 })
const action = fc.array(word, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'))
const wildcard = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 5 })
const segment = fc.oneof(
  { weight: 3, arbitrary: wildcard.filter((text) => !text.includes('**')) },
  { weight: 1, arbitrary: fc.constant('**') },
)
const anyGlob = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => glob(segments.join('.')))

test('property: globMatches agrees with backtracking over regular expressions', () => {
  fc.assert(
    fc.property(anyGlob, action, (pattern, name) => {
      assert.equal(globMatches(pattern, name), reference(pattern.segments, name.split('.')))
    }),
    { numRuns: 3000 },
  )
})

test('property: meeting a literal is matching it', () => {
  fc.assert(
    fc.property(anyGlob, action, (pattern, name) => {
      const literal = glob(name)
      assert.equal(globsIntersect(pattern, literal), globMatches(pattern, name))
      assert.equal(globsIntersect(literal, pattern), globMatches(pattern, name))
    }),
    { numRuns: 2000 },
  )
})

test('property: globsIntersect is symmetric, and every glob meets itself', () => {
  fc.assert(
    fc.property(anyGlob, anyGlob, (a, b) => {
      assert.equal(globsIntersect(a, b), globsIntersect(b, a))
      assert.equal(globsIntersect(a, a), true)
    }),
    { numRuns: 2000 },
  )
})

// Two globs of at most two ordinary segments, each with a common word of at most two letters, have
// a common action among these if they have any. (Four segments are needed: `**.a.b` and `c.d.**`.)
const WORDS = ['a', 'b', 'aa', 'ab', 'ba', 'bb']
const ACTIONS = [1, 2, 3, 4].flatMap((length) => sequences(length)).map((parts) => parts.join('.'))

function sequences(length: number): string[][] {
  if (length === 0) return [[]]
  return sequences(length - 1).flatMap((start) => WORDS.map((word) => [...start, word]))
}

const small = fc
  .array(fc.constantFrom('a', 'b', '*', 'a*', '*b', '*a', 'b*', 'ab', '**'), { minLength: 1, maxLength: 4 })
  .filter((segments) => segments.filter((text) => text !== '**').length <= 2)
  .map((segments) => glob(segments.join('.')))

test('property: two globs meet exactly when an action matches both', () => {
  fc.assert(
    fc.property(small, small, (a, b) => {
      const witness = ACTIONS.find((name) => globMatches(a, name) && globMatches(b, name))
      assert.equal(globsIntersect(a, b), witness !== undefined, `${a.text} and ${b.text}: ${witness}`)
    }),
    { numRuns: 1000 },
  )
})

test('the longest patterns cost no backtracking', () => {
  const started = processorMs()
  assert.equal(globMatches(glob(`${'a*'.repeat(63)}b`), 'a'.repeat(128)), false)
  assert.equal(globMatches(glob(`${'**.'.repeat(40)}b`), `${'a.'.repeat(63)}a`), false)
  assert.equal(globsIntersect(glob(`${'*a'.repeat(63)}b`), glob(`${'*a'.repeat(63)}c`)), false)
  assert.ok(processorMs() - started < 500)
})

const contains: { outer: string; yes?: string[]; no?: string[] }[] = [
  { outer: '**', yes: ['**', 'a', '*', 'a.**', '*.b'] },
  { outer: '*', yes: ['a', 'a*', '*a*b'], no: ['**', 'a.b', '*.*'] },
  {
    outer: 'payment.*',
    yes: ['payment.a', 'payment.a*', 'payment.*'],
    no: ['payment.**', 'payment', '*.a', 'payment.a.*'],
  },
  { outer: 'payment.**', yes: ['payment', 'payment.*', 'payment.**.x', 'payment.*.*'], no: ['pay*.**', '**'] },
  { outer: '**.delete', yes: ['delete', 'a.delete', '*.delete', 'a.**.delete'], no: ['**.del*', 'delete.**'] },
  { outer: '**.*', yes: ['*', 'a.*', '*.**'], no: [] },
  { outer: 'a*b', yes: ['ab', 'axb', 'a*xb', 'a*b*b'], no: ['a*', 'b*a', 'a*bc'] },
  { outer: '*a*', yes: ['a', '*ba*', '*a*a*'], no: ['*b*'] },
  { outer: 'a.**.b.**', yes: ['a.b', 'a.x.b.y', 'a.**.b', 'a.b.**'], no: ['a.**', 'a.c.**'] },
]

for (const row of contains) {
  test(`globContains: ${row.outer}`, () => {
    for (const inner of row.yes ?? []) assert.equal(globContains(glob(row.outer), glob(inner)), true, inner)
    for (const inner of row.no ?? []) assert.equal(globContains(glob(row.outer), glob(inner)), false, inner)
  })
}

test('globContains: what the inner one matches, the outer one matches', () => {
  const part = fc.constantFrom('a', 'b', '*', '**', 'a*', '*b', 'a*b', '*a*')
  const some = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
  const action = fc
    .array(fc.constantFrom('a', 'b', 'ab', 'ba', 'aab', 'c'), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join('.'))
  fc.assert(
    fc.property(some, some, fc.array(action, { minLength: 20, maxLength: 20 }), (outer, inner, actions) => {
      if (!globContains(glob(outer), glob(inner))) return
      for (const one of actions) if (globMatches(glob(inner), one)) assert.ok(globMatches(glob(outer), one), one)
    }),
    { numRuns: 3000 },
  )
})

test('globContains: hostile patterns take no longer than others', () => {
  const stars = 'a*'.repeat(60)
  const many = '**.a.'.repeat(25)
  const start = processorMs()
  globContains(glob(`${stars}b`), glob(`${'*a'.repeat(60)}`))
  globContains(glob(`${many}b`), glob(`${'a.**.'.repeat(25)}a`))
  assert.ok(processorMs() - start < 500)
})
