import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Diagnostic } from '../../src/authoring/diagnostics/diagnostics.ts'
import { excerptOf } from '../../src/authoring/diagnostics/excerpt.ts'
import { formatDiagnostics, githubCommand } from '../../src/authoring/diagnostics/formats.ts'
import { sarifLog } from '../../src/authoring/diagnostics/sarif.ts'
import { formatDiagnostic, PLAIN } from '../../src/authoring/diagnostics/text.ts'
import { columnsOf } from '../../src/base/columns.ts'
import { processorMs } from '../processor.ts'

const FAULT: Diagnostic = {
  file: 'acme/main.yaml',
  line: 7,
  column: 3,
  severity: 'error',
  code: 'GATE1101',
  message: 'There is no key "rulez" here.',
  path: '$.rulez',
  suggestion: null,
}

/** A line with `«fault»` marked, and what is shown of it and below it. */
const LINES: { name: string; line: string; shown: string; below: string; columns?: number }[] = [
  { name: 'plain', line: 'a: «bad»', shown: 'a: bad', below: '   ^^^' },
  { name: 'a point', line: 'a: «»b', shown: 'a: b', below: '   ^' },
  { name: 'behind the end', line: 'a:«»', shown: 'a:', below: '  ^' },
  { name: 'an empty line', line: '«»', shown: '', below: '^' },
  { name: 'a tab is four columns', line: '\ta:\t«b»', shown: '    a:    b', below: '          ^' },
  { name: 'a tab at fault', line: '«\t»a', shown: '    a', below: '^^^^' },
  { name: 'wide characters before', line: '名前: «bad»', shown: '名前: bad', below: '      ^^^' },
  { name: 'wide characters at fault', line: 'id: «支払い»', shown: 'id: 支払い', below: '    ^^^^^^' },
  { name: 'an emoji is two units and two columns', line: '👍 «b»', shown: '👍 b', below: '   ^' },
  { name: 'a flag is four units and two columns', line: '🇩🇪 «b»', shown: '🇩🇪 b', below: '   ^' },
  { name: 'marks take no column', line: 'e\u0301a\u0308 «b»', shown: 'e\u0301a\u0308 b', below: '   ^' },
  { name: 'a mark at fault: below what it stands on', line: 'ae«\u0301»b', shown: 'ae\u0301b', below: ' ^' },
  { name: 'a mark on nothing', line: '\u0301«b»', shown: '◌\u0301b', below: ' ^' },
  { name: 'control characters', line: '\u001b«b»', shown: '\\u{1b}b', below: '      ^' },
  { name: 'a control character at fault', line: 'a«\u202e»b', shown: 'a\\u{202e}b', below: ' ^^^^^^^^' },
  { name: 'half of a pair', line: '👍«»'.slice(1), shown: '�', below: ' ^' },
  {
    name: 'long, at the beginning',
    line: `«bad» ${'x'.repeat(50)}`,
    shown: `bad ${'x'.repeat(14)}…`,
    below: '^^^',
    columns: 20,
  },
  {
    name: 'long, at the end',
    line: `${'x'.repeat(50)} «bad»`,
    shown: `…${'x'.repeat(14)} bad`,
    below: `${' '.repeat(16)}^^^`,
    columns: 20,
  },
  {
    name: 'long, in the middle',
    line: `${'x'.repeat(50)}«bad»${'y'.repeat(50)}`,
    shown: '…xxxxxxbadyyyyyyyyy…',
    below: '       ^^^',
    columns: 20,
  },
  {
    name: 'a fault that is long itself',
    line: `a: «${'x'.repeat(50)}»`,
    shown: `a: ${'x'.repeat(15)}…`,
    below: `   ${'^'.repeat(15)}`,
    columns: 20,
  },
]

for (const { name, line, shown, below, columns = 80 } of LINES) {
  test(`excerpt: ${name}`, () => {
    const [before = '', fault = '', after = ''] = line.split(/[«»]/)
    const excerpt = excerptOf(before + fault + after, before.length, before.length + fault.length, columns)
    assert.equal(excerpt.text.replace(/\p{Cs}/gu, '�'), shown)
    assert.equal(`${' '.repeat(excerpt.indent)}${'^'.repeat(excerpt.width)}`, below)
  })
}

const CHARS = fc.constantFrom('a', ' ', '"', '名', '👍', 'e\u0301', '\t', '\u001b', '\u202e', 'ｱ', '🇩🇪', '\u0301', 'é')
const TEXTS = fc.string({ unit: CHARS, maxLength: 60 })

test('excerpt: it is never wider than it may be, and the carets stand in it', () => {
  fc.assert(
    fc.property(TEXTS, TEXTS, TEXTS, fc.integer({ min: 20, max: 90 }), (before, fault, after, columns) => {
      const line = before + fault + after
      const { text, indent, width } = excerptOf(line, before.length, before.length + fault.length, columns)
      assert.ok(columnsOf(text) <= columns, text)
      // A fault behind the end has its caret behind the end.
      assert.ok(indent + width <= Math.max(columnsOf(text), indent + 1))
      assert.doesNotMatch(text, /[\p{Cc}\p{Cf}]/u)
    }),
  )
})

test('excerpt: as many columns stand before the carets as before the fault', () => {
  fc.assert(
    fc.property(TEXTS, TEXTS, (before, after) => {
      // A letter of its own: marks would belong to what stands before them.
      const { text, indent, width } = excerptOf(`${before}F${after}`, before.length, before.length + 1, 4000)
      const upTo = text.indexOf('F')
      assert.equal(columnsOf(text.slice(0, upTo)), indent)
      assert.equal(width, 1)
    }),
  )
})

