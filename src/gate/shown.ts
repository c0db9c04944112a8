import type { Json } from '../base/json.ts'

/** As many characters of a value's JSON are shown. */
export const MAX_SHOWN = 200

/** A value as an explanation shows it: whole, or the beginning of its JSON where that is long. */
export type Shown =
  | { readonly value: Json }
  | {
      readonly beginning: string
      /** Of the whole JSON, in UTF-16 units. */
      readonly characters: number
    }

export function shown(value: Json): Shown {
  const text = JSON.stringify(value)
  if (text.length <= MAX_SHOWN) return { value }
  return { beginning: beginningOf(text, MAX_SHOWN), characters: text.length }
}

/** The text as it is, or shortened with a mark, where it is only to be read. */
export function shortText(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${beginningOf(text, MAX_SHOWN)}…`
}

/** No character is cut in two. */
function beginningOf(text: string, max: number): string {
  const isPair = /[\ud800-\udbff]/.test(text.charAt(max - 1))
  return text.slice(0, isPair ? max - 1 : max)
}
