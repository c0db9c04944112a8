import { canonicalJson } from '../base/canonical.ts'
import type { Json, JsonObject } from '../base/json.ts'

/**
 * Shapes of evidence: each is a JSON Schema with an equal check that needs no schema compiler. So a bundle is verified
 * by little code, and in a browser that forbids evaluation.
 */
export interface Shape<T> {
  readonly schema: Readonly<Record<string, unknown>>
  /** The fault, beginning with its place as a JSON pointer; undefined without one. */
  fault(value: unknown, at: string): string | undefined
  /** Never set: carries the type of the shape. */
  readonly type?: T
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never

const expected = (at: string, what: string): string => `${at === '' ? 'the whole' : at} must be ${what}`

export function text({ pattern, maxLength }: { pattern?: RegExp; maxLength: number }): Shape<string> {
  const schema = { type: 'string', maxLength, ...(pattern && { pattern: pattern.source }) }
  return {
    schema,
    fault(value, at) {
      if (typeof value !== 'string' || isLonger(value, maxLength)) return expected(at, `a text of at most ${maxLength}`)
      return pattern === undefined || pattern.test(value) ? undefined : expected(at, `like ${pattern.source}`)
    },
  }
}

/** Counts code points as JSON Schema does, of which each is one or two UTF-16 units. */
function isLonger(value: string, maxLength: number): boolean {
  if (value.length <= maxLength) return false
  return value.length > 2 * maxLength || Array.from(value).length > maxLength
}

export function literal<const T extends string | number>(only: T): Shape<T> {
  return { schema: { const: only }, fault: (value, at) => (value === only ? undefined : expected(at, `${only}`)) }
}

/** A shape with a further rule that JSON Schema cannot express, or can only by these keywords. */
export function where<T>(
  shape: Shape<T>,
  isGood: (value: T) => boolean,
  what: string,
  keywords: Readonly<Record<string, unknown>> = {},
): Shape<T> {
  return {
    schema: { ...shape.schema, ...keywords },
    fault(value, at) {
      // The first check established the shape.
      return shape.fault(value, at) ?? (isGood(value as T) ? undefined : expected(at, what))
    },
  }
}

/** A whole number from 0 up. */
export const count: Shape<number> = {
  schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  fault: (value, at) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : expected(at, 'a whole number'),
}

/** Any JSON object, whose members are defined elsewhere. */
export const anyObject: Shape<JsonObject> = {
  schema: { type: 'object', additionalProperties: true },
  fault: (value, at) => (isObject(value) ? undefined : expected(at, 'an object')),
}

export const anyValue: Shape<Json> = { schema: {}, fault: () => undefined }

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return {
    schema: { anyOf: [shape.schema, { type: 'null' }] },
    fault: (value, at) => (value === null ? undefined : shape.fault(value, at)),
  }
}

export function list<T>(item: Shape<T>, { min = 0, max }: { min?: number; max: number }): Shape<T[]> {
  return {
    schema: { type: 'array', items: item.schema, minItems: min, maxItems: max },
    fault(value, at) {
      if (!Array.isArray(value) || value.length < min || value.length > max)
        return expected(at, `a list of ${min} to ${max}`)
      return firstFault(value.keys(), (i) => item.fault(value[i], `${at}/${i}`))
    },
  }
}

/** The same list without duplicates. */
export function unique<T>(items: Shape<T[]>): Shape<T[]> {
  const isUnique = (values: T[]): boolean => new Set(values.map(canonicalJson)).size === values.length
  return where(items, isUnique, 'a list without repetition', { uniqueItems: true })
}

/** An object with arbitrary member names, or names of this form. */
export function record<T>(member: Shape<T>, { max, name }: { max: number; name?: RegExp }): Shape<Record<string, T>> {
  return {
    schema: {
      type: 'object',
      additionalProperties: member.schema,
      maxProperties: max,
      ...(name && { propertyNames: { pattern: name.source } }),
    },
    fault(value, at) {
      if (!isObject(value)) return expected(at, 'an object')
      const names = Object.keys(value)
      if (names.length > max) return expected(at, `an object of at most ${max} members`)
      if (name !== undefined && !names.every((one) => name.test(one))) return expected(at, `named like ${name.source}`)
      return firstFault(names, (one) => member.fault(value[one], `${at}/${one}`))
    },
  }
}

type Members = Readonly<Record<string, Shape<unknown>>>
type Required<M extends Members> = { [K in keyof M]: TypeOf<M[K]> }
type Optional<M extends Members> = { [K in keyof M]?: TypeOf<M[K]> }

/** An object with exactly these members; the optional ones may be missing. */
export function object<M extends Members, O extends Members = Record<never, never>>(
  required: M,
  { title, optional }: { title?: string; optional?: O } = {},
): Shape<Required<M> & Optional<O>> {
  const members: Members = { ...required, ...optional }
  const properties = Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, shape.schema]))
  return {
    schema: {
      type: 'object',
      properties,
      required: Object.keys(required),
      additionalProperties: false,
      ...(title && { title }),
    },
    fault(value, at) {
      if (!isObject(value)) return expected(at, 'an object')
      const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name))
      if (missing !== undefined) return `${at}/${missing} is missing`
      const unknown = Object.keys(value).find((name) => !Object.hasOwn(members, name))
      if (unknown !== undefined) return `${at}/${unknown} is not known`
      return firstFault(Object.entries(members), ([name, shape]) =>
        Object.hasOwn(value, name) ? shape.fault(value[name], `${at}/${name}`) : undefined,
      )
    },
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function firstFault<T>(items: Iterable<T>, fault: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = fault(item)
    if (found !== undefined) return found
  }
  return undefined
}
