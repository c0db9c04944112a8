import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/base/json.ts'

/** Picks the nth of some ways, by a random number each time it is asked. */
type Choose = (ways: number) => number

const TEXTS = [
  'yes', 'NO', 'null', '~', '012', '1.0', '1e3', '2026-01-01', '0x1f', '-', '?', '', ' ', ' a', 'a ', 'a b', 'a  b c',
  'payment.*', '*', '**', '@x', '%', '#', 'a #b', 'a: b', 'a:', ':a', '- a', '{a}', '[a]', 'a, b', '"', "'", "it's",
  'a"b', 'a\\b', '\\', '\t', 'a\tb', 'a\nb', 'a\n\nb\n', '\na', 'a\n b\nc', '  a\nb', 'é ü ñ', '日本語', '👍🏽', 'a\u00a0b', '\u2028', '\u0085x',
  '^(?:a|b)$', '(^|/)\\.\\.?(/|$)', 'a'.repeat(130), 'word '.repeat(40).trim(), 'two lines of words\nthat go on '.repeat(9).trim(),
] // biome-ignore format: a table

const scalar = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
  fc.constantFrom(null, true, false, 0, -1, 1.5, 12),
)
const key = fc.oneof(
  fc.constantFrom('id', 'when', 'a b', 'yes', '1', 'a.*', 'a: b', '"q"', '#', 'x\ny', 'é'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
)

const tree = fc.letrec<{ value: Json; map: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: 'medium' }, scalar, fc.array(tie('value'), { maxLength: 4 }), tie('map')),
  map: fc.dictionary(
    key.filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name)),
    tie('value'),
    { maxKeys: 4 },
  ),
}))

/**
 * A YAML text of a random document in a random style, with comments in all places where they may stand, which are called
 * `#c0`, `#c1` and so on; `comments` are their numbers.
 */
export const randomYaml = fc
  .tuple(tree.map, fc.array(fc.nat(997), { minLength: 60, maxLength: 200 }))
  .map(([document, numbers]) => {
    let at = 0
    const choose: Choose = (ways) => {
      at += 1
      return ((numbers[at % numbers.length] ?? 0) + at) % ways
    }
    const unnumbered = randomText(document, choose)
    const comments: number[] = []
    const body = unnumbered.replaceAll('#c', () => `#c${comments.push(comments.length) - 1}`)
    const text = [body, `---\n${body}`, `${body}...\n`, `\ufeff${body}`][choose(8)] ?? body
    return { text: choose(4) === 0 ? text.replaceAll('\n', '\r\n') : text, comments }
  })

function randomText(document: JsonObject, choose: Choose): string {
  if (Object.keys(document).length === 0) return `${gap(0, choose)}{}${remark(choose)}\n`
  return blockMap(document, choose(4) === 0 ? 1 : 0, choose) + gap(0, choose)
}

/** Empty lines and comments before a line. */
function gap(indent: number, choose: Choose): string {
  const lines = [
    '',
    '',
    '',
    '\n',
    '\n\n',
    `${' '.repeat(indent)}#c above\n`,
    '#c at the left\n',
    `\n${' '.repeat(indent)}#c\n  \n`,
  ]
  return (lines[choose(lines.length)] ?? '') + (choose(5) === 0 ? `${' '.repeat(choose(9))}#c deep: {"x"}\t \n` : '')
}

function remark(choose: Choose): string {
  return [' #c beside', '  #c', '\t#c tab\there', ' ', ' #c "quoted: #'][choose(12)] ?? ''
}

function blockMap(map: JsonObject, indent: number, choose: Choose): string {
  return Object.entries(map)
    .map(
      ([name, value]) =>
        `${gap(indent, choose)}${' '.repeat(indent)}${keyText(name, choose)}:${member(value, indent, choose)}`,
    )
    .join('')
}

