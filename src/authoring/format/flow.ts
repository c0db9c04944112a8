import { isJsonObject, type Json } from '../../base/json.ts'
import { visibleJson } from '../../base/visible.ts'

/** Texts that no reader of YAML takes for anything else, in brackets or out of them; but for the words below. */
const BARE = /^[A-Za-z][A-Za-z0-9_./-]*$/
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i

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
  return typeof value === 'string' && BARE.test(value) && !WORDS.test(value) ? value : visibleJson(value)
}
