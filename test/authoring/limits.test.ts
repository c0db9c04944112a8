import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listFilesOf } from '../../src/authoring/load/read-files.ts'
import { shortened } from '../../src/base/shortened.ts'
import { processorMs } from '../processor.ts'
import { fullTest } from '../tier.ts'
import { HEADER, load, spots } from './sources.ts'

test('limits: 10,001 rules are one too many', () => {
  const file = (count: number, from: number) =>
    `{"apiVersion":"gate-sidecar/v1","tenant":"acme","rules":[${Array.from({ length: count }, (_, i) => `{"id":"r${from + i}","actions":["a${from + i}"],"effect":"deny","reason":"R"}`).join()}]}`
  const files = { 'a.json': file(5000, 0), 'b.json': file(5000, 5000) }
  assert.equal(load(files).set?.rules.length, 10_000)
  const { diagnostics } = load({ ...files, 'c.json': file(1, 10_000) })
  assert.deepEqual(
    diagnostics.map(({ file, code }) => [file, code]),
    [['acme/c.json', 'GATE1017']],
  )
})

for (const text of ['[', '{a: ', '- ', '? ', '[{']) {
  test(`limits: 100,000 times ${JSON.stringify(text)} is refused, and does not end the process`, () => {
    assert.equal(load({ 'a.yaml': text.repeat(100_000) }).diagnostics[0]?.code, 'GATE1014')
  })
}

test('limits: a list of 100,001 lines is one too long', () => {
  const text = 'lists: {l: {file: lists/l.txt}}\n'
  const lines = (count: number) => new Map([['lists/l.txt', Buffer.from('a\n'.repeat(count))]])
  assert.deepEqual(spots(load({ 'a.yaml': HEADER + text }, lines(100_000)).diagnostics), [['GATE2002', 3, 9]])
  assert.deepEqual(spots(load({ 'a.yaml': HEADER + text }, lines(100_001)).diagnostics), [
    ['GATE2002', 3, 9],
    ['GATE1313', 3, 19],
  ])
})

test('listFilesOf: names the files of lists, also of a policy that is at fault elsewhere', () => {
  const text = 'lists: {a: {file: lists/b.txt}, b: {file: lists/a.txt}, c: {values: []}, d: {file: 5}}\nrulez: []\n'
  const file = (name: string, content: string) => ({ name, bytes: Buffer.from(content) })
  const files = [file('a.yaml', HEADER + text), file('b.yaml', 'lists: ['), file('c.test.yaml', text)]
  assert.deepEqual(listFilesOf(files), ['lists/a.txt', 'lists/b.txt'])
})

for (const key of ['lists:', '"lists" :', '? lists # of names\n:', '"list\\u0073":']) {
  test(`listFilesOf: reads ${JSON.stringify(key)} as the lists`, () => {
    const bytes = Buffer.from(`${HEADER}${key} {a: {file: lists/a.txt}}\n`)
    assert.deepEqual(listFilesOf([{ name: 'a.yaml', bytes }]), ['lists/a.txt'])
  })
}

fullTest('limits: 100,000 anchors in a row do not overflow the stack', () => {
  const { set, diagnostics } = load({ 'a.yaml': `${HEADER}timezone: ${'&a '.repeat(100_000)}\n` })
  assert.equal(set, undefined)
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['GATE1103', 'GATE1008'],
  )
})

test('limits: of a file too long to be mended, what stands before its first fault of syntax is told', () => {
  const comment = `# ${'x'.repeat(1000)}\n`.repeat(140)
  const rules =
    'rules:\n  - {id: a, actions: [a.b], effect: alow, reason: R.}\n  - {id: b, actions: [a.b, effect: deny}\n'
  const { diagnostics } = load({ 'main.yaml': `${HEADER}riks: []\n${comment}${rules}` })
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  assert.deepEqual(
    errors.map(({ line, code }) => `${line} ${code}`),
    ['3 GATE1101', '145 GATE1104', '146 GATE1003'],
  )
})

test('limits: too many warnings do not keep a set from loading', () => {
  const lists = Array.from({ length: 5002 }, (_, i) => `  l${i}: {values: [a]}\n`).join('')
  const { set, diagnostics } = load({ 'a.yaml': `${HEADER}lists:\n${lists}` })
  assert.ok(set !== undefined)
  assert.deepEqual([diagnostics.length, diagnostics.at(-1)?.code], [5001, 'GATE2010'])
})

test('limits: as many misspelt names as declared ones are not all looked up', () => {
  const facts = Array.from({ length: 2500 }, (_, i) => `  context.declared_${i}: {type: number}\n`).join('')
  const rule = (i: number): string =>
    `  - {id: r${i}, actions: [a.b], effect: allow, reason: R., when: {fact: context.deklared_${i}, operator: equal, value: 1}}\n`
  const rules = Array.from({ length: 500 }, (_, i) => rule(i)).join('')
  const { diagnostics } = load({ 'a.yaml': `${HEADER}facts:\n${facts}rules:\n${rules}` })
  const undeclared = diagnostics.filter(({ code }) => code === 'GATE1203')
  assert.equal(undeclared.length, 500)
  const suggestions = undeclared.map(({ suggestion }) => suggestion)
  assert.deepEqual(suggestions.slice(0, 2), ['context.declared_0', 'context.declared_1'])
  assert.equal(suggestions.filter((one) => one !== null).length, 100)
})

