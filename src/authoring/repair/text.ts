import { codePointOf } from '../../base/visible.ts'
import { type Source, sourceOf } from '../yaml/node.ts'
import { type Edit, MAX_LINE, type Mending, mending, type Repair, replacement, together } from './repair.ts'

/** Removes the lines around a block of code on a web page. */
export function fenceRepair(source: Source): Repair {
  const fences = [...source.text.matchAll(/^```.*$/gm)]
  const edits = fences.map(({ 0: line, index }) => ({ start: index, end: index + line.length, text: '' }))
  const [first] = edits
  const message = 'This line is the edge of a block of code of a web page; remove it.'
  return { edits, mendings: first === undefined ? [] : [mending(source, first.start, first.end, message)] }
}

const CONFLICT = /^<{7}(?: .*)?\r?\n([\s\S]*?)(?:^\|{7}(?: .*)?\r?\n[\s\S]*?)?^={7}\r?\n[\s\S]*?^>{7}(?: .*)?$/gm

/** Keeps the first side of each conflict, and every line break. */
export function conflictRepair(source: Source): Repair {
  const blank = (start: number, end: number): Edit => {
    return { start, end, text: source.text.slice(start, end).replace(/[^\n]/g, ' ') }
  }
  const message = 'A merge conflict is left here; keep one of the two sides, and remove the three lines that mark them.'
  const conflicts = [...source.text.matchAll(CONFLICT)].map(({ 0: whole, 1: ours = '', index }) => {
    const from = index + whole.indexOf('\n') + 1
    const edits = [blank(index, from), blank(from + ours.length, index + whole.length)]
    return { edits, mendings: [mending(source, index, index + 7, message)] }
  })
  return together(conflicts)
}

/** Cuts out values and lines that a tool such as Helm or Jinja should have filled in. */
export function templateRepair(source: Source, starts: readonly number[]): Repair {
  const message =
    'This is a template that is not filled in; let its tool write the file, or put it in quotes if it is a text.'
  const templates = starts.flatMap((start): Repair[] => {
    const lineStart = source.text.lastIndexOf('\n', start - 1) + 1
    const [line = ''] = source.text.slice(lineStart, lineStart + MAX_LINE).split('\n', 1)
    const at = start - lineStart
    const end = Math.max(line.indexOf('}}', at), line.indexOf('%}', at)) + 2
    // With more text behind it, it is the beginning of a text.
    if (end < at + 4 || !/^ *(?:[,\]}#\r]|$)/.test(line.slice(end))) return []
    const isLine = line.slice(0, at).trim() === '' && line.slice(end).trim() === ''
    const place = { start, end: lineStart + end }
    const edit: Edit = isLine ? { ...place, text: '', leftOut: 'entry' } : { ...place, text: '~', leftOut: 'value' }
    return [{ edits: [edit], mendings: [mending(source, start, lineStart + end, message)] }]
  })
  return together(templates)
}

const ODD = '\\u00a0\\u1680\\u2000-\\u200f\\u202f\\u205f\\u2060\\u3000\\ufeff'
/** Odd spaces before the first word of a line, after the dash of an item, or after the colon of a key. */
const ODD_SPACE = new RegExp(
  `^([ ]*(?:-(?: +|(?=[${ODD}])))?(?:["']?[\\w.-]+["']?:)?)([ ${ODD}]*[${ODD}][ ${ODD}]*)`,
  'gm',
)

export function oddSpaceRepair(source: Source): Repair {
  const runs = [...source.text.matchAll(ODD_SPACE)].map(({ 1: before = '', 2: run = '', index }) => {
    const start = index + before.length
    const end = start + run.length
    const text = run.replace(/[\u200b-\u200f\u2060\ufeff]/g, '').replace(/./gu, ' ')
    const at = start + run.search(/[^ ]/)
    const message = `This is not an ordinary space but ${codePointOf(source.text.slice(at, at + 1))}, which YAML reads as a letter; write an ordinary space.`
    return { edits: [{ start, end, text }], mendings: [mending(source, at, end, message, text)] }
  })
  return together(runs)
}

const FULL_WIDTH: Record<string, string> = { '：': ': ', '，': ', ', '［': '[', '］': ']', '｛': '{', '｝': '}' }
/** Full-width signs after the key that begins a line or follows a bracket or comma; between keys; around a list. */
const WIDE_SIGN =
  /(?<=^ *(?:- +)*(?:[{｛] *)?[A-Za-z]+|[,，] *[A-Za-z]+)： *|， *(?=[A-Za-z]+[:：])|(?<=[:：-] *)[［｛]|[］｝](?= *(?:[,，}\]］｝]|$))/gm

/** Replaces the full-width signs of Chinese and Japanese keyboards. */
export function fullWidthRepair(source: Source): Repair {
  const signs = [...source.text.matchAll(WIDE_SIGN)].map(({ 0: whole, index }) => {
    const sign = whole.slice(0, 1)
    const plain = FULL_WIDTH[sign] ?? sign
    const message = `This is the full-width sign ${codePointOf(sign)}, which YAML reads as a letter; write "${plain.trim()}" in its place.`
    return replacement(source, index, index + whole.length, plain, message)
  })
  return together(signs)
}

/** Replaces tabs in indentation. They are one fault, at the first: tabs usually run through a whole file. */
export function tabRepair(source: Source, width: number): Repair {
  const edits: Edit[] = []
  const mendings: Mending[] = []
  for (const start of sourceOf(source.file, source.text).lineStarts) {
    const indent = /^[ ]*\t[ \t]*(?=[^\s#])/.exec(source.text.slice(start, start + 500))?.[0]
    if (indent === undefined) continue
    edits.push({ start, end: start + indent.length, text: indent.replaceAll('\t', ' '.repeat(width)) })
    if (mendings.length === 0) mendings.push(mending(source, start, start + indent.length, TABS))
  }
  return { edits, mendings }
}

const TABS = 'Indentation must be made of spaces, not tabs.'
