import type { Json } from './json.ts'

/**
 * What a setting may be: the JSON Schema of the value as a file has it, and the same as a function. Not by a compiler of
 * schemas, which would take longer than most commands; a test compares the two.
 */
export interface Shape<T> {
  readonly schema: Readonly<Record<string, unknown>>
  /** The value that a text (flag or variable) stands for, which may still be none of the shape. */
  fromText(given: string): Json
  /** The value in the one form in which it is used; undefined when it is none of the shape. */
  read(value: Json): T | undefined
}

export const text: Shape<string> = {
  schema: { type: 'string', minLength: 1 },
  fromText: (given) => given,
  read: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
}

/** In a file, null is as good as leaving the value out. */
export const optionalText: Shape<string | null> = {
  schema: { type: ['string', 'null'], minLength: 1 },
  fromText: text.fromText,
  read: (value) => (value === null ? null : text.read(value)),
}

const HTTP_URL = /^https?:\/\/[^\s/?#@]+(?:[/?#]\S*)?$/

/** An absolute URL without user and password, or null. */
export const optionalHttpUrl: Shape<string | null> = {
  schema: { type: ['string', 'null'], pattern: HTTP_URL.source },
  fromText: text.fromText,
  read(value) {
    if (value === null) return null
    return typeof value === 'string' && HTTP_URL.test(value) && URL.canParse(value) ? value : undefined
  },
}

export const port: Shape<number> = {
  schema: { type: 'integer', minimum: 0, maximum: 65_535 },
  fromText: (given) => (/^\d{1,5}$/.test(given) ? Number(given) : given),
  read: (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535 ? value : undefined,
}

const DURATION = /^(?:off|[1-9]\d{0,2}[sm]|(?:[1-9]|1\d|2[0-4])h)$/

/** `off`, or a count of seconds or minutes up to 999, or of hours up to 24. */
export const durationOrOff: Shape<string> = {
  schema: { type: 'string', pattern: DURATION.source },
  fromText: text.fromText,
  read: (value) => (typeof value === 'string' && DURATION.test(value) ? value : undefined),
}

/** Names that differ in case are the same. A text has commas between them. */
export const names: Shape<string[]> = {
  schema: { type: 'array', items: text.schema },
  fromText: (given) => given.split(',').map((item) => item.trim()),
  read(value) {
    if (!Array.isArray(value)) return undefined
    const items = value.flatMap((item) => text.read(item)?.toLowerCase() ?? [])
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
