import type { Json } from '../../base/json.ts'
import { DAY_MS, MAX_DURATION_MS, parseDuration } from '../../base/time.ts'
import { plainWord } from './closest.ts'
import { inAscii } from './look-alikes.ts'

// Guesses at the meaning of values of the wrong type or form. A guess that would be at fault itself is dropped.

const NUMBER_WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const THOUSANDS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, bn: 1e9, b: 1e9 }
// `€ 2,500.50`, `10k`, `50%`, `100 EUR`: currency, digits in groups, fraction, magnitude, unit.
const AMOUNT =
  /^(?:[€$£¥]|[A-Z]{3})?\s*([-+]?)(\d{1,3}(?:[,_ ']\d{3})+|[\d_]+)?(\.\d+)?\s*(k|m|bn|b)?\s*(?:%|[€$£¥]|[A-Z]{3}|points?)?$/i

/** The number meant by `"10"`, `10k`, `10,000`, `50%`, `100 EUR`, `two`. */
export function numberIn(value: Json | undefined): number | undefined {
  if (typeof value !== 'string') return undefined
  const text = inAscii(value).trim()
  if (text === '' || text.length > 40) return undefined
  if (Number.isFinite(Number(text))) return Number(text)
  const word = NUMBER_WORDS.indexOf(text.toLowerCase())
  if (word >= 0) return word
  const [, sign = '', whole = '', fraction = '', magnitude = ''] = AMOUNT.exec(text) ?? []
  if (whole === '' && fraction === '') return undefined
  const number = Number(`${sign}${whole.replace(/[,_ ']/g, '')}${fraction}`)
  const total = number * (THOUSANDS[magnitude.toLowerCase()] ?? 1)
  return Number.isFinite(total) && Math.abs(total) <= Number.MAX_SAFE_INTEGER ? total : undefined
}

/** The boolean meant by `yes`, `off`, `"true"`, `1`. */
export function booleanIn(value: Json): boolean | undefined {
  const word = typeof value === 'object' ? '' : plainWord(String(value)).toLowerCase()
  if (['true', 'yes', 'y', 'on', '1', 'enabled'].includes(word)) return true
  return ['false', 'no', 'n', 'off', '0', 'disabled'].includes(word) ? false : undefined
}

/** The list meant by one value, or by values with commas. */
export function listIn(value: Json): Json[] | undefined {
  if (value === null || typeof value === 'object' || value === '') return undefined
  if (typeof value !== 'string') return [value]
  const parts = value.split(',').map((part) => part.trim())
  return parts.every((part) => part !== '' && !part.includes(' ')) ? parts : [value]
}

const UNITS_MS: readonly [RegExp, number][] = [
  [/^(?:ms|millis|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, DAY_MS],
  [/^(?:w|wks?|weeks?)$/, 7 * DAY_MS],
  [/^months?$/, 30 * DAY_MS],
]
const PART = /(\d+(?:\.\d+)?)\s*([a-z]*)/g

/** The duration meant by `30 min`, `1h30m`, `PT30M`, `0.5h`, `1 week`, 90 (seconds); too long or short ones at the limit. */
export function durationIn(value: Json): string | undefined {
  const text = typeof value === 'object' ? '' : String(value).trim().toLowerCase()
  const plain = text.replace(/^p(?=[\dt])/, '').replace(/^t|(?<=\d[wd])t(?=\d)/, '')
  if (plain === '' || plain.length > 40 || plain.replace(PART, '').replace(/and|,|\s/g, '') !== '') return undefined
  let ms = 0
  for (const [, count = '', unit = ''] of plain.matchAll(PART)) {
    const known = UNITS_MS.find(([name]) => name.test(unit === '' ? 's' : unit))
    if (known === undefined) return undefined
    ms += Number(count) * known[1]
  }
  const unit = plain.replace(/[^a-z]/g, '')
  // A duration of zero becomes the least in its unit.
  if (ms === 0 && unit !== '') return durationIn(`1${unit}`)
  return durationOf(Math.min(Math.max(ms, 1000), MAX_DURATION_MS), text)
}

/** The duration in the unit that the text ends with, else in the largest that expresses it exactly. */
function durationOf(ms: number, text: string): string | undefined {
  const inUnit = (unit: string, size: number): string | undefined =>
    ms % size === 0 ? `${ms / size}${unit}` : undefined
  const last = /([smhd])[a-z]*$/.exec(text)?.[1]
  const own = last === undefined ? undefined : { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS }[last]
  const meant =
    (last !== undefined && own !== undefined ? inUnit(last, own) : undefined) ??
    (/[a-z]/.test(text) ? undefined : inUnit('s', 1000)) ??
    inUnit('d', DAY_MS) ??
    inUnit('h', 3_600_000) ??
    inUnit('m', 60_000) ??
    inUnit('s', 1000)
  return meant !== undefined && parseDuration(meant) !== undefined ? meant : undefined
}

/** The valid name nearest to a text: of rules, factors, lists, conditions, domains, or actions. */
export function nameIn(text: string, allowed: RegExp): string | undefined {
  const plain = inAscii(withoutAccents(text))
  // Nothing would be left of a text in another alphabet.
  if (/(?![A-Za-z])\p{L}/u.test(plain)) return undefined
  const name = plain
    .trim()
    .replace(/[^A-Za-z0-9_.:/-]+/g, '-')
    .replaceAll(/[:/]/g, (mark) => (allowed.test(`a${mark}`) ? mark : '-'))
    .replace(/^[-.:/]+|[-.:/]+$/g, '')
  return name !== text && allowed.test(name) ? name : undefined
}

const SPELT: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  ø: 'o',
  Ø: 'O',
  œ: 'oe',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
}

/** Latin letters without their diacritics. */
function withoutAccents(text: string): string {
  return text
    .replace(/[ßæÆøØœłŁđ]/g, (letter) => SPELT[letter] ?? letter)
    .normalize('NFD')
    .replace(/(?<=[A-Za-z])\p{M}+/gu, '')
}

/** The value of a JSON type that a value of another type means. */
export function coerced(value: Json, type: string): Json | undefined {
  if (type === 'string') return value === null || typeof value === 'object' ? undefined : String(value)
  if (type === 'boolean') return booleanIn(value)
  if (type === 'array') return typeof value === 'string' ? listIn(value) : listIn(coerced(value, 'string') ?? null)
  const number = type === 'number' || type === 'integer' ? numberIn(value) : undefined
  return type === 'integer' && !Number.isInteger(number) ? undefined : number
}
