import type { Json } from '../base/json.ts'

/** Most characters shown of a value's JSON. */
export const MAX_SHOWN = 200

/** A value as an explanation shows it: whole, or the beginning of its JSON when that is long. */
export type Shown =
  | { readonly value: Json }
  | {
      readonly beginning: string
      /** Length of the whole JSON, in UTF-16 units. */
      readonly characters: number
    }

export function shown(value: Json): Shown {
  const text = JSON.stringify(value)
  if (text.length <= MAX_SHOWN) return { value }
  return { beginning: beginningOf(text, MAX_SHOWN), characters: text.length }
}

/** The text for display, shortened with a mark when it is long. */
export function shortText(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${beginningOf(text, MAX_SHOWN)}…`
}

/** The beginning of a text, never with half of a surrogate pair. */
function beginningOf(text: string, max: number): string {
  const isPair = /[\ud800-\udbff]/.test(text.charAt(max - 1))
  return text.slice(0, isPair ? max - 1 : max)
}
