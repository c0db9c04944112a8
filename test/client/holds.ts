import assert from 'node:assert/strict'

/** The value has every member of `expected`, at any depth; a pattern is matched, a list has as many items. */
export function assertHolds(value: unknown, expected: unknown, what: string): void {
  if (expected instanceof RegExp) assert.match(String(value), expected, what)
  else if (typeof expected !== 'object' || expected === null) assert.equal(value, expected, what)
  else {
    assert.ok(typeof value === 'object' && value !== null, `${what} is ${JSON.stringify(value)}`)
    if (Array.isArray(expected)) assert.equal((value as unknown[]).length, expected.length, what)
    for (const [name, inner] of Object.entries(expected)) {
      assertHolds((value as Record<string, unknown>)[name], inner, `${what}.${name} of ${JSON.stringify(value)}`)
    }
  }
}

/** The same with each text `$name` replaced by what is known under that name. */
export function filledIn<T>(value: T, known: Readonly<Record<string, unknown>>): T {
  if (typeof value === 'string' && value.startsWith('$')) return known[value.slice(1)] as T
  if (Array.isArray(value)) return value.map((item) => filledIn(item, known)) as T
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filledIn(inner, known)])) as T
}
