import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

export const ENVELOPE = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
/** Parameters by which a server knows what to do. */
const NAMED = ['name', 'arguments', '_meta', 'uri', 'taskId', 'task']

/**
 * A member of a message whose name some parsers take for that of another one: those of Go do not tell the case of letters apart.
 * Undefined where there is none.
 */
export function ambiguousName(message: JsonObject): string | undefined {
  const { params } = message
  const inParams = isJsonObject(params) ? Object.keys(params) : []
  return Object.keys(message).find((name) => !ENVELOPE.includes(name)) ?? twinOf(inParams, NAMED) ?? twinIn(message)
}

/** A name among those of members that is another one, or a known one, but for its case. */
export function twinOf(names: readonly string[], known: readonly string[] = []): string | undefined {
  const seen = new Map(known.map((name) => [folded(name), name]))
  return names.find((name) => {
    const other = seen.get(folded(name))
    seen.set(folded(name), name)
    return other !== undefined && other !== name
  })
}

function twinIn(value: Json): string | undefined {
  if (Array.isArray(value)) return firstOf(value)
  if (!isJsonObject(value)) return undefined
  return twinOf(Object.keys(value)) ?? firstOf(Object.values(value))
}

function firstOf(parts: readonly Json[]): string | undefined {
  for (const part of parts) {
    const twin = twinIn(part)
    if (twin !== undefined) return twin
  }
  return undefined
}

/** Upper case first, which makes one letter of the two forms of s. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase()
}