test('limits: a list outside the folder is refused even when its content is at hand', () => {
  const lists = new Map([['../b/l.txt', Buffer.from('a')]])
  const { diagnostics } = load({ 'a.yaml': `${HEADER}lists: {l: {file: ../b/l.txt}}\n` }, lists)
  assert.deepEqual(spots(diagnostics), [
    ['GATE2002', 3, 9],
    ['GATE1213', 3, 19],
  ])
})

test('limits: 100,000 comparisons are what all rules and factors may ask together', () => {
  const leaf = (i: number) => `{"fact":"context.a","operator":"equal","value":${i}}`
  const conditions = `"conditions":{"big":{"any":[${Array.from({ length: 1000 }, (_, i) => leaf(i)).join()}]}}`
  const rule = (when: string) => (_: unknown, i: number) =>
    `{"id":"${when.length}-${i}","actions":["a"],"effect":"deny","reason":"R","when":${when}}`
  const rules = Array.from({ length: 99 }, rule('{"condition":"big"}'))
  const factor = '"risk":[{"name":"f","actions":["a"],"weight":1,"when":{"condition":"big"}}]'
  const set = (more: string[]) =>
    load({
      'a.json': `{"apiVersion":"gate-sidecar/v1","tenant":"acme",${conditions},${factor},"rules":[${[...rules, ...more].join()}]}`,
    })
  assert.equal(set([]).diagnostics.filter(({ severity }) => severity === 'error').length, 0)
  assert.deepEqual(
    set([rule(leaf(-1))(null, 0)])
      .diagnostics.filter(({ severity }) => severity === 'error')
      .map(({ code, path }) => [code, path]),
    [['GATE1020', '$.risk[0]']],
  )
})

fullTest('limits: of very many rules as many are analysed as the budget allows, and the same each time', () => {
  const part = (operator: string, value: number) => ({ fact: 'context.a', operator, value })
  const rules = Array.from({ length: 4000 }, (_, i) => ({
    id: `r${i}`,
    actions: [`a${i}`],
    effect: 'allow',
    reason: 'R',
    when: {
      all: [part('greaterThan', i), { fact: 'context.b', operator: 'equal', value: `b${i}` }, part('lessThan', i)],
    },
  }))
  const text = JSON.stringify({ apiVersion: 'gate-sidecar/v1', tenant: 'acme', rules })
  const found = () => load({ 'a.json': text }).diagnostics.filter(({ code }) => code === 'GATE2011')
  const [first, again] = [found(), found()]
  assert.deepEqual(first, again)
  assert.equal(first[0]?.path, '$.rules[0].when.all')
  assert.ok(first.length > 500 && first.length < rules.length, `${first.length} of ${rules.length} are reached`)
})

test('limits: faults of names as long as they can be are an answer of a few megabytes', () => {
  const long = 'x'.repeat(1000)
  const deep = Array.from({ length: 10 }, () => `{"type":"object","properties":{"${long}":`).join('')
  const unknown = Array.from({ length: 5000 }, (_, i) => `"k${i}":1`).join()
  const schema = `${deep}{${unknown}}${'}}'.repeat(10)}`
  const text = `{"apiVersion":"gate-sidecar/v1","tenant":"acme","${long}":1,"actions":{"a.b":{"context":${schema}}}}`
  const { diagnostics } = load({ 'a.json': text })
  assert.equal(diagnostics.length, 5001)
  assert.ok(diagnostics.every(({ message, path }) => message.length <= 500 && path.length <= 300))
  assert.match(diagnostics.at(-2)?.path ?? '', /^\$\.actions.+…x+\.k\d+$/)
  assert.ok(JSON.stringify(diagnostics).length < 8 * 1024 * 1024)
})

test('limits: no character is cut in two where a text is shortened', () => {
  for (const max of [8, 9, 10, 11]) assert.equal(shortened('😀'.repeat(20), max).isWellFormed(), true)
  assert.equal(shortened('0123456789', 7), '0123…89')
  assert.equal(shortened('0123456', 7), '0123456')
})

test('limits: of thousands of patterns that are counted, beside thousands of rules, it is not said whether they count nothing', () => {
  const counted = (count: number): string => {
    const list = (prefix: string) => Array.from({ length: count }, (_, i) => `"*.${prefix}${i}"`).join()
    const when = `{"fact":"history.count.c","operator":"lessThan","value":3}`
    const rules = `[{"id":"r","actions":[${list('r')}],"effect":"allow","reason":"R.","when":${when}}]`
    const counter = `{"actions":[${list('c')}],"within":"1h","by":"agent"}`
    return `{"apiVersion":"gate-sidecar/v1","tenant":"acme","history":{"count":{"c":${counter}}},"rules":${rules}}`
  }
  const codes = (count: number) => load({ 'a.json': counted(count) }).diagnostics.map(({ code }) => code)
  assert.deepEqual(codes(100), ['GATE2026'])
  const startedMs = processorMs()
  assert.deepEqual(codes(3500), [])
  // All pairs of 3,000 took 15 s.
  assert.ok(processorMs() - startedMs < 10_000)
})
