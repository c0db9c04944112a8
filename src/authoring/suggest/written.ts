import { isJsonObject, type Json } from '../../base/json.ts'

/** A suggestion that is literal text instead of a value, such as a key with its value. */
export class Verbatim {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A suggested replacement at a place: a value, or literal text. */
export type Suggestion = Json | Verbatim

/** Longest suggestion: longer ones help nobody. */
const MAX_LENGTH = 300

// Plain texts that YAML reads as themselves, inside brackets and outside.
const PLAIN = /^[A-Za-z_$/](?:[A-Za-z0-9_$/.+*@-]|:(?=[A-Za-z0-9]))*(?: [A-Za-z0-9_$/.+*@()-]+)*$/
const DATE = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/
const RANGE = /^(?:\d{1,3}\.){3}\d{1,3}\/\d{1,2}$/
const DURATION = /^[1-9][0-9]*[smhd]$/
const NOT_TEXT = /^(?:null|true|false|~|[-+]?\.(?:inf|nan))$/i

/** The suggestion in the file's language, as a replacement of the marked text. Undefined when it is too long. */
export function written(suggestion: Suggestion, file: string): string | undefined {
  const text = suggestion instanceof Verbatim ? suggestion.text : asValue(suggestion, file)
  return text.length > MAX_LENGTH ? undefined : text
}

function asValue(value: Json, file: string): string {
  return file.endsWith('.json') ? JSON.stringify(value) : inYaml(value)
}

function inYaml(value: Json): string {
  if (typeof value === 'string') return yamlText(value)
  if (Array.isArray(value)) return `[${value.map(inYaml).join(', ')}]`
  if (!isJsonObject(value)) return String(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${yamlText(key)}: ${inYaml(member)}`)
    .join(', ')}}`
}

/** The text, quoted when YAML would read it as something else. */
export function yamlText(text: string): string {
  const isPlain = [PLAIN, DATE, RANGE, DURATION].some((form) => form.test(text)) && !NOT_TEXT.test(text)
  return isPlain ? text : JSON.stringify(text)
}
