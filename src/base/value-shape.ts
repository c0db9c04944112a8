import type { Json } from './json.ts'

/**
 * Type of a setting: the JSON Schema of its value in a file, and the same check as a function.
 * The check is written by hand, since compiling schemas takes longer than most commands; a test compares the two.
 */
export interface Shape<T> {
  readonly schema: Readonly<Record<string, unknown>>
  /** Converts the text of a flag or variable. The result may still not have the shape. */
  fromText(given: string): Json
  /** Normalizes a value; undefined when it does not have the shape. */
  read(value: Json): T | undefined
}

export const text: Shape<string> = {
  schema: { type: 'string', minLength: 1 },
  fromText: (given) => given,
  read: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
}

/** Optional text; in a file, null equals leaving the value out. */
export const optionalText: Shape<string | null> = {
  schema: { type: ['string', 'null'], minLength: 1 },
  fromText: text.fromText,
  read: (value) => (value === null ? null : text.read(value)),
}

/** A URL that matches the pattern, or null. */
function optionalUrl(pattern: RegExp): Shape<string | null> {
  return {
    schema: { type: ['string', 'null'], pattern: pattern.source },
    fromText: text.fromText,
    read(value) {
      if (value === null) return null
      return typeof value === 'string' && pattern.test(value) && URL.canParse(value) ? value : undefined
    },
  }
}

/** An absolute URL without user and password, or null. */
export const optionalHttpUrl = optionalUrl(/^https?:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/)

/** The URL of a PostgreSQL database without a password, or null. */
export const optionalPostgresUrl = optionalUrl(
  /^postgres(?:ql)?:\/\/(?:[^\s/?#@:]+@)?[^\s/?#@]+\/[^\s/?#@]+(?:\?\S*)?$/,
)

export const port: Shape<number> = {
  schema: { type: 'integer', minimum: 0, maximum: 65_535 },
  fromText: (given) => (/^\d{1,5}$/.test(given) ? Number(given) : given),
  read: (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535 ? value : undefined,
}

const MAX_COUNT = 1_000_000

/** A whole number from this one on, or null. */
export function optionalCount(minimum: number): Shape<number | null> {
  return {
    schema: { type: ['integer', 'null'], minimum, maximum: MAX_COUNT },
    fromText: (given) => (/^\d{1,7}$/.test(given) ? Number(given) : given),
    read(value) {
      if (value === null) return null
      const isCount = typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= MAX_COUNT
      return isCount ? value : undefined
    },
  }
}

const DURATION = /^(?:off|[1-9]\d{0,2}[sm]|(?:[1-9]|1\d|2[0-4])h)$/

/** A count of seconds or minutes up to 999, or of hours up to 24. */
export const duration: Shape<string> = {
  schema: { type: 'string', pattern: DURATION.source.replace('off|', '') },
  fromText: text.fromText,
  read: (value) => (value === 'off' ? undefined : durationOrOff.read(value)),
}

/** `off`, or a count of seconds or minutes up to 999, or of hours up to 24. */
export const durationOrOff: Shape<string> = {
  schema: { type: 'string', pattern: DURATION.source },
  fromText: text.fromText,
  read: (value) => (typeof value === 'string' && DURATION.test(value) ? value : undefined),
}

const HOST_NAME = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])$/

/**
 * List of host names and addresses as the Host header has them, in lower case and without port; separated by commas in a
 * text. Anything else, such as a pattern or a URL, would match no request.
 */
export const hostNames: Shape<string[]> = {
  schema: { type: 'array', items: { type: 'string', pattern: HOST_NAME.source } },
  fromText: (given) => given.split(',').map((item) => item.trim()),
  read(value) {
    if (!Array.isArray(value)) return undefined
    const items = value.flatMap((item) => (typeof item === 'string' && HOST_NAME.test(item) ? item.toLowerCase() : []))
    return items.length === value.length ? items : undefined
  },
}

export function oneOf<T extends string>(values: readonly T[]): Shape<T> {
  return {
    schema: { enum: values },
    fromText: (given) => given,
    read: (value) => values.find((known) => known === value),
  }
}
