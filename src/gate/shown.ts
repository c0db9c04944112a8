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
  return text.length <= MAX_SHOWN ? { value } : { beginning: beginningOf(text), characters: text.length }
}

/** The text for display, shortened with a mark when it is long. */
export function shortText(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${beginningOf(text)}…`
}

/** The beginning of a text, never with half of a surrogate pair. */
function beginningOf(text: string): string {
  return text.slice(0, MAX_SHOWN).replace(/[\ud800-\udbff]$/, '')
}
