import type { Json } from '../../base/json.ts'
import { isHeld } from './node.ts'

/** Words of the core schema (YAML 1.2.2, 10.3.2), but the empty one. */
const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ...['~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
])
/** Its numerals. */
const NUMERAL =
  /^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** Those that read alike everywhere. */
const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/

/** The value of a text without quotes; undefined for a numeral in an odd form, or of which a double loses digits. */
export function plainValue(text: string): Json | undefined {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (!NUMERAL.test(text)) return text
  const value = Number(text)
  return DECIMAL.test(text) && isHeld(value, text) ? value : undefined
}
