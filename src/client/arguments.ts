import { GateError } from './errors.ts'
import { isPlainObject } from './objects.ts'

/** Limit of the nesting that is copied. The service accepts fewer levels, and reports it. */
const MAX_DEPTH = 64

/**
 * Copies arguments so that nobody else can change them, and their JSON is exact: the tool runs with what was checked.
 *
 * @throws GateError `invalid_request` for values that JSON would change or leave out
 */
export function ownCopy<T extends object>(args: T): T {
  if (!isPlainObject(args)) throw unfit('arguments that are not a plain object')
  return copyOf(args, 0) as T
}

function copyOf(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw unfit(`arguments with more than ${MAX_DEPTH} levels`)
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1))
  if (value instanceof Date && !Number.isNaN(value.getTime())) return new Date(value)
  if (isPlainObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner, depth + 1)]))
  }
  throw unfit(`a value of the type ${typeof value}${typeof value === 'object' ? ' that is not a plain object' : ''}`)
}

function unfit(what: string): GateError {
  return new GateError('invalid_request', `The gate cannot check ${what}.`)
}
