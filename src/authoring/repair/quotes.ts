import { yamlText } from '../suggest/written.ts'
import { type Line, lastLineOf, lineIndexAt, linesOf } from '../yaml/lines.ts'
import { lineEndOf, type Source } from '../yaml/node.ts'
import type { Problem } from '../yaml/syntax.ts'
import { KEYS, mending, type Repair, replacement, TEXT_KEYS } from './repair.ts'

const UNCLOSED = 'This quote is never closed.'

/** Repairs of texts in quotes, and of texts that need them. */
export function quoteRepairs({ code, place }: Problem, source: Source): Repair[] {
  const { text } = source
  const lines = linesOf(text)
  const index = lineIndexAt(lines, place.start)
  const line = lines[index]
  if (line === undefined) return []
  const end = text.slice(0, lineEndOf(source.text, line.start)).trimEnd().length
  if (code === 'UNCLOSED') {
    if (!/["']/.test(text[place.start] ?? '')) return []
    return [...closings(place.start, end, line, source), ...laterClosing(place.start, lines, index, source)]
  }
  const several = severalTexts(line, source)
  if (several.length > 0) return several
  return [...trailing(line, source), ...beyondQuote(place.start, line, source), ...unquoted(lines, index, source)]
}

/** Closes a quote at the end of the line, or before the end of a value inside brackets. */
function closings(start: number, lineEnd: number, line: Line, source: Source): Repair[] {
  const { text } = source
  const quote = text[start] ?? ''
  const rest = text.slice(start + 1, lineEnd)
  const isInside = /[[{]/.test(text.slice(line.start, start))
  const ends = isInside ? [/ *[\]}]*[,;]?$/, /[,\]}]/, / *[\]}]$/].map((mark) => rest.search(mark)) : [rest.length]
  return [...new Set(ends)]
    .filter((at) => at >= 0)
    .map((at) => {
      const closed = start + 1 + at
      return {
        edits: [{ start: closed, end: closed, text: quote }],
        mendings: [mending(source, start, closed, UNCLOSED, text.slice(start, closed) + quote)],
      }
    })
}

/** Closes a quote at the end of the last line below that can only continue the text. */
function laterClosing(start: number, lines: readonly Line[], index: number, source: Source): Repair[] {
  const line = lines[index]
  const below = lines.slice(index + 1)
  const count = below.findIndex(
    ({ isEmpty, indent, key, dashes }) =>
      isEmpty || key !== undefined || dashes.length > 0 || indent <= (line?.column ?? 0),
  )
  const last = below[(count < 0 ? below.length : count) - 1]
  if (line === undefined || last === undefined) return []
  const edit = { start: last.end, end: last.end, text: source.text[start] ?? '' }
  return [{ edits: [edit], mendings: [mending(source, start, line.end, UNCLOSED)] }]
}

