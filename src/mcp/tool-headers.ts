import { isJsonObject, type Json } from '../base/json.ts'

/** Of the headers of a tool, in lower case, the argument that each carries: the names of members that lead to it. */
export type HeaderPaths = ReadonlyMap<string, readonly string[]>

export const PARAM_HEADER = 'mcp-param-'
const MARK = 'x-mcp-header'

/**
 * The headers that clients send with a call of a tool (MCP 2026-07-28, Custom Headers from Tool Parameters): properties of its schema
 * that are marked, as far as `properties` alone lead to them.
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
