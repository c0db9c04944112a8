import type { ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import addFormatsModule, { type FormatName } from 'ajv-formats'
import type { Static, TSchema } from '#typebox'
import { canonicalJson } from './canonical.ts'
import { type ErrorDetail, GateError } from './errors.ts'
import { once } from './memo.ts'
import { compilePattern } from './pattern.ts'
import { beginComparison, UNLIMITED, type Work } from './work.ts'

export type { ErrorObject }

/** Thrown by a validation that takes more work than is left. */
class WorkRefused extends Error {}

/** The work of the validation that runs now, which nothing interrupts: ajv hands nothing to the patterns of a schema. */
export interface Meter {
  work: Work
}

/** Runs a validation of a compiler with this meter within `work`. Undefined when it takes more. */
export function withinWork<T>(meter: Meter, work: Work, validate: () => T): T | undefined {
  meter.work = work
  // A validation is one comparison.
  beginComparison(work)
  try {
    return validate()
  } catch (error) {
    if (error instanceof WorkRefused) return undefined
    throw error
  } finally {
    meter.work = UNLIMITED
  }
}

/** Compiles patterns with RE2: matching takes time linear in the text, for every pattern. */
function linearRegExps(meter: Meter) {
  const make = (pattern: string) => {
    const compiled = compilePattern(pattern)
    if ('fault' in compiled) throw new SyntaxError(compiled.fault)
    const test = (text: string): boolean => {
      const found = compiled.find(text, meter.work)
      if (found === undefined) throw new WorkRefused()
      return found
    }
    // ajv caches compiled patterns by their text; without toString, all patterns would be the first.
    return { test, toString: () => pattern }
  }
  return Object.assign(make, { code: 'linearRegExp' })
}

// The types of this CommonJS module differ from what Node loads.
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default

/** Formats of JSON Schema 2020-12. The other formats of ajv-formats stay out: `url` takes a second for 30 kB of `:`. */
const FORMATS: FormatName[] = [
  ...(['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'regex'] as const),
  ...(['uri', 'uri-reference', 'uri-template', 'json-pointer', 'relative-json-pointer'] as const),
]

/**
 * A JSON Schema 2020-12 compiler in ajv's strict mode: unknown keywords and formats are errors.
 *
 * @param options.checked True when the schemas are our own or have been checked: compiling the schema
 *   of schemas takes longer than everything else.
 * @param options.meter for withinWork; patterns are matched without a limit otherwise
 */
export function schemaCompiler(options: { allErrors: boolean; checked?: boolean; meter?: Meter }): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    // JSON Schema allows both, and authors can mean both.
    strictTuples: false,
    allowMatchingProperties: true,
    strictRequired: false,
    allErrors: options.allErrors,
    verbose: false,
    validateSchema: options.checked !== true,
    // The schema of schemas: our own do not refer to it, and those of policies cannot.
    meta: options.checked !== true,
    code: { regExp: linearRegExps(options.meter ?? { work: UNLIMITED }), optimize: false },
  })
  addFormats(ajv, FORMATS)
  return withJsonEquality(ajv)
}

/**
 * Replaces the keywords that compare values. ajv calls the `constructor` and `valueOf` of objects, which parsed objects
 * lack (equal ones were unequal, `uniqueItems` threw) and which a caller can send as plain members.
 */
function withJsonEquality(ajv: Ajv2020): Ajv2020 {
  for (const keyword of ['const', 'enum', 'uniqueItems']) ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword: 'const',
    compile: (wanted: unknown) =>
      check('const', 'must be equal to constant', { allowedValue: wanted }, (data) => jsonEqual(data, wanted)),
  })
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: (allowed: unknown[]) =>
      check('enum', 'must be equal to one of the allowed values', { allowedValues: allowed }, (data) =>
        allowed.some((value) => jsonEqual(data, value)),
      ),
  })
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) =>
      check('uniqueItems', 'must NOT have duplicate items', {}, (items) => !wanted || areDistinct(items)),
  })
  return ajv
}

function check(
  keyword: string,
  message: string,
  params: Record<string, unknown>,
  holds: (data: unknown) => boolean,
): DataValidateFunction {
  const validate: DataValidateFunction = (data: unknown) => {
    validate.errors = [{ keyword, message, params }]
    return holds(data)
  }
  return validate
}

function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [mine, theirs] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = Object.keys(mine)
  return (
    keys.length === Object.keys(theirs).length &&
    keys.every((key) => Object.hasOwn(theirs, key) && jsonEqual(mine[key], theirs[key]))
  )
}

// Comparing texts costs time linear in the list, not quadratic.
function areDistinct(items: unknown): boolean {
  const list = items as unknown[]
  const texts = list.map((item) => (typeof item === 'number' ? String(item) : canonicalJson(item)))
  return new Set(texts).size === list.length
}

const requests = once(() => schemaCompiler({ allErrors: false, checked: true }))

/**
 * Makes a parser of outside input, which returns the value with the type of the schema.
 * It reports only the first fault, so that a body of faults costs no more than one. The schema is compiled at the first
 * use, or by `compile`.
 */
export function parserOf<S extends TSchema>(schema: S) {
  // Compiling all shapes at start would cost each command a tenth of a second.
  const compile = once(() => requests().compile(schema))
  const parse = (value: unknown): Static<S> => {
    const validate = compile()
    if (!validate(value)) throw invalidRequest(validate.errors ?? [])
    return value as Static<S>
  }
  return Object.assign(parse, { compile })
}

function invalidRequest(errors: readonly ErrorObject[]): GateError {
  const details = errors.map(errorDetail)
  const [first] = details
  const message = first ? `${first.path || 'The request'} ${first.message}.` : 'The request is malformed.'
  return new GateError('invalid_request', message, { details })
}

/** Path and sentence of an ajv error; the path includes the member that the error is about. */
export function errorDetail(error: ErrorObject): ErrorDetail {
  const params: Record<string, unknown> = error.params
  if (error.keyword === 'additionalProperties') {
    return { path: member(error, params.additionalProperty), message: 'is not a known field' }
  }
  if (error.keyword === 'required') {
    return { path: member(error, params.missingProperty), message: 'is required' }
  }
  if (error.keyword === 'enum') {
    const allowed = (params.allowedValues as unknown[]).map(word).join(', ')
    return { path: error.instancePath, message: `must be one of ${allowed}` }
  }
  return { path: error.instancePath, message: error.message ?? 'is not valid' }
}

/** Formats text as it is and other values as JSON, since parsed objects have no toString. */
function word(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

// RFC 6901 section 3: `~` and `/` inside a name are escaped.
function member(error: ErrorObject, name: unknown): string {
  return `${error.instancePath}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