/** Removes the marks after a value: `actions: [a.b];` and `reason: "R.",` */
function trailing(line: Line, source: Source): Repair[] {
  const found = /^(["'[{].*["'\]}])( *[;,]+)$/.exec(source.text.slice(line.value, line.end))
  if (found === null) return []
  const [, value = '', marks = ''] = found
  const start = line.value + value.length
  const at = line.end - marks.trim().length
  const message = `A value ends with its line; remove the ${marks.trim()} after it.`
  return [{ edits: [{ start, end: line.end, text: '' }], mendings: [mending(source, at, line.end, message)] }]
}

/** `actions: "mail.*", "sms.*"` */
function severalTexts(line: Line, source: Source): Repair[] {
  const text = source.text.slice(line.value, line.end)
  if (!/^(?:"(?:[^"\\]|\\.)*"|'[^']*')(?: *, *(?:"(?:[^"\\]|\\.)*"|'[^']*'))+$/.test(text)) return []
  const message = 'Several texts are a list, which stands in brackets.'
  return [replacement(source, line.value, line.end, `[${text}]`, message)]
}

/** Quotes the whole of `'Don't pay'` and `"No" means no`. */
function beyondQuote(at: number, line: Line, source: Source): Repair[] {
  const before = source.text.slice(line.start, at)
  const isInside = /[[{]/.test(before.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, ''))
  const first = /(?<=^|[\s[{,])(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*') *$/.exec(before)?.[0]
  // Two texts are perhaps a list.
  if (first === undefined || /["']/.test(source.text[at] ?? '')) return []
  const start = at - first.length
  const end = isInside ? at + Math.max(0, source.text.slice(at, line.end).search(/[,\]}]|$/)) : line.end
  const whole = source.text.slice(start, end).trimEnd()
  const quote = whole.slice(0, 1)
  const isRound = whole.length > first.length && whole.endsWith(quote)
  const inner = whole.slice(1, -1).replace(/\\"/g, '"').replaceAll("''", "'")
  const quoted = isRound ? JSON.stringify(inner) : yamlText(whole)
  const message =
    quote === '"'
      ? 'The text in quotes ends before its line does; write \\" for a quote in it.'
      : "The text in quotes ends before its line does; write '' for an apostrophe in it, or use double quotes."
  const key = /([A-Za-z]+)["']?: *$/.exec(source.text.slice(line.start, start))?.[1] ?? ''
  // Under other keys, a word too many is likelier.
  const isText = isRound || TEXT_KEYS.has(key)
  const to = start + whole.length
  const fault = mending(source, start, to, message, isText ? quoted : undefined)
  return [{ edits: [{ start, end: to, text: quoted }], mendings: [fault] }]
}

/** A text that YAML reads as something else: `reason: [ops] not allowed`, `reason: > 100 EUR`, `actions: - a.b`. */
function unquoted(lines: readonly Line[], index: number, source: Source): Repair[] {
  const line = lines[index]
  if (line?.key === undefined) return []
  const text = source.text.slice(line.value, line.end)
  const replaced = (message: string, written: string): Repair[] => [
    replacement(source, line.value, line.end, written, message),
  ]
  const item = /^- ([^\s:{}[\],"'#]+)$/.exec(text)?.[1]
  if (!TEXT_KEYS.has(line.key.replace(/["']/g, ''))) {
    if (item !== undefined) return replaced('A list begins on the line after its key.', `[${item}]`)
    return belowKey(lines, index, text, source)
  }
  const block = /^[|>] +([^\d\s].*)$/.exec(text)?.[1]
  if (block !== undefined) return replaced('The text of a block begins on the line after | or >.', yamlText(block))
  const sign = /^(?:[[{]|[|>] +|[-?] )/.exec(text)?.[0].trim()
  if (sign !== undefined) return replaced(`A text that begins with ${sign} stands in quotes.`, JSON.stringify(text))
  if (/^["'].*["'] *:/.test(text))
    return replaced('A text with a colon and a space stands in quotes.', JSON.stringify(text))
  const last = lastLineOf(lines, index, line.column)
  const end = lines[last]?.end ?? line.end
  const whole = source.text.slice(line.value, end).replace(/\s*\n\s*/g, ' ')
  const isSentence = last > index && lines.slice(index + 1, last + 1).every(({ key }) => !KEYS.has(key ?? ''))
  if (!isSentence || !/^\w.*: /.test(whole)) return []
  const message = 'A text with a colon and a space stands in quotes, from its first line to its last.'
  const edit = { start: line.value, end, text: JSON.stringify(whole) }
  return [{ edits: [edit], mendings: [mending(source, line.value, end, message)] }]
}

/** `when: fact: context.x`, with the other keys on the lines below. */
function belowKey(lines: readonly Line[], index: number, text: string, source: Source): Repair[] {
  const [line, next] = lines.slice(index).filter(({ isEmpty }) => !isEmpty)
  const first = /^(?:- +)?([A-Za-z]+): /.exec(text)
  if (line === undefined || next === undefined || first === null || !KEYS.has(first[1] ?? '')) return []
  if (next.indent <= line.column) return []
  const what = text.startsWith('-') ? 'A list' : 'A mapping'
  const fault = mending(source, line.value, line.end, `${what} begins on the line after its key.`)
  const columns = text.startsWith('-') ? [next.indent, next.indent - 2] : [next.indent]
  return columns.map((column) => ({
    edits: [{ start: line.value, end: line.value, text: `\n${' '.repeat(Math.max(column, 0))}` }],
    mendings: [fault],
  }))
}
