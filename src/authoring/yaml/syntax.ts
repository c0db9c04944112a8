import type { YAMLError } from 'yaml'
import type { Report } from '../diagnostics/report.ts'
import { Verbatim } from '../suggest/written.ts'
import { lineEndOf, type Place, placeAt, type Source } from './node.ts'
import type { Parsed } from './parse.ts'
import type { Stretch } from './tokens.ts'
import { isHarmless, unclosedAt } from './unclosed.ts'

/** Faults of syntax in plain words, by the library's code; its own messages name its tokens. */
const SYNTAX: Record<string, string> = {
  BAD_INDENT: 'The indentation does not fit what stands above',
  BLOCK_AS_IMPLICIT_KEY:
    'A mapping or list begins where a value must stand; begin it on a line of its own, or put the text in quotes',
  BLOCK_IN_FLOW:
    'A text with a colon, or a mapping without braces, stands inside brackets; put the text in quotes, or the mapping in braces',
  KEY_OVER_1024_CHARS: 'A key is longer than 1024 characters; perhaps a quote is missing',
  MISSING_CHAR: 'A character is missing: a closing quote or bracket, a comma, a colon, or a space after one',
  MULTILINE_IMPLICIT_KEY: 'A colon is missing after this key, or a quote is not closed',
  TAB_AS_INDENT: 'Indentation must be made of spaces, not tabs',
  UNEXPECTED_TOKEN: 'This cannot stand here',
  IMPOSSIBLE: 'This cannot be read',
  NON_STRING_KEY: 'A key must be text',
  RESOURCE_EXHAUSTION: 'The text is too large or too deep to be read',
}

