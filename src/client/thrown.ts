/** A text of anything thrown, undefined where that cannot be told. */
export function textOf(thrown: unknown): string | undefined {
  try {
    return String(thrown)
  } catch {
    return undefined
  }
}

/** What is read of something thrown, and whether that is all: an error can have a body, a cause, errors that it is of. */
export function saidBy(thrown: unknown): { said: unknown[]; isAll: boolean } {
  const text = textOf(thrown)
  if (text === undefined) return { said: [''], isAll: false }
  const further = furtherOf(thrown)
  const numbers = further.filter((value) => typeof value === 'number')
  const isSaid = (value: unknown): boolean =>
    typeof value === 'string' ? text.includes(value) : ['number', 'boolean', 'undefined'].includes(typeof value)
  return { said: [text, ...numbers], isAll: further.every((value) => value === null || isSaid(value)) }
}

/** What it holds beside its text. A stack is from who ran the tool. */
function furtherOf(thrown: unknown): unknown[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  if (!(thrown instanceof Error)) return [thrown]
  const { stack: _, ...own } = Object.getOwnPropertyDescriptors(thrown) as Record<PropertyKey, PropertyDescriptor>
  return Reflect.ownKeys(own).map((key) => own[key]?.value ?? own[key]?.get)
}
