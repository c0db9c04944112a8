/** Converts any thrown value to text; undefined when that fails. */
export function textOf(thrown: unknown): string | undefined {
  try {
    return String(thrown)
  } catch {
    return undefined
  }
}

/** Reads a thrown value. `isAll` is false when more may remain, such as a body, a cause, or inner errors. */
export function saidBy(thrown: unknown): { said: unknown[]; isAll: boolean } {
  const text = textOf(thrown)
  if (text === undefined) return { said: [''], isAll: false }
  const further = furtherOf(thrown)
  const numbers = further.filter((value) => typeof value === 'number')
  const isSaid = (value: unknown): boolean =>
    typeof value === 'string' ? text.includes(value) : ['number', 'boolean', 'undefined'].includes(typeof value)
  return { said: [text, ...numbers], isAll: further.every((value) => value === null || isSaid(value)) }
}

/** Values beside the text. The stack is left out, since it comes from the caller of the tool. */
function furtherOf(thrown: unknown): unknown[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  if (!(thrown instanceof Error)) return [thrown]
  const { stack: _, ...own } = Object.getOwnPropertyDescriptors(thrown) as Record<PropertyKey, PropertyDescriptor>
  return Reflect.ownKeys(own).map((key) => own[key]?.value ?? own[key]?.get)
}
