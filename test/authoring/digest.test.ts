import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, LISTS, load } from './sources.ts'

const WHEN = (when: string) => `rules:\n  - {id: r, actions: [a.b], effect: allow, reason: R., when: ${when}}\n`
const BASE = `${HEADER}lists: {sanctioned: {file: lists/sanctioned.txt}}\n${WHEN('{fact: context.c, operator: inList, value: sanctioned}')}`
const digestOf = (files: Record<string, string>, lists = LISTS) => load(files, lists).set?.digest
const wanted = digestOf({ 'main.yaml': BASE })

const SAME: [name: string, files: Record<string, string>, lists?: typeof LISTS][] = [
  ['comments and empty lines', { 'main.yaml': `# a comment\n\n${BASE}\n# more\n` }],
  ['line ends', { 'main.yaml': BASE.replaceAll('\n', '\r\n') }],
  ['a BOM', { 'main.yaml': `\ufeff${BASE}` }],
  ['key order', { 'main.yaml': `tenant: acme\napiVersion: gate-sidecar/v1\n${BASE.slice(HEADER.length)}` }],
  ['quotes', { 'main.yaml': BASE.replace('tenant: acme', 'tenant: "acme"') }],
  [
    'tests',
    {
      'main.yaml': BASE,
      'a.test.yaml': `${HEADER}tests: [{name: a, matrix: {actions: [a.b]}, expect: {decision: deny}}]\n`,
    },
  ],
  ['layout of a list', { 'main.yaml': BASE }, new Map([['lists/sanctioned.txt', Buffer.from('IR\nKP\n')]])],
]
const OTHER: [name: string, files: Record<string, string>, lists?: typeof LISTS][] = [
  ['a reason', { 'main.yaml': BASE.replace('R.', 'S.') }],
  ['a default written out', { 'main.yaml': `${BASE}timezone: UTC\n` }],
  ['an item of a list', { 'main.yaml': BASE }, new Map([['lists/sanctioned.txt', Buffer.from('IR\nKP\nXX\n')]])],
  ['one more file', { 'main.yaml': BASE, 'z.yaml': HEADER }],
]

test('digest: has the form of all digests', () => assert.match(wanted ?? '', /^sha256:[0-9a-f]{64}$/))
for (const [name, files, lists] of SAME)
  test(`digest: not changed by ${name}`, () => assert.equal(digestOf(files, lists), wanted))
for (const [name, files, lists] of OTHER) {
  test(`digest: changed by ${name}`, () => {
    const digest = digestOf(files, lists)
    assert.ok(digest !== undefined && digest !== wanted)
  })
}
