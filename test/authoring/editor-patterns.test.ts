import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as patterns from '../../src/authoring/editor/patterns.ts'
import { BUILT_IN_FACTS } from '../../src/authoring/load/fact-names.ts'
import { insidePath } from '../../src/authoring/load/files.ts'
import { parseGlob } from '../../src/base/glob.ts'
import { compilePattern } from '../../src/base/pattern.ts'
import { parseDuration, parseRfc3339 } from '../../src/base/time.ts'
import { UNLIMITED } from '../../src/base/work.ts'
import { parseCidr } from '../../src/policies/cidr.ts'
import { isPlural, parseFactPath } from '../../src/policies/path.ts'
import { processorMs } from '../processor.ts'
import { runs } from '../tier.ts'

const REQUEST = ['context', 'plan']

function pathKind(text: string): 'single' | 'plural' | 'root' | 'other' {
  const path = parseFactPath(text)
  if (path === undefined || !REQUEST.includes(path.root)) return 'other'
  if (path.segments.length === 0) return 'root'
  return isPlural(path) ? 'plural' : 'single'
}

interface Row {
  name: string
  /** All of them match. */
  matches: readonly string[]
  takes: (text: string) => boolean
  /** Texts are made of these. */
  parts: readonly string[]
  /** Parts in the order in which most texts are taken, of which five by chance seldom are. */
  order?: readonly (readonly string[])[]
  /** True where the pattern takes more than the loader. */
  isLooser?: true
}

const GLOB_PARTS = ['a', 'B', '1', '_', '.', ':', '/', '-', '*', '**', ' ', 'é', '.a', 'a.', 'a'.repeat(127)]
const PATH_PARTS = [
  'context',
  'plan',
  'time',
  '.',
  '.a',
  '.A-1_',
  '.*',
  '*',
  '["a b"]',
  '["\\u00e9\\n"]',
  '["]',
  "['a']",
  '[0]',
  '$',
  ' ',
  '.é',
  '["\\x"]',
]
const PATH_ORDER = [
  ['context', 'plan', 'time'],
  ['.a', '.A-1_', '["a b"]', '["\\u00e9\\n"]', '[0]', '.é'],
  ['', '.a', '.*', '["]'],
  ['', '.a', '.*', '$'],
]
const CIDR_ORDER = [
  ['10', '255', '256', '0', '01', '10.0.0.0', '::1', '2001:db8::', 'g'],
  ['', '.0.0.0', '.1.2.3', ':1', '::'],
  ['/0', '/8', '/24', '/32', '/33', '/128', '/129'],
]
const TIME_ORDER = [
  ['2026-01-31', '2026-02-28', '2026-02-30', '2026-04-31', '2026-13-01'],
  ['T09:00:00', 't23:59:59', 'T24:00:00', 'T09:00:60', ' 09:00:00'],
  ['', '.5'],
  ['Z', 'z', '+02:00', '-23:59', '+24:00'],
]
const ROWS: Row[] = [
  {
    name: 'GLOB',
    matches: patterns.GLOB.allOf.map(({ pattern }) => pattern),
    takes: (text) => parseGlob(text) !== undefined,
    parts: GLOB_PARTS,
  },
  {
    name: 'DURATION',
    matches: [patterns.DURATION],
    takes: (text) => parseDuration(text) !== undefined,
    parts: ['0', '1', '7', '9', '90', '2160', '129600', '7776000', 's', 'm', 'h', 'd', ' ', '-', '.'],
  },
  {
    name: 'TIME',
    matches: [patterns.TIME],
    takes: (text) => parseRfc3339(text) !== undefined,
    parts: TIME_ORDER.flat(),
    order: TIME_ORDER,
    isLooser: true,
  },
  {
    name: 'CIDR',
    matches: [patterns.CIDR],
    takes: (text) => parseCidr(text) !== undefined,
    parts: ['01', '.', '/', '8', '33', ':', '::', 'db8', 'FFFF', '10.0.0.0', '/24', '::1', '2001:db8::', 'g'],
    order: CIDR_ORDER,
    isLooser: true,
  },
  {
    name: 'SINGLE_PATH',
    matches: [patterns.SINGLE_PATH],
    takes: (text) => pathKind(text) === 'single',
    parts: PATH_PARTS,
    order: PATH_ORDER,
  },
  {
    name: 'PLURAL',
    matches: [patterns.PLURAL],
    takes: (text) => pathKind(text) === 'plural',
    parts: PATH_PARTS,
    order: PATH_ORDER,
  },
  {
    name: 'DECLARED_PATH',
    matches: [patterns.DECLARED_PATH],
    takes: (text) => ['single', 'plural'].includes(pathKind(text)),
    parts: PATH_PARTS,
    order: PATH_ORDER,
  },
  {
    name: 'REQUEST_PATH',
    matches: [patterns.REQUEST_PATH],
    takes: (text) => pathKind(text) !== 'other',
    parts: PATH_PARTS,
    order: PATH_ORDER,
  },
  {
    name: 'NUMBER_PATH',
    matches: [patterns.NUMBER_PATH],
    takes: (text) => text === 'time.hour' || pathKind(text) === 'single',
    parts: [...PATH_PARTS, ...BUILT_IN_FACTS.keys()],
    order: PATH_ORDER,
  },
]

