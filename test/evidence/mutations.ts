export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

export interface Mutation {
  /** Place, as a JSON pointer, and the change. */
  name: string
  value: Value
}

/** Every way to change one thing of a value. */
export function* mutations(value: Value, at = ''): Generator<Mutation> {
  for (const other of replacements(value)) yield { name: `${at} = ${JSON.stringify(other).slice(0, 40)}`, value: other }
  if (Array.isArray(value)) yield* arrayMutations(value, at)
  else if (typeof value === 'object' && value !== null) yield* objectMutations(value, at)
}

function replacements(value: Value): Value[] {
  if (typeof value === 'string') return [`${value}x`, value.slice(1), flipped(value), null, value.toUpperCase()]
  if (typeof value === 'number') return [value + 1, -value - 1, value + 0.5, String(value)]
  if (typeof value === 'boolean') return [!value, null]
  if (value === null) return [false, {}, '']
  return [null, Array.isArray(value) ? {} : []]
}

function flipped(text: string): string {
  const middle = Math.floor(text.length / 2)
  return text.slice(0, middle) + (text[middle] === '0' ? '1' : '0') + text.slice(middle + 1)
}

function* arrayMutations(items: Value[], at: string): Generator<Mutation> {
  for (const [i, item] of items.entries()) {
    yield { name: `${at} without ${i}`, value: items.toSpliced(i, 1) }
    yield { name: `${at} with ${i} twice`, value: items.toSpliced(i, 0, item) }
    for (const inner of mutations(item, `${at}/${i}`)) yield { ...inner, value: items.with(i, inner.value) }
  }
  yield { name: `${at} reversed`, value: items.toReversed() }
  yield { name: `${at} empty`, value: [] }
  yield { name: `${at} longer`, value: [...items, null] }
}

function* objectMutations(object: { [key: string]: Value }, at: string): Generator<Mutation> {
  for (const [key, item] of Object.entries(object)) {
    const { [key]: _, ...others } = object
    yield { name: `${at} without ${key}`, value: others }
    yield { name: `${at} with ${key} renamed`, value: { ...others, [`${key}_`]: item } }
    for (const inner of mutations(item, `${at}/${key}`)) yield { ...inner, value: { ...object, [key]: inner.value } }
  }
  // A further signature takes nothing from the service's own.
  if (at !== '/signatures') yield { name: `${at} with one member more`, value: { ...object, more: 1 } }
}
