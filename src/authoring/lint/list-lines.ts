import { parseCidr } from '../../policies/cidr.ts'
import type { Report } from '../diagnostics/report.ts'
import { inAscii } from '../suggest/look-alikes.ts'
import { Verbatim } from '../suggest/written.ts'
import { type Node, placeAt, type Source, textOf } from '../yaml/node.ts'

/** One value of a list file. Offset in UTF-16 units. */
export interface ListLine {
  readonly value: string
  readonly start: number
}

/** The reason why a line is probably not the value that its author meant. */
interface Doubt {
  readonly message: string
  /** The value that was probably meant, where it is one. */
  readonly meant?: string | undefined
}

/** The values of a list file: one a line, without the spaces around it. Empty lines and lines that begin with `#` do not count. */
export function listLinesOf({ text, lineStarts }: Source): ListLine[] {
  return lineStarts.flatMap((from, i) => {
    const line = text.slice(from, lineStarts[i + 1])
    const value = line.trim()
    return value === '' || value.startsWith('#') ? [] : [{ value, start: from + line.indexOf(value) }]
  })
}

/** Reports lines that are values with something around them, which no fact ever equals. */
export function reportListLines(source: Source, lines: readonly ListLine[], report: Report): void {
  const doubtOf = doubtIn(lines.map(({ value }) => value))
  for (const { value, start } of lines) {
    const doubt = value.length > MAX_LENGTH ? undefined : doubtOf(value)
    if (doubt === undefined) continue
    const { message, meant } = doubt
    const place = placeAt(source, start, start + value.length)
    report.add('GATE2027', place, message, meant && new Verbatim(meant))
    report.silence(place)
  }
}

/** Reports values in a list of a policy that have something around them, as those of a list file do. */
export function reportListValues(places: readonly Node[], report: Report): void {
  const texts = places.flatMap((place) => textOf(place) ?? [])
  const doubtOf = doubtIn(texts.map((text) => text.trim()))
  for (const place of places) {
    const text = textOf(place)
    if (text === undefined || text.length > MAX_LENGTH) continue
    const bare = text.trim()
    const spaced = bare === text ? undefined : { message: 'The spaces around the text are part of it.', meant: bare }
    const doubt = doubtOf(bare) ?? spaced
    if (doubt !== undefined) report.add('GATE2034', place, doubt.message, doubt.meant)
  }
}

/** Longest line that is looked at: the rules below may take the square of it. */
const MAX_LENGTH = 500

const COMMENT = /^(.*?\S)\s+(?:#|\/\/|--\s)/
const BULLET = /^(?:[-*•+]|\d{1,3}[.)])\s+(.*)$/
const QUOTED = /^["'`“”„‘’«](.*)["'`“”‘’»][,;]?$/
const BRACKETS = /^\[.*\],?$|^\{.*\},?$/
const SEPARATOR = /[,;|\t]/
/** A question mark in an address begins its parameters. */
const WILDCARD = /\*|^(?!.*:\/\/)(?!.*\?[\w.-]+=).*\?/
/** Parameters of a media type, after a semicolon. */
const PARAMETERS = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[^\s;]+)+$/
const CODE = /^[A-Z0-9][A-Z0-9-]*$/
const RANGE = /^[\da-fA-F:.]+\/\d{1,3}$/

/** Rules about one line. Those that look at the others need them to agree. */
function doubtIn(values: readonly string[]): (value: string) => Doubt | undefined {
  const isSeparated = (value: string): boolean => SEPARATOR.test(value)
  // Names such as "Doe, John" have commas on purpose.
  const mayHaveCommas = values.length > 2 && share(values, isSeparated) > 0.5
  const caseOf = usualCase(values)
  const areCodes = values.length > 2 && share(values, (value) => CODE.test(value)) >= 2 / 3
  return (value) =>
    markedUp(value) ??
    (isSeparated(value) && !mayHaveCommas ? separated(value) : undefined) ??
    compared(value) ??
    lookAlike(value) ??
    (areCodes ? afterword(value) : undefined) ??
    inOtherCase(value, caseOf)
}

function share(values: readonly string[], holds: (value: string) => boolean): number {
  return values.filter(holds).length / values.length
}