function blockList(list: readonly Json[], indent: number, choose: Choose): string {
  return list
    .map((value) => {
      const dash = `${gap(indent, choose)}${' '.repeat(indent)}-`
      const isMap =
        typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      if (!isMap || choose(3) === 0) return dash + member(value, indent, choose)
      return `${dash} ${blockMap(value, indent + 2, choose).replace(/^(?:\s*(?:#.*)?\n)*\s*/, '')}`
    })
    .join('')
}

/** Returns the text after a key or a dash, with the end of its line. */
function member(value: Json, indent: number, choose: Choose): string {
  const inner = indent + 1 + choose(4)
  if (value === null && choose(2) === 0) return `${remark(choose)}\n`
  if (typeof value === 'object' && value !== null && choose(4) > 0) {
    if (Array.isArray(value)) {
      if (value.length > 0) return `${remark(choose)}\n${blockList(value, inner, choose)}`
    } else if (Object.keys(value).length > 0) return `${remark(choose)}\n${blockMap(value, inner, choose)}`
  }
  if (typeof value === 'string' && choose(3) === 0) {
    const text = literal(value, inner, choose)
    if (text !== undefined) return text
  }
  const before = choose(8) === 0 ? `${remark(choose)}\n${' '.repeat(inner)}` : ' '.repeat(1 + choose(2))
  return `${before}${flow(value, inner, choose)}${remark(choose)}\n`
}

/** A block scalar, where the text can be one. */
function literal(text: string, indent: number, choose: Choose): string | undefined {
  if (/^[\s]|[^\n\x20-\x7e\u00a1-\uffee]|^$/.test(text)) return undefined
  const newlines = /\n*$/.exec(text)?.[0].length ?? 0
  const chomp = newlines === 0 ? '-' : newlines === 1 ? '' : '+'
  const lines = text.slice(0, text.length - newlines).split('\n')
  const body = lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line)).join('\n')
  return ` |${chomp}${choose(4) === 0 ? ' #c header' : ''}\n${body}\n${chomp === '+' ? '\n'.repeat(newlines - 1) : chomp === '' && choose(2) === 0 ? '\n' : ''}`
}

function flow(value: Json, indent: number, choose: Choose): string {
  if (typeof value !== 'object' || value === null) return scalarText(value, indent, choose)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const members = Array.isArray(value)
    ? value.map((item) => flow(item, indent, choose))
    : Object.entries(value).map(([name, item]) => `${keyText(name, choose)}: ${flow(item, indent, choose)}`)
  const space = (): string =>
    [' ', '', ` #c in\n${' '.repeat(indent)}`, `\n\n${' '.repeat(indent)}#c own\n${' '.repeat(indent)}`, '  '][
      choose(7)
    ] ?? ' '
  const last = members.length > 0 && choose(4) === 0 ? ',' : ''
  return `${open}${space()}${members.join(`${space()},${space()} `)}${last}${space()}${close}`
}

function keyText(name: string, choose: Choose): string {
  if (/^[a-z.]+$/.test(name) && choose(2) === 0) return name
  return isShown(name) && choose(2) === 0 ? `'${name.replaceAll("'", "''")}'` : JSON.stringify(name)
}

function scalarText(value: string | number | boolean | null, indent: number, choose: Choose): string {
  if (typeof value !== 'string') return value === null ? (['null', '~', 'NULL'][choose(3)] ?? 'null') : String(value)
  const isWords = /^[a-z]+(?: [a-z]+)+$/.test(value)
  if (isWords && choose(2) === 0)
    return value.replaceAll(' ', () => (choose(5) === 0 ? `\n${' '.repeat(indent)}` : ' '))
  if (/^[a-z.]+$/.test(value) && choose(2) === 0 && !['yes', 'null'].includes(value)) return value
  if (isShown(value) && choose(2) === 0) return `'${value.replaceAll("'", "''")}'`
  const text = JSON.stringify(value)
  return isWords && choose(2) === 0 ? text.replace(' ', `\n${' '.repeat(indent)}`) : text
}

const isShown = (text: string): boolean => /^[\x20-\x7e\u00a1-\u1fff]*$/.test(text)
