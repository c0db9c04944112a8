import { isJsonObject, type Json } from '../base/json.ts'

/** Path to the argument that each header of a tool carries, by the header's name in lower case. */
export type HeaderPaths = ReadonlyMap<string, readonly string[]>

export const PARAM_HEADER = 'mcp-param-'
const MARK = 'x-mcp-header'

/**
 * Headers that clients send with a tool call (MCP 2026-07-28, Custom Headers from Tool Parameters). They stand for
 * marked properties of its schema that `properties` alone lead to.
 */
export function headerPathsOf(inputSchema: Json | undefined): HeaderPaths {
  return new Map(marked(inputSchema, []))
}

function* marked(schema: Json | undefined, path: readonly string[]): Generator<[string, readonly string[]]> {
  if (!isJsonObject(schema)) return
  const { [MARK]: name, properties } = schema
  if (typeof name === 'string' && path.length > 0) yield [`${PARAM_HEADER}${name.toLowerCase()}`, path]
  if (!isJsonObject(properties)) return
  for (const [member, inner] of Object.entries(properties)) yield* marked(inner, [...path, member])
}