/** More precise sentences, by the library's message, and by the text of the line before the fault and from it on. */
const SENTENCES: readonly { says?: RegExp; before?: RegExp; from?: RegExp; sentence: string }[] = [
  { from: /^\/[/*]/, sentence: 'A comment of YAML begins with #' },
  { from: /^```/, sentence: 'This line is the edge of a code block of a web page; remove it' },
  { from: /^<(?:!|[A-Za-z])/, sentence: 'This is HTML, not YAML; perhaps a page of an error was saved' },
  { from: /^[<=>|]{7}(?: |$)/, sentence: 'A merge conflict is left here; keep one of the two sides' },
  { from: /^(?:import|package|default|permit|forbid)\b/, sentence: 'This is another language, not YAML' },
  { from: /^\w[\w.-]*\s*=/, sentence: 'A colon and a space stand between key and value, not =' },
  { from: /^[\w-]+:\S/, says: /[Ii]mplicit/, sentence: 'A space is missing after the colon' },
  { says: /Comments must be separated/, sentence: 'A space is missing before the # of the comment' },
  {
    says: /Implicit map keys need to be followed/,
    sentence: 'A colon is missing after this key, or the indentation does not fit',
  },
  { says: /Missing ,|Unexpected .*in flow/, from: /^[^,]/, sentence: 'A comma is missing before this' },
  { says: /Unexpected ,/, sentence: 'Nothing stands before this comma; remove it, or write what is missing' },
  { says: /Missing space after :/, sentence: 'A space is missing after the colon' },
  {
    says: /without - indicator/,
    sentence: 'This is not an item of the list above; an item begins with a dash at the column of the first',
  },
  { says: /must start at the same column/, sentence: 'The items of a list begin at the same column' },
  {
    says: /map items must start at the same|All mapping items/,
    sentence: 'The keys of a mapping begin at the same column',
  },
  {
    says: /and end with a/,
    sentence: 'The bracket that is open here is closed by one of another kind, or its lines are not indented',
  },
  { before: /[|>][-+\d]*\s+$/, sentence: 'The text of a block begins on the line after | or >' },
  { before: /"\s*$/, sentence: 'The text in quotes ends before this; write \\" for a quote in it' },
  {
    before: /'\s*$/,
    sentence: "The text in quotes ends before this; write '' for an apostrophe in it, or use double quotes",
  },
  { before: /[\w.]$/, from: /^\[/, sentence: 'A text with a bracket in it stands in quotes' },
  { from: /^[\]}]/, sentence: 'There is no open bracket that this closes' },
  {
    before: /[\]}]\s*$/,
    sentence: 'Nothing can follow the closing bracket; a text that begins with a bracket stands in quotes',
  },
  { before: /:\s+$/, from: /^- /, sentence: 'A list begins on the line after its key' },
]

/** Faults that shift everything below them on the same level. */
const SHIFTING = new Set(['BAD_INDENT', 'TAB_AS_INDENT', 'BLOCK_AS_IMPLICIT_KEY', 'MISSING_CHAR'])

/** Reports the faults of syntax that do not follow from each other; true when the document is readable all the same. */
export function reportSyntax(parsed: Parsed, source: Source, report: Report): boolean {
  const { faults, inspection } = parsed
  const certain = reportUnclosed(parsed, source, report)
  const graver = new Set(faults.filter((fault) => !isHarmless(fault)).map(({ pos }) => pos[0]))
  let ignoredTo = -1
  let readable = faults.every(isHarmless)
  let hasFault = false
  let isLost = false
  for (const fault of faults) {
    const start = faultOffset(fault, source)
    if (start < ignoredTo || start >= certain) continue
    // After a fault, a parser that has lost its place refuses token after token.
    isLost ||= hasFault && sentenceOf(fault, start, source) === SYNTAX.UNEXPECTED_TOKEN
    if (isLost && fault.code === 'UNEXPECTED_TOKEN') continue
    // A text with an invalid beginning is a minor fault, dropped where another fault has the same place.
    if (isHarmless(fault) && graver.has(fault.pos[0])) continue
    if (isHarmless(fault)) {
      reportHarmless(fault, inspection.doubtful, source, report)
      continue
    }
    readable = false
    hasFault = true
    const place = faultPlace(fault, start, source)
    report.add('GATE1003', place, `${sentenceOf(fault, start, source)}.`)
    ignoredTo = endOfEffect(fault, start, source)
  }
  return readable
}

/** The end of a fault's effect: the end of its line, of its key, or of the lines that are not indented less than it. */
function endOfEffect({ code, pos }: YAMLError, start: number, source: Source): number {
  const next = (at: number): number => source.text.indexOf('\n', at) + 1 || source.text.length
  let end = next(start)
  if (code === 'MULTILINE_IMPLICIT_KEY') return Math.max(end, pos[1])
  if (!SHIFTING.has(code)) return end
  const indent = indentAt(source.text, source.text.lastIndexOf('\n', start - 1) + 1)
  while (end < source.text.length && indentAt(source.text, end) >= indent) end = next(end)
  return end
}

/** Indentation of a line with text; empty lines belong to those above them. */
function indentAt(text: string, lineStart: number): number {
  for (let at = lineStart; at < text.length; at += 1) {
    if (text[at] === '\n' || text[at] === '\r') return Number.POSITIVE_INFINITY
    if (text[at] !== ' ' && text[at] !== '\t') return at - lineStart
  }
  return Number.POSITIVE_INFINITY
}

/** The first fault of syntax, and the end of its effect. */
export interface Problem {
  readonly code: string
  readonly place: Place
  readonly message: string
  readonly effectEnd: number
}

/** Undefined when the whole document can be read. */
export function firstProblem(parsed: Parsed, source: Source): Problem | undefined {
  const fault = parsed.faults.find((one) => !isHarmless(one))
  if (fault === undefined) return undefined
  const start = faultOffset(fault, source)
  const open = unclosedAt(parsed, source)
  if (open === undefined || start < open) {
    const message = `${sentenceOf(fault, start, source)}.`
    return {
      code: fault.code,
      place: faultPlace(fault, start, source),
      message,
      effectEnd: endOfEffect(fault, start, source),
    }
  }
  const effectEnd = source.text.indexOf('\n', open) + 1 || source.text.length
  return { code: 'UNCLOSED', place: placeAt(source, open, open + 1), message: unclosed(open, source), effectEnd }
}

function reportUnclosed(parsed: Parsed, source: Source, report: Report): number {
  const at = unclosedAt(parsed, source)
  if (at === undefined) return Number.POSITIVE_INFINITY
  report.add('GATE1003', placeAt(source, at, at + 1), unclosed(at, source))
  return at
}

function unclosed(at: number, { text }: Source): string {
  return `This ${/["']/.test(text[at] ?? '') ? 'quote' : 'bracket'} is never closed.`
}

/** The offset at which a fault is shown: its first visible character, though tabs may be the fault themselves. */
function faultOffset({ code, pos }: YAMLError, source: Source): number {
  let start = pos[0]
  while (code !== 'TAB_AS_INDENT' && /[ \r\n]/.test(source.text[start] ?? '')) start += 1
  return start < source.text.length ? start : pos[0]
}

/** The marked place of a fault, which ends with its line. */
function faultPlace({ pos }: YAMLError, start: number, source: Source): Place {
  return placeAt(source, start, Math.min(Math.max(pos[1], start + 1), lineEndOf(source.text, start)))
}

function sentenceOf({ code, message }: YAMLError, start: number, source: Source): string {
  const lineStart = source.text.lastIndexOf('\n', start - 1) + 1
  const before = source.text.slice(Math.max(lineStart, start - 200), start)
  const from = source.text.slice(start, start + 200).split('\n', 1)[0] ?? ''
  const exact = SENTENCES.find(
    (one) => one.says?.test(message) !== false && one.before?.test(before) !== false && one.from?.test(from) !== false,
  )
  return exact?.sentence ?? SYNTAX[code] ?? 'This is not valid YAML'
}

/** Reports faults inside one text, whose end is known. */
function reportHarmless({ code, pos }: YAMLError, doubtful: readonly Stretch[], source: Source, report: Report): void {
  const [at] = pos
  const text = doubtful.find(({ start, end }) => start <= at && at < end)
  if (code === 'BAD_SCALAR_START') {
    const place = placeAt(source, text?.start ?? at, text?.end ?? at + 1)
    const plain = source.text.slice(place.start, place.end)
    const message = `A text that begins with ${plain.slice(0, 1)} stands in quotes.`
    report.add('GATE1003', place, message, plain.includes('\n') ? undefined : new Verbatim(JSON.stringify(plain)))
    return
  }
  const slash = source.text[at] === '\\' ? at : source.text.indexOf('\\', at)
  const place = placeAt(source, slash, slash + 2)
  const message = 'There is no such escape in double quotes; write \\\\ for a backslash, or use single quotes.'
  report.add('GATE1003', place, message, new Verbatim(`\\${source.text.slice(slash, slash + 2)}`))
  // The meaning of the text is unknown.
  if (text !== undefined) report.silence(placeAt(source, text.start))
}