/** Signs of other file formats. */
function markedUp(value: string): Doubt | undefined {
  const comment = COMMENT.exec(value)?.[1]
  if (comment !== undefined)
    return { message: 'The comment is part of the value. Put comments on lines of their own.', meant: bare(comment) }
  const bullet = BULLET.exec(value)?.[1]
  if (bullet !== undefined)
    return { message: 'The bullet is part of the value. Write the value alone.', meant: bare(bullet) }
  const quoted = QUOTED.exec(value)?.[1]
  if (quoted !== undefined)
    return { message: 'The quotes are part of the value. Write it without quotes.', meant: quoted }
  return BRACKETS.test(value)
    ? { message: 'The brackets are part of the value. Write each value separately.' }
    : undefined
}

/** The value without further marks around it. */
function bare(value: string): string {
  return QUOTED.exec(value)?.[1] ?? value
}

/** Several values of one word each. A comma with a space may also belong to a name, such as "Doe, John". */
function separated(value: string): Doubt | undefined {
  if (PARAMETERS.test(value)) return undefined
  const parts = value.split(SEPARATOR).map((part) => part.trim())
  const words = parts.filter((part) => part !== '')
  const [first] = words
  if (first === undefined || words.some((word) => /\s/.test(word))) return undefined
  if (words.length === 1)
    return { message: 'The separator is part of the value. Write each value separately.', meant: bare(first) }
  const isName = /, /.test(value) && new Set(words.map(caseIn)).size + (caseIn(first) === 'mixed' ? 1 : 0) > 1
  return isName ? undefined : { message: 'The line is one value, with its separators. Write each value separately.' }
}

/** Patterns and ranges, which a list takes for texts. */
function compared(value: string): Doubt | undefined {
  const hint = 'A list compares whole values'
  if (WILDCARD.test(value)) {
    const sign = value.includes('*') ? '*' : '?'
    return { message: `${hint}, so ${sign} stands for itself. Ask with startsWith, endsWith or matches.` }
  }
  if (RANGE.test(value) && parseCidr(value) !== undefined)
    return { message: `${hint}, so no address equals the range. Ask with inCidr.` }
  return undefined
}

/** A whole word of another alphabet is meant as it is. */
const FOREIGN = /(?<!\p{L})(?:\p{Script=Greek}|\p{Script=Cyrillic})+(?!\p{L})/gu

function lookAlike(value: string): Doubt | undefined {
  const plain = inAscii(value)
  const other = value.replace(FOREIGN, '')
  return plain === value || inAscii(other) === other
    ? undefined
    : { message: 'The value is not what it looks like.', meant: plain }
}

function afterword(value: string): Doubt | undefined {
  const [first = '', ...more] = value.split(/\s/)
  if (more.length === 0 || !CODE.test(first)) return undefined
  return { message: 'The whole line is the value; the other values are codes.', meant: first }
}

type Case = 'upper' | 'lower' | 'mixed' | 'none'

/** Share of the values that agree on a case, from which another is an exception. */
const USUAL = 2 / 3

/** The case in which nearly all values are written; undefined where there is none. */
function usualCase(values: readonly string[]): Case | undefined {
  const isIn = (wanted: Case) => (value: string) => caseIn(value) === wanted
  const [upper, lower] = [share(values, isIn('upper')), share(values, isIn('lower'))]
  // Codes such as IR and KP: two of them may disagree already.
  if (values.every((value) => /^[A-Za-z]{2,3}$/.test(value))) return upper > 0 && upper < 1 ? 'upper' : undefined
  if (values.length < 3) return undefined
  if (upper >= USUAL) return 'upper'
  return lower >= USUAL ? 'lower' : undefined
}

/** `none` for a value without letters. */
function caseIn(value: string): Case {
  const [upper, lower] = [value.toUpperCase(), value.toLowerCase()]
  if (upper === lower) return 'none'
  if (value === upper) return 'upper'
  return value === lower ? 'lower' : 'mixed'
}

function inOtherCase(value: string, usual: Case | undefined): Doubt | undefined {
  if (usual === undefined) return undefined
  const meant = usual === 'upper' ? value.toUpperCase() : value.toLowerCase()
  if (meant === value) return undefined
  return { message: `Comparison tells capitals apart, and the other values are in ${usual} case.`, meant }
}
