import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

export const ENVELOPE = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
/** Parameters that decide what a server does. */
const NAMED = ['name', 'arguments', '_meta', 'uri', 'taskId', 'task']

/** Finds a member name that some parsers, such as Go's, take for another one: they ignore case. */
export function ambiguousName(message: JsonObject): string | undefined {
  const { params } = message
  const inParams = isJsonObject(params) ? Object.keys(params) : []
  return Object.keys(message).find((name) => !ENVELOPE.includes(name)) ?? twinOf(inParams, NAMED) ?? twinIn(message)
}

/** Finds a name that differs only in case from another one or from a known one. */
export function twinOf(names: readonly string[], known: readonly string[] = []): string | undefined {
  const seen = new Map(known.map((name) => [folded(name), name]))
  return names.find((name) => {
    const other = seen.get(folded(name))
    seen.set(folded(name), name)
    return other !== undefined && other !== name
  })
}

function twinIn(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  let twin = Array.isArray(value) ? undefined : twinOf(Object.keys(value))
  for (const part of Object.values(value)) twin ??= twinIn(part)
  return twin
}

/** Upper case first, which joins the two forms of the Greek letter sigma. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase()
}
