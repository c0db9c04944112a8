import { isJsonObject, type Json } from '../../base/json.ts'
import { visibleJson } from '../../base/visible.ts'

/** Texts that no reader of YAML takes for anything else, in brackets or out of them; but for the words below. */
const BARE = /^[A-Za-z][A-Za-z0-9_./-]*$/
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i

/** The text with an escape for each character of another script than Latin, which may look like one of it. */
export function plainText(text: string): string {
  return text.replace(/[^\x20-\x7e\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/**
 * The value on one line, as YAML between brackets. A text that could be read as anything else is quoted as JSON quotes
 * it, with an escape for each character that cannot be seen, so that no text ends its quotes or begins a line.
 */
export function flowYaml(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flowYaml).join(', ')}]`
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(([name, one]) => `${flowYaml(name)}: ${flowYaml(one)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  if (typeof value !== 'string') return visibleJson(value)
  return BARE.test(value) && !WORDS.test(value) ? value : plainText(visibleJson(value))
}
