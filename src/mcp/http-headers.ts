import type { IncomingHttpHeaders } from 'node:http'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'
import { TOOL_CALL } from './message.ts'
import { PARAM_HEADER, type ToolBook } from './tool-book.ts'

/** Hop-by-hop and recomputed headers (RFC 9110, 7.6.1). Both sides must send plain text, to be watched. */
const NOT_PASSED_ON = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'host',
  'keep-alive',
  'origin',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/)
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !NOT_PASSED_ON.has(name) && !named.includes(name)),
  )
}

/** Media type without parameters, in lower case; empty when the header is missing. */
export function mediaTypeOf({ 'content-type': type = '' }: IncomingHttpHeaders): string {
  return type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/**
 * Finds a header that contradicts the body (MCP 2026-07-28, Streamable HTTP): a server that follows headers would do
 * something other than what was decided. Undefined when they agree.
 *
 * @param said undefined for a message without method, which no header can describe
 */
export function differingHeader(
  headers: IncomingHttpHeaders,
  said: { method: string; params: JsonObject } | undefined,
  book: ToolBook,
): string | undefined {
  const { name, uri, taskId } = said?.params ?? {}
  return Object.keys(headers).find((header) => {
    const text = decoded(String(headers[header]))
    if (header === 'mcp-method') return text !== said?.method
    if (header === 'mcp-name') return text !== (name ?? uri ?? taskId)
    return header.startsWith(PARAM_HEADER) && !(said?.method === TOOL_CALL && carries(text, header, said.params, book))
  })
}

/** True when the header equals the argument that it stands for; for an unknown tool, any argument. */
function carries(text: string, header: string, { name, arguments: args }: JsonObject, book: ToolBook): boolean {
  const paths = book.headers(String(name))
  if (paths === undefined) return textsIn(args).includes(text)
  const path = paths.get(header)
  const value = path?.reduce<Json | undefined>(
    (outer, member) => (isJsonObject(outer) ? outer[member] : undefined),
    args,
  )
  if (typeof value === 'number') return text.trim() !== '' && Number(text) === value
  return (typeof value === 'string' || typeof value === 'boolean') && text === String(value)
}

const WRAPPED = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/

function decoded(value: string): string {
  const [, base64] = WRAPPED.exec(value) ?? []
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString()
}

function textsIn(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (isJsonObject(value)) return Object.values(value).flatMap(textsIn)
  return value === undefined ? [] : [String(value)]
}
