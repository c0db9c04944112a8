import { ACTION_PATTERN, GLOB_PATTERN } from '../../base/glob.ts'
import { BUILT_IN_FACTS } from '../load/fact-names.ts'

/**
 * The loader's checks as regular expressions that every editor can run: without lookahead, in time linear in the
 * text. None refuses a text that the loader accepts; test/authoring/editor-schema.test.ts compares the two.
 */

const GLOB_SEGMENT = `(?:\\*\\*|\\*?(?:[A-Za-z0-9_:/-]\\*?)*)`
/** `**` stands alone in its segment. */
export const GLOB = { allOf: [{ pattern: GLOB_PATTERN }, { pattern: `^${GLOB_SEGMENT}(?:\\.${GLOB_SEGMENT})*$` }] }
export const ACTION = ACTION_PATTERN

/** One step of a path: `.name` or `["any name"]`. */
const STEP = `(?:\\.[A-Za-z0-9_-]+|\\["(?:[^"\\\\\\x00-\\x1f]|\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4}))*"\\])`
/** Paths below context and plan: those of one value, and those with a `*`. */
const SINGLE = `(?:context|plan)${STEP}+`
export const PLURAL = `^(?:context|plan)${STEP}*\\.\\*${STEP}*$`
export const SINGLE_PATH = `^${SINGLE}$`
export const DECLARED_PATH = `^(?:${SINGLE}|(?:context|plan)${STEP}*\\.\\*${STEP}*)$`
export const REQUEST_PATH = `^(?:context|plan)(?:${STEP}*\\.\\*)?${STEP}*$`
/** Facts about earlier allowed actions, by type. */
const NAMED = '(?:\\.[A-Za-z0-9_-]+|\\["[A-Za-z0-9_-]+"\\])'
const AMOUNT = `history\\.(?:count|sum)${NAMED}`
export const OVER_TIME_PATH = `^(?:session\\.actions|session\\.taken${NAMED}|${AMOUNT})$`
/** A fact that is a number, or may be one. */
export const NUMBER_PATH = `^(?:time\\.hour|${AMOUNT}|${SINGLE})$`

export const FACT_NAMES = [...BUILT_IN_FACTS.keys()]

/** Integers from 1 to `max` without leading zeros. */
function upTo(max: number): string {
  const digits = String(max)
  const shorter = digits.length > 1 ? [`[1-9]${digit(0, digits.length - 2)}`] : []
  const below = Array.from(digits, (last, i) => {
    const [low, high] = [i === 0 ? 1 : 0, Number(last) - 1]
    const rest = digits.length - 1 - i
    return high < low ? [] : [`${digits.slice(0, i)}${low === high ? low : `[${low}-${high}]`}${digit(rest, rest)}`]
  })
  return [...shorter, ...below.flat(), digits].join('|')
}

/** A pattern of `least` to `most` digits. */
function digit(least: number, most: number): string {
  if (most === 0) return ''
  if (least === most) return most === 1 ? '[0-9]' : `[0-9]{${most}}`
  return `[0-9]{${least},${most}}`
}

const DAYS = 90
/** 1 s to 90 d. */
export const DURATION = `^(?:(?:${upTo(DAYS * 86_400)})s|(?:${upTo(DAYS * 1440)})m|(?:${upTo(DAYS * 24)})h|(?:${upTo(DAYS)})d)$`

const DATE =
  '[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))'
const HOURS = '(?:[01][0-9]|2[0-3])'
/** RFC 3339 with a zone; 29 February in every year, and a leap second in every minute. */
export const TIME = `^${DATE}[Tt]${HOURS}:[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]{1,9})?(?:[Zz]|[+-]${HOURS}:[0-5][0-9])$`

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
/** IPv4 exactly; of IPv6 only the characters, and the prefix. */
export const CIDR = `^(?:${OCTET}(?:\\.${OCTET}){3}/(?:3[0-2]|[12]?[0-9])|[0-9A-Fa-f:.]{0,44}:[0-9A-Fa-f:.]{0,44}/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))$`

export const NOT_BLANK = '\\S'

/** Paths of lists outside the folder: absolute, with a drive or a backslash, an address, or `..` first. */
export const OUTSIDE = '^/|^[A-Za-z]:|^[A-Za-z][A-Za-z0-9+.-]*://|\\\\|\\x00|^(?:\\./+)*\\.\\.(?:/|$)'
