import type { Json, JsonObject } from '../../src/base/json.ts'

/** Places of a document: the keys and positions that lead there. */
export function placesOf(value: Json, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [
    at,
    ...Object.entries(value).flatMap(([key, one]) => placesOf(one, [...at, Array.isArray(value) ? Number(key) : key])),
  ]
}

/** The document with another value at a place, or with another key there. */
export function changed(
  document: Json,
  at: readonly (string | number)[],
  change: (holder: JsonObject | Json[], key: string | number) => void,
): Json {
  const copy: Json = JSON.parse(JSON.stringify(document))
  let holder: Json = copy
  for (const key of at.slice(0, -1)) holder = (holder as JsonObject)[key] as Json
  const last = at.at(-1)
  if (last !== undefined && typeof holder === 'object' && holder !== null) change(holder, last)
  return copy
}
