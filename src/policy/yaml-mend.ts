import { CONDITION_KEYS } from './conditions.ts'
import { type Place, placeAt, type Source } from './node.ts'
import { PolicyDocument } from './shapes.ts'
import { Verbatim, yamlText } from './written.ts'
import { type Parsed, parseYaml } from './yaml-parse.ts'

/** A fault of syntax whose mending is plain, so that what stands around it can be read too. */
export interface Mending {
  readonly place: Place
  readonly message: string
  readonly suggestion?: Verbatim | undefined
}

/** A change of the text. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Repair {
  readonly edits: readonly Edit[]
  readonly mendings: readonly Mending[]
}

export interface Mended {
  readonly source: Source
  readonly parsed: Parsed
  readonly mendings: readonly Mending[]
}

/** Reading a text again takes up to a second a megabyte, and much more where it is all faults. */
const MAX_LENGTH = 128 * 1024
const MAX_FAULTS = 1000
const ROUNDS = 3

/** The text with what is plainly wrong put right. A repair is kept when it leaves fewer faults of syntax. */
export function mendYaml(source: Source, parsed: Parsed): Mended {
  let mended: Mended = { source, parsed, mendings: [] }
  if (source.text.length > MAX_LENGTH || parsed.faults.length > MAX_FAULTS) return mended
  const attempt = (repairs: readonly Repair[]): boolean => {
    const better = repairs
      .filter(({ edits }) => edits.length > 0)
      .map(({ edits, mendings }) => {
        const text = edited(mended.source, edits)
        return { source: text, parsed: parseYaml(text), mendings: [...mended.mendings, ...mendings] }
      })
      .filter((one) => !one.parsed.inspection.tooDeep && weight(one.parsed) < weight(mended.parsed))
      .sort((a, b) => weight(a.parsed) - weight(b.parsed))[0]
    if (better !== undefined) mended = better
    return better !== undefined
  }
  attempt([fenceRepair(mended.source)])
  attempt([conflictRepair(mended.source)])
  attempt([oddSpaceRepair(mended.source)])
  if (weight(mended.parsed) > 0) attempt([2, 4, 8].map((width) => tabRepair(mended.source, width)))
  for (let round = 0; round < ROUNDS && weight(mended.parsed) > 0; round += 1) {
    if (!attempt([lineRepair(mended, false), lineRepair(mended, true)])) break
  }
  return mended
}

function weight({ faults }: Parsed): number {
  return faults.length
}

function edited(source: Source, edits: readonly Edit[]): Source {
  const parts: string[] = []
  const origins: number[] = []
  let at = 0
  const copy = (to: number): void => {
    parts.push(source.text.slice(at, to))
    for (; at < to; at += 1) origins.push(source.origin?.[at] ?? at)
  }
  for (const { start, end, text } of edits) {
    copy(start)
    parts.push(text)
    for (let i = 0; i < text.length; i += 1) origins.push(source.origin?.[start] ?? start)
    at = end
  }
  copy(source.text.length)
  origins.push(source.origin?.[source.text.length] ?? source.text.length)
  return { ...source, text: parts.join(''), origin: Int32Array.from(origins) }
}

