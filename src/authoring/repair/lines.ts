import { yamlText } from '../suggest/written.ts'
import { lineEndOf, type Source } from '../yaml/node.ts'
import type { Parsed } from '../yaml/parse.ts'
import {
  type Edit,
  KEYS,
  MAX_LINE,
  mending,
  missingColon,
  type Repair,
  replacement,
  TEXT_KEYS,
  together,
} from './repair.ts'

const LEAD = '^([ ]*(?:- +)*)'
/** A key without a colon, or without the space after it: `id:x`, `id x`, `id = x`, `id`. */
const UNPARTED = new RegExp(`${LEAD}([A-Za-z]+)(:(?=[^\\s:/])|(?: *=>? *| +)(?=\\S)|$)(.*)$`)
const GLUED_DASH = /^([ ]*)-([A-Za-z]+)(?=:(?:\s|$))/
const COLON_IN_TEXT = new RegExp(`${LEAD}(["']?[\\w.-]+["']?): +((?!- )(?:[^"'[{|>&*!#\\s]|\\{\\{).*)$`)

/** Repairs of the lines that the parser rejects, where their meaning is plain. */
export function lineRepair({ source, parsed }: { source: Source; parsed: Parsed }, keepsColumn: boolean): Repair {
  const lines = new Map<number, string>()
  for (const { pos } of parsed.faults) {
    const start = source.text.lastIndexOf('\n', pos[0] - 1) + 1
    const end = lineEndOf(source.text, start)
    if (end - start <= MAX_LINE) lines.set(start, source.text.slice(start, end).replace(/\s+#.*$|\s+$/, ''))
  }
  return together([...lines].flatMap(([start, line]) => repairOf(line, start, source, keepsColumn) ?? []))
}

function repairOf(line: string, start: number, source: Source, keepsColumn: boolean): Repair | undefined {
  const one = (edits: Edit[], from: number, to: number, message: string, suggestion: string): Repair => ({
    edits,
    mendings: [mending(source, start + from, start + to, message, suggestion)],
  })
  const [, lead = '', key = '', between = '', value = ''] = UNPARTED.exec(line) ?? []
  const isGlued = between === ':'
  // Without a colon, a word before another key is something else.
  if (KEYS.has(key) && (isGlued || !/:(?:\s|$)/.test(value))) {
    const at = start + lead.length + key.length
    const colon = value === '' ? ':' : ': '
    const message = isGlued ? `A space is missing after the colon of ${key}.` : missingColon(key)
    const edit = { start: at, end: at + between.length, text: colon }
    return one([edit], lead.length, line.length, message, `${key}${colon}${value}`)
  }
  const [, indent = '', item = ''] = GLUED_DASH.exec(line) ?? []
  if (KEYS.has(item)) {
    const at = start + indent.length + 1
    const message = 'A space is missing after the dash of the item.'
    const edits = [{ start: at, end: at, text: ' ' }]
    // Lines below the item align with its key, where it is or where it should be.
    if (keepsColumn && indent !== '') edits.unshift({ start, end: start + 1, text: '' })
    return one(edits, indent.length, at - start + item.length, message, `- ${item}`)
  }
  return inlineRepair(line, start, source) ?? textRepair(line, start, source)
}

/** `- id: x, effect: allow` and `when: fact: context.x, operator: exists`: a mapping in one line, without braces. */
function inlineRepair(line: string, start: number, source: Source): Repair | undefined {
  const [whole, lead = '', key = '', text = ''] = COLON_IN_TEXT.exec(line) ?? []
  if (whole === undefined || TEXT_KEYS.has(key)) return undefined
  const isItem = lead.includes('-') && KEYS.has(key) && KEYS.has(/, *([A-Za-z]+): /.exec(text)?.[1] ?? '')
  const isValue = KEYS.has(/^([A-Za-z]+): +\S/.exec(text)?.[1] ?? '')
  const [next = ''] = source.text
    .slice(start + line.length, start + line.length + MAX_LINE)
    .split(/\n(?=[ \t]*[^\s#])/)
    .slice(1)
  const goesOn = next.search(/[^ ]/) > lead.length
  if (goesOn || (!isItem && !isValue)) return undefined
  const from = isItem ? lead.length : line.length - text.length
  const message = 'A mapping that is written in one line stands in braces.'
  const [open, close] = [start + from, start + line.length]
  // Two changes, so that faults in between keep their places.
  return {
    edits: [
      { start: open, end: open, text: '{' },
      { start: close, end: close, text: '}' },
    ],
    mendings: [mending(source, open, close, message, `{${line.slice(from)}}`)],
  }
}

/** `reason: Payments: not allowed`, `reason: {{ name }} is late`. */
function textRepair(line: string, start: number, source: Source): Repair | undefined {
  const [whole, , , text = ''] = COLON_IN_TEXT.exec(line) ?? []
  const isText = text.startsWith('{{') || (/: |:$/.test(text) && !KEYS.has(text.split(':')[0] ?? ''))
  if (whole === undefined || !isText) return undefined
  const from = start + line.length - text.length
  const message = 'A text with a colon and a space, or one that begins with a bracket, stands in quotes.'
  return replacement(source, from, from + text.length, yamlText(text), message)
}
