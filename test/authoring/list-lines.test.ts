import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { load, marked, spots } from './sources.ts'

const POLICY = `apiVersion: gate-sidecar/v1
tenant: acme
lists: { l: { file: ./lists/l.txt } }
rules:
  - { id: r, actions: [a.b], effect: deny, reason: R., when: { fact: agent, operator: inList, value: l } }
`

function loadList(text: string) {
  return load({ 'main.yaml': POLICY }, new Map([['./lists/l.txt', Buffer.from(text)]]))
}

/** What a line is, with the value that is suggested in its place; null where none is. */
const DOUBTFUL: [name: string, text: string, suggestion?: string | null][] = [
  ['codes', 'IR\nKP\n# SY\n\nCU\n'],
  ['a comment behind a value', '«2027»IR # Iran\nKP\n', 'IR'],
  ['a comment of another language', 'KP\n«2027»IR  // Iran\n', 'IR'],
  ['a comment of SQL', 'KP\n«2027»IR -- Iran\n', 'IR'],
  ['a sign inside a value', 'room#5\nc#\n'],
  ['quotes', '  «2027»"KP"\r\nIR\r\n', 'KP'],
  ['quotes of a word processor', '«2027»“KP”\n', 'KP'],
  ['a line of JSON', '«2027»"KP",\n', 'KP'],
  ['a quotation inside a name', 'The "Blue" Bank\n'],
  ['a dash', '«2027»- KP\n', 'KP'],
  ['a dash and quotes', "«2027»- 'KP'\n", 'KP'],
  ['a number', '«2027»1. KP\n', 'KP'],
  ['a negative number', '-5\n-6\n'],
  ['brackets', '«2027»[KP, IR]\n', null],
  ['two values', '«2027»KP, IR\nSY\n', null],
  ['columns', '«2027»KP;North\nIR\nSY\n', null],
  ['a comma at the end', '«2027»KP,\nIR\n', 'KP'],
  ['names with commas', 'Doe, John\nMiller, Ann\nIR\n'],
  ['a name with a comma', 'Acme, Inc.\nGlobex\n'],
  ['tabs', 'KP\nIR\n«2027»SY\tSyria\n', null],
  ['a wildcard', 'a.example.com\n«2027»*.evil.example\n', null],
  ['a range', '10.0.0.1\n«2027»10.0.0.0/8\n', null],
  ['a path', 'reports/2026\n'],
  ['a letter of another alphabet', 'IR\n«2027»КP\n', 'KP'],
  ['a sign that cannot be seen', '«2027»KP\u200b\n', 'KP'],
  ['words of another alphabet', 'Ирак\nМосква\n'],
  ['words with accents', 'Müller\nÉire\n'],
  ['words behind a code', 'IR\nKP\nSY\n«2027»CU Cuba\n', 'CU'],
  ['names of several words', 'Blue Bank\nRed\nGreen Fund\n'],
  ['commands of one word and of two', 'ls\npwd\nwhoami\ngit status\n'],
  ['addresses with parameters', 'https://a.example/search?q=1\n/search?q=1\n'],
  ['a wildcard for one sign', 'a.txt\n«2027»b?.txt\n', null],
  ['media types', 'text/html\napplication/json\ntext/plain;charset=utf-8\n'],
  ['a word of another alphabet', 'pinene\nα-pinene\nµg\n'],
  ['a code in small letters', 'IR\n«2027»kp\n', 'KP'],
  ['an address in capitals', 'a@x.example\nb@x.example\n«2027»Carl@x.example\n', 'carl@x.example'],
  ['names with capitals', 'Ann\nBob\nCarl\n'],
  ['a line too long to be a typo', `${'x '.repeat(300)}# y\n`],
]

for (const [name, list, suggestion] of DOUBTFUL) {
  test(`a list file with ${name}`, () => {
    const { text, wanted } = marked(list)
    const { set, diagnostics } = loadList(text)
    assert.deepEqual(spots(diagnostics), wanted)
    for (const { file, suggestion: given } of diagnostics) {
      assert.equal(file, 'acme/lists/l.txt')
      assert.equal(given, suggestion)
    }
    assert.ok(set !== undefined, 'a doubt does not keep the set from loading')
  })
}

test('a comment in the list file keeps a line from being reported, and is reported when it ignores nothing', () => {
  const { text, wanted } = marked(
    'KP\n# lint-ignore GATE2027: that is its name\n*\n  «2024»# lint-ignore GATE2027: once\nIR\n«2021»# lint-ignore\n',
  )
  assert.deepEqual(spots(loadList(text).diagnostics), wanted)
})

test('the line of a list file is quoted', () => {
  const { diagnostics } = loadList('KP\n  IR # Iran\n')
  assert.deepEqual(
    diagnostics.map(({ line, column, endColumn }) => [line, column, endColumn]),
    [[2, 3, 12]],
  )
})

test('whatever a list says, its values are its lines', () => {
  const line = fc.stringMatching(/^[ \t,;#"'*a-zA-Z0-9/.-]{0,500}$/)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const { set } = loadList(lines.join('\n'))
      const values = lines.map((one) => one.trim()).filter((one) => one !== '' && !one.startsWith('#'))
      assert.deepEqual(set?.lists.get('l'), values)
    }),
  )
})