/** The lines around a block of code on a web page. */
function fenceRepair(source: Source): Repair {
  const fences = [...source.text.matchAll(/^```.*$/gm)]
  const edits = fences.map(({ 0: line, index }) => ({ start: index, end: index + line.length, text: '' }))
  const [first] = edits
  const message = 'This line is the edge of a block of code of a web page; remove it.'
  return { edits, mendings: first === undefined ? [] : [{ place: placeAt(source, first.start, first.end), message }] }
}

const CONFLICT = /^<{7}(?: .*)?\r?\n([\s\S]*?)(?:^\|{7}(?: .*)?\r?\n[\s\S]*?)?^={7}\r?\n[\s\S]*?^>{7}(?: .*)?$/gm

/** Keeps the first side of each conflict, and every line break. */
function conflictRepair(source: Source): Repair {
  const edits: Edit[] = []
  const mendings: Mending[] = []
  for (const { 0: whole, 1: ours = '', index } of source.text.matchAll(CONFLICT)) {
    const from = index + whole.indexOf('\n') + 1
    const blank = (start: number, end: number): Edit => {
      return { start, end, text: source.text.slice(start, end).replace(/[^\n]/g, ' ') }
    }
    edits.push(blank(index, from), blank(from + ours.length, index + whole.length))
    const message =
      'A merge conflict is left here; keep one of the two sides, and remove the three lines that mark them.'
    mendings.push({ place: placeAt(source, index, index + 7), message })
  }
  return { edits, mendings }
}

const ODD = '\\u00a0\\u1680\\u2000-\\u200f\\u202f\\u205f\\u2060\\u3000\\ufeff'
/** Before the first word of a line, after the dash of an item, or after the colon of a key. */
const ODD_SPACE = new RegExp(
  `^([ ]*(?:-(?: +|(?=[${ODD}])))?(?:["']?[\\w.-]+["']?:)?)([ ${ODD}]*[${ODD}][ ${ODD}]*)`,
  'gm',
)

function oddSpaceRepair(source: Source): Repair {
  const edits: Edit[] = []
  const mendings: Mending[] = []
  for (const { 1: before = '', 2: run = '', index } of source.text.matchAll(ODD_SPACE)) {
    const start = index + before.length
    const text = run.replace(/[\u200b-\u200f\u2060\ufeff]/g, '').replace(/./gu, ' ')
    edits.push({ start, end: start + run.length, text })
    const at = start + run.search(/[^ ]/)
    const code = source.text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')
    const message = `This is no ordinary space but U+${code}, which YAML reads as a letter; write an ordinary space.`
    mendings.push({ place: placeAt(source, at, start + run.length), message, suggestion: new Verbatim(text) })
  }
  return { edits, mendings }
}

/** One fault for lines that follow each other: who indents with tabs does so throughout. */
function tabRepair(source: Source, width: number): Repair {
  const edits: Edit[] = []
  const mendings: Mending[] = []
  let lastLine = -2
  for (const [line, start] of source.lineStarts.entries()) {
    const indent = /^[ ]*\t[ \t]*(?=[^\s#])/.exec(source.text.slice(start, start + 500))?.[0]
    if (indent === undefined) continue
    edits.push({ start, end: start + indent.length, text: indent.replaceAll('\t', ' '.repeat(width)) })
    if (line !== lastLine + 1) mendings.push({ place: placeAt(source, start, start + indent.length), message: TABS })
    lastLine = line
  }
  return { edits, mendings }
}

const TABS = 'Indentation must be made of spaces, not tabs.'

const KEYS: ReadonlySet<string> = new Set([...keysOf(PolicyDocument), ...CONDITION_KEYS])

function keysOf(shape: unknown): string[] {
  if (typeof shape !== 'object' || shape === null) return []
  const properties: unknown = Reflect.get(shape, 'properties')
  const own = typeof properties === 'object' && properties !== null ? Object.entries(properties) : []
  const others = [Reflect.get(shape, 'items'), Reflect.get(shape, 'additionalProperties')]
  return [...own.flatMap(([key, below]) => [key, ...keysOf(below)]), ...others.flatMap(keysOf)]
}

const LEAD = '^([ ]*(?:- +)*)'
const GLUED = new RegExp(`${LEAD}([A-Za-z]+):(?=[^\\s:/])(.+)$`)
const NO_COLON = new RegExp(`${LEAD}([A-Za-z]+)( *=>? *| +)(\\S.*)$`)
const GLUED_DASH = /^([ ]*)-([A-Za-z]+)(?=:(?:\s|$))/
const COLON_IN_TEXT = new RegExp(`${LEAD}(["']?[\\w.-]+["']?): +((?!- )(?:[^"'[{|>&*!#\\s]|\\{\\{).*)$`)

/** What is plainly meant by the lines that the library stumbles over. */
function lineRepair({ source, parsed }: Mended, keepsColumn: boolean): Repair {
  const lines = new Map<number, string>()
  for (const { pos } of parsed.faults) {
    const start = source.text.lastIndexOf('\n', pos[0] - 1) + 1
    const end = source.text.indexOf('\n', start)
    lines.set(start, source.text.slice(start, end < 0 ? undefined : end).replace(/\s+#.*$|\s+$/, ''))
  }
  const repairs = [...lines]
    .sort((a, b) => a[0] - b[0])
    .flatMap(([start, line]) => repairOf(line, start, source, keepsColumn) ?? [])
  return { edits: repairs.flatMap(({ edits }) => edits), mendings: repairs.flatMap(({ mendings }) => mendings) }
}

function repairOf(line: string, start: number, source: Source, keepsColumn: boolean): Repair | undefined {
  const one = (edits: Edit[], from: number, to: number, message: string, suggestion: string): Repair => ({
    edits,
    mendings: [{ place: placeAt(source, start + from, start + to), message, suggestion: new Verbatim(suggestion) }],
  })
  const [, lead = '', key = '', rest = ''] = GLUED.exec(line) ?? []
  if (KEYS.has(key)) {
    const at = start + lead.length + key.length + 1
    const message = `A space is missing after the colon of ${key}.`
    return one([{ start: at, end: at, text: ' ' }], lead.length, line.length, message, `${key}: ${rest}`)
  }
  const [, before = '', name = '', between = '', value = ''] = NO_COLON.exec(line) ?? []
  if (KEYS.has(name) && !/:(?:\s|$)/.test(value)) {
    const at = start + before.length + name.length
    const message = `A colon is missing after ${name}.`
    const edit = { start: at, end: at + between.length, text: ': ' }
    return one([edit], before.length, line.length, message, `${name}: ${value}`)
  }
  const [, indent = '', item = ''] = GLUED_DASH.exec(line) ?? []
  if (KEYS.has(item)) {
    const at = start + indent.length + 1
    const message = 'A space is missing after the dash of the item.'
    const edits = [{ start: at, end: at, text: ' ' }]
    // What stands below the item is aligned with its key, as it is or as it ought to be.
    if (keepsColumn && indent !== '') edits.unshift({ start, end: start + 1, text: '' })
    return one(edits, indent.length, at - start + item.length, message, `- ${item}`)
  }
  return textRepair(line, start, source)
}

/** `reason: Payments: not allowed`, `reason: {{ name }} is late`. */
function textRepair(line: string, start: number, source: Source): Repair | undefined {
  const [whole, , , text = ''] = COLON_IN_TEXT.exec(line) ?? []
  const isText = text.startsWith('{{') || (/: |:$/.test(text) && !KEYS.has(text.split(':')[0] ?? ''))
  if (whole === undefined || !isText) return undefined
  const from = start + line.length - text.length
  const message = 'A text with a colon and a space, or one that begins with a bracket, stands in quotes.'
  const quoted = yamlText(text)
  return {
    edits: [{ start: from, end: from + text.length, text: quoted }],
    mendings: [{ place: placeAt(source, from, from + text.length), message, suggestion: new Verbatim(quoted) }],
  }
}
