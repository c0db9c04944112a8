import { lastLineOf, lineIndexAt, linesOf, ownColumn } from '../yaml/lines.ts'
import { lineEndOf, type Source } from '../yaml/node.ts'
import type { Problem } from '../yaml/syntax.ts'
import {
  type Edit,
  EQUALS_SIGN,
  HASH_SIGN,
  KEYS,
  type Mending,
  mending,
  type Repair,
  replacement,
  together,
} from './repair.ts'

const CLOSING: Record<string, string> = { '[': ']', '{': '}' }
/** Texts in quotes and comments, inside which brackets mean nothing; and brackets. */
const PIECES = /(?<=^|[\s[{,:])(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?<=^|\s)#[^\n]*|[[\]{}]/g

/** Repairs of brackets, or of the text inside them. */
export function bracketRepairs({ place }: Problem, source: Source): Repair[] {
  const lines = linesOf(source.text)
  const index = lineIndexAt(lines, place.start)
  const line = lines[index]
  if (line === undefined || !/[[{]/.test(source.text.slice(line.start, line.end)))
    return commaRepairs(place.start, source)
  const last = lines[lastLineOf(lines, index, ownColumn(line))] ?? line
  const range = { start: line.start, end: last.end }
  return [
    hashRepair(line, source),
    separatorRepair(line, source),
    balance(range, source, 'open'),
    balance(range, source, 'insert'),
    balance(range, source, 'replace'),
    ...commaRepairs(place.start, source),
  ]
}

/** Interpretation of a bracket that another kind closes: a missing bracket, a wrong kind, or a missing opening one. */
type Reading = 'insert' | 'replace' | 'open'

function balance({ start, end }: { start: number; end: number }, source: Source, reading: Reading): Repair {
  const open: { closing: string; at: number }[] = []
  const edits: Edit[] = []
  const mendings: Mending[] = []
  const close = (before: number): void => {
    const { closing = '', at = start } = open.pop() ?? {}
    const until = closing === ']' ? endOfList(at, before, source) : before
    // The last part of a file may be incomplete.
    const isLast = source.text.slice(until).trim() === ''
    edits.push({ start: until, end: until, text: closing, ...(isLast ? { leftOut: 'rest' } : {}) })
    mendings.push(unclosed(at, until, closing, source))
  }
  const text = source.text.slice(start, end)
  for (const { 0: piece, index } of text.matchAll(PIECES)) {
    const at = start + index
    const closing = CLOSING[piece]
    if (closing !== undefined) open.push({ closing, at })
    if (piece !== ']' && piece !== '}') continue
    const top = open.at(-1)
    if (top?.closing === piece) open.pop()
    else if (reading === 'replace' && top !== undefined) {
      open.pop()
      edits.push({ start: at, end: at + 1, text: top.closing })
      const message = 'The bracket that is open here is closed by one of another kind.'
      mendings.push(mending(source, top.at, at + 1, message, source.text.slice(top.at, at) + top.closing))
    } else if (open.some((one) => one.closing === piece)) {
      while (open.at(-1)?.closing !== piece) close(at)
      open.pop()
    } else {
      const opened =
        reading === 'open' && piece === ']' ? lastValue(text.slice(Math.max(0, index - 300), index)) : undefined
      if (opened === undefined) edits.push({ start: at, end: at + 1, text: '' })
      else edits.push({ start: at - opened, end: at - opened, text: '[' })
      const message =
        opened === undefined
          ? 'This bracket closes nothing; remove it, or open one of its kind.'
          : 'There is no open bracket that this closes.'
      mendings.push(mending(source, at, at + 1, message))
    }
  }
  // Brackets that are all open at the end have one cause, which the outermost shows.
  const [outermost, ...inner] = open.map(({ at }) => at)
  const known = mendings.length
  while (open.length > 0) close(end)
  if (outermost !== undefined && inner.length > 0) {
    mendings.length = known
    const message = `This bracket and ${inner.length} more inside it are never closed.`
    mendings.push(mending(source, outermost, outermost + 1, message))
  }
  return { edits: edits.sort((a, b) => a.start - b.start), mendings }
}

/** The offset at which a list ends: before a key that no item of a list has, as in `{actions: [x, effect: deny}`. */
function endOfList(at: number, before: number, { text }: Source): number {
  const inside = text.slice(at + 1, before)
  const next = /, *([A-Za-z]+): /.exec(inside)
  return next === null || !KEYS.has(next[1] ?? '') || /[[{"']/.test(inside.slice(0, next.index))
    ? before
    : at + 1 + next.index
}

function unclosed(at: number, before: number, closing: string, source: Source): Mending {
  const whole = source.text.slice(at, before).trimEnd()
  const message = 'This bracket is never closed.'
  if (whole.includes('\n')) return mending(source, at, at + 1, message)
  return mending(source, at, at + whole.length, message, whole + closing)
}

/** Length of the value before the bracket that should close it: `in, value: DE, FR]`. */
function lastValue(before: string): number | undefined {
  const value = /: +([^:[\]{}]+,[^:[\]{}]+)$/.exec(before)?.[1]
  return value?.length
}

const NO_COMMA = /(?<=[\w"'\]}.*)-])( +)([A-Za-z]+)(?=:(?: |$))/g
const EQUALS = /(?<=[{,] *)([A-Za-z]+) *=>? *(\[[^\]]*\]|[^\s,\]}]+)/g

/** `{id: x actions: [a.b]}` and `{id=x, actions=[a.b]}`. */
function separatorRepair(line: { start: number; end: number }, source: Source): Repair {
  const text = source.text.slice(line.start, line.end)
  const bare = text.replace(PIECES, (piece) => (/^["'#]/.test(piece) ? piece.replace(/[^"']/g, '_') : piece))
  const from = bare.indexOf('{')
  const repairs: Repair[] = []
  for (const { 1: gap = '', 2: key = '', index } of bare.matchAll(NO_COMMA)) {
    if (from < 0 || index < from || !KEYS.has(key)) continue
    const at = line.start + index
    const keyAt = at + gap.length
    const fault = mending(source, keyAt, keyAt + key.length, `A comma is missing before ${key}.`, `, ${key}`)
    repairs.push({ edits: [{ start: at, end: at, text: ',' }], mendings: [fault] })
  }
  for (const { 0: whole, 1: key = '', 2: value = '', index } of bare.matchAll(EQUALS)) {
    if (from < 0 || index < from || !KEYS.has(key)) continue
    const start = line.start + index
    const end = start + whole.length
    const valueAt = end - value.length
    const fault = mending(source, start, end, EQUALS_SIGN, `${key}: ${source.text.slice(valueAt, end)}`)
    repairs.push({ edits: [{ start: start + key.length, end: valueAt, text: ': ' }], mendings: [fault] })
  }
  return together(repairs)
}

/** Adds a comma before the text that follows a value inside brackets, also on another line. */
function commaRepairs(at: number, source: Source): Repair[] {
  const before = source.text.slice(0, at).trimEnd()
  // A word after a text in quotes goes on with it, unless it is a key.
  const next = /["']$/.test(before) ? /^(?:["'[{]|[\w.-]+:)/ : /^["'[{\w]/
  if (!/["'\]}\w]$/.test(before) || !next.test(source.text.slice(at, at + 200))) return []
  const edit = { start: before.length, end: before.length, text: ',' }
  const word = /^["']?[\w.-]+["']?/.exec(source.text.slice(at))?.[0] ?? source.text.slice(at, at + 1)
  const fault = mending(source, at, at + word.length, 'A comma is missing before this.', `, ${word}`)
  return [{ edits: [edit], mendings: [fault] }]
}

/** `{value: #none }`, where the comment takes the closing bracket with it. */
function hashRepair(line: { start: number; end: number }, source: Source): Repair {
  const whole = source.text.slice(line.start, lineEndOf(source.text, line.start))
  const text = /[[{][^#]*[:,[] +(#[^\s,\]}]+)[^#]*[\]}]/.exec(whole)?.[1]
  if (text === undefined) return { edits: [], mendings: [] }
  const start = line.start + whole.indexOf(text)
  return replacement(source, start, start + text.length, JSON.stringify(text), HASH_SIGN)
}