test('excerpt: a line of a megabyte costs what a short one does', () => {
  const line = 'x'.repeat(1024 * 1024)
  const start = processorMs()
  for (let i = 0; i < 20; i += 1) excerptOf(line, 500_000, 600_000, 160)
  assert.ok(processorMs() - start < 1000)
})

/** Whole faults as text. */
const TEXT_ROWS: { name: string; fault: Partial<Diagnostic>; line: string | undefined; text: string }[] = [
  {
    name: 'path and suggestion',
    fault: { endColumn: 8, suggestion: 'rules' },
    line: '  rulez: []',
    text: 'acme/main.yaml:7:3 error GATE1101 There is no key "rulez" here.\n 7 |   rulez: []\n   |   ^^^^^ did you mean `rules`?\n   = at $.rulez',
  },
  {
    name: 'no line: one line of text',
    fault: { suggestion: 'rules' },
    line: undefined,
    text: 'acme/main.yaml:7:3 error GATE1101 There is no key "rulez" here. (did you mean `rules`?)',
  },
  {
    name: 'about the file: its first line tells nothing',
    fault: { code: 'GATE1005', line: 1, column: 1, message: 'The file has no content.', path: '' },
    line: '# a comment',
    text: 'acme/main.yaml:1:1 error GATE1005 The file has no content.',
  },
  {
    name: 'about the whole document: the path tells nothing',
    fault: { line: 1, column: 1, endColumn: 3, path: '$', message: 'M.' },
    line: '[]',
    text: 'acme/main.yaml:1:1 error GATE1101 M.\n 1 | []\n   | ^^',
  },
  {
    name: 'an empty line at the end of the file',
    fault: { line: 120, column: 1, path: '', message: 'M.' },
    line: '',
    text: 'acme/main.yaml:120:1 error GATE1101 M.\n 120 |\n     | ^',
  },
  {
    name: 'what others wrote steers no terminal',
    fault: { file: 'acme/\u001b.yaml', message: 'a\nb\u202e', path: '$["\u009b"]', suggestion: '\u0007' },
    line: '  x',
    text: 'acme/\\u{1b}.yaml:7:3 error GATE1101 a\\u{a}b\\u{202e}\n 7 |   x\n   |   ^ did you mean `\\u{7}`?\n   = at $["\\u{9b}"]',
  },
]

for (const { name, fault, line, text } of TEXT_ROWS) {
  test(`text: ${name}`, () => assert.equal(formatDiagnostic({ ...FAULT, ...fault }, line), text))
}

test('text: a message as long as a file is cut in its middle', () => {
  const [head = ''] = formatDiagnostic({ ...FAULT, message: `No ${'x'.repeat(1e6)}; write y.` }, '').split('\n')
  assert.ok(head.length < 500)
  assert.match(head, / No x+…x+; write y\.$/)
})

test('github: what is special in a command is escaped, in properties and message', () => {
  const fault = { ...FAULT, file: 'a,b:c%d.yaml', message: '100%: a,\r\n::error::b', endColumn: 5, suggestion: '%0A' }
  assert.equal(
    githubCommand(fault, 'policies/a,b:c%d.yaml'),
    '::error file=policies/a%2Cb%3Ac%25d.yaml,line=7,col=3,endColumn=5,title=GATE1101::100%25: a,\\u{d}\\u{a}::error::b Did you mean `%250A`? See docs/errors/GATE1101.md.',
  )
})

test('github: whatever others wrote, a fault is one command in one line', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(':', ',', '%', '\n', '\r', '0A', 'file=', '::error', '\u2028', 'x'),
  })
  fc.assert(
    fc.property(hostile, hostile, hostile, (file, message, suggestion) => {
      const command = githubCommand({ ...FAULT, message, suggestion }, file)
      const [, name = '', told = ''] =
        /^::error file=([^,:\r\n\u2028]*),line=7,col=3,title=GATE1101::(.*)$/.exec(command) ?? []
      assert.notEqual(told, '', command)
      const decoded = (text: string) => decodeURIComponent(text.replace(/%(?!25|3A|2C)/g, 'BROKEN%'))
      assert.doesNotMatch(decoded(name) + decoded(told), /BROKEN/)
    }),
  )
})

test('sarif: file names are URIs, whatever they are made of', () => {
  const [run] = sarifLog([{ ...FAULT, suggestion: 'rules' }], () => 'p/a b#%?\ud83d.yaml', '1.2.3').runs as {
    results: { message: object; locations: { physicalLocation: object }[] }[]
  }[]
  assert.deepEqual(run?.results[0]?.message, { text: 'There is no key "rulez" here. Did you mean `rules`?' })
  assert.deepEqual(run?.results[0]?.locations[0]?.physicalLocation, {
    artifactLocation: { uri: 'p/a%20b%23%25%3F%EF%BF%BD.yaml', uriBaseId: '%SRCROOT%' },
    region: { startLine: 7, startColumn: 3 },
  })
})

test('text: the page of an error is named before that of a warning', () => {
  const warning = { ...FAULT, severity: 'warning', code: 'GATE2002' } as const
  const findings = { diagnostics: [warning, FAULT], linesOf: () => [], summary: '1 policy set: …' }
  const text = formatDiagnostics('text', findings, { look: PLAIN, folder: 'policies', version: '1.2.3' })
  assert.match(
    text,
    /\n\nFor the cause and the fix of a code, run `gate-sidecar explain GATE1101`\.\n1 policy set: …\n$/,
  )
})