for (const { name, matches, takes, parts, order, isLooser } of ROWS) {
  // As editors run them, and as the tests of the schema do.
  const inEditors = matches.map((pattern) => new RegExp(pattern, 'u'))
  const inTests = matches.map((pattern) => {
    const compiled = compilePattern(pattern)
    if ('fault' in compiled) assert.fail(compiled.fault)
    return compiled
  })
  test(`property: the pattern ${name} takes what the loader takes${isLooser ? '' : ', and nothing else'}`, () => {
    let taken = 0
    const anyOrder = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 5 })
    const texts =
      order === undefined ? anyOrder : fc.oneof(anyOrder, fc.tuple(...order.map((some) => fc.constantFrom(...some))))
    fc.assert(
      fc.property(texts, (chosen) => {
        const text = chosen.join('')
        const matched = inEditors.every((pattern) => pattern.test(text))
        assert.equal(
          inTests.every((pattern) => pattern.find(text, UNLIMITED) === true),
          matched,
          text,
        )
        if (takes(text)) taken += 1
        if (takes(text) || !isLooser) assert.equal(matched, takes(text), text)
      }),
      { numRuns: runs(3000) },
    )
    assert.ok(taken > runs(10), `only ${taken} texts were taken`)
  })
}

test('property: the pattern OUTSIDE matches paths that leave the folder, and no others', () => {
  const parts = fc.constantFrom('a', '..', '.', '/', '\\', 'C:', '\0', 'lists', '...', ' ', 'https://')
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 6 }), (chosen) => {
      const path = chosen.join('')
      const isInside = insidePath(path) !== undefined
      const isMatched = new RegExp(patterns.OUTSIDE, 'u').test(path)
      // An expression of this kind cannot count how often a path goes down before it goes up.
      const goesDown = path.split('/').some((part) => !['', '.', '..'].includes(part))
      if (isInside || !goesDown) assert.equal(isMatched, !isInside, JSON.stringify(path))
    }),
    { numRuns: runs(3000) },
  )
  for (const path of ['/a', 'C:/a', 'a\\b', 'a\0', 'https://a', '../a', './/../a'])
    assert.match(path, new RegExp(patterns.OUTSIDE, 'u'))
})

test('the patterns take no long time, however the text is made', () => {
  const start = processorMs()
  for (const { matches, parts } of ROWS) {
    for (const part of parts) {
      for (const pattern of matches) new RegExp(pattern, 'u').test(`${part.repeat(5000)}!`)
    }
  }
  assert.ok(processorMs() - start < 10_000)
})

test('what only a schema accepts is what it cannot tell', () => {
  const looser = (name: string, text: string): void => {
    const row = ROWS.find((one) => one.name === name)
    assert.equal(row?.takes(text), false)
    assert.ok(row?.matches.every((pattern) => new RegExp(pattern, 'u').test(text)))
  }
  looser('TIME', '2026-02-29T09:00:00Z')
  looser('CIDR', '1:::1/64')
})
