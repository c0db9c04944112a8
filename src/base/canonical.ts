/** Limit of nesting. Deeper values are a bug of the caller: outside input is limited to less (see json.ts). */
const MAX_DEPTH = 100

/**
 * The canonical JSON text of `value` (RFC 8785): keys sorted by UTF-16 code unit, no white space,
 * numbers and strings as ECMAScript prints them. Equal values give equal text, whatever order their keys came in.
 *
 * @throws TypeError for anything that JSON cannot hold without loss: undefined, NaN, Infinity, a
 *   lone surrogate, a function, a class instance. Never silently drops a member.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0)
}

function write(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new TypeError(`canonical JSON: nesting deeper than ${MAX_DEPTH} levels`)
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      return writeString(value)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`canonical JSON: ${value} is not a JSON number`)
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth)
    default:
      throw new TypeError(`canonical JSON: cannot hold a value of type ${typeof value}`)
  }
}

// Strings without escapes, which most are: this test costs less than JSON.stringify.
const PLAIN = /^[ !#-[\]-~]*$/

function writeString(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  if (!value.isWellFormed()) throw new TypeError('canonical JSON: a string has a lone surrogate')
  return JSON.stringify(value)
}

function writeArray(items: readonly unknown[], depth: number): string {
  let out = '['
  // An index loop, since map() silently skips the holes of a sparse array.
  for (let i = 0; i < items.length; i += 1) out += (i > 0 ? ',' : '') + write(items[i], depth + 1)
  return `${out}]`
}

function writeObject(value: object, depth: number): string {
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) {
    throw new TypeError('canonical JSON: only plain objects can be written')
  }
  const members = value as Record<string, unknown>
  let out = '{'
  for (const key of sortedKeys(members)) {
    out += `${out.length > 1 ? ',' : ''}${writeString(key)}:${write(members[key], depth + 1)}`
  }
  return `${out}}`
}

/** Sorts by UTF-16 code units (RFC 8785 section 3.2.3), the default order of strings. */
function sortedKeys(members: Record<string, unknown>): string[] {
  const keys = Object.keys(members)
  // Our own objects are mostly in order, and checking costs less than sorting.
  return keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') < key) ? keys : keys.sort()
}
