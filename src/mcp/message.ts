import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts'
import { ambiguousName } from './ambiguous.ts'

/** Id of a JSON-RPC 2.0 message. MCP sends one object a message. */
export type Id = string | number

export interface Request {
  id: Id
  method: string
  params: JsonObject
}

/** Message of a client, as far as the relay needs to know it. */
export type ClientMessage =
  | ({ kind: 'request'; message: JsonObject } & Request)
  | { kind: 'notification'; method: string; params: JsonObject; message: JsonObject }
  /** Response to a request of the server. */
  | { kind: 'response'; message: JsonObject }
  /** Rejected: the client receives this answer, and the server receives nothing. */
  | { kind: 'refused'; answer: JsonObject }

/** Limits beyond those of the gate, which refuses deeper arguments with a reason. */
const LIMITS = { maxDepth: 64, maxValues: 500_000 }
export const TOOL_CALL = 'tools/call'
/** Form of a method: no part is empty, `.` or `..`, which a server might resolve as in a path. */
const METHOD = /^[\w$-]+(?:[./][\w$-]+)*$/
const TOOL_METHODS = ['tools/list', TOOL_CALL]
const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const INTERNAL_ERROR = -32603

/**
 * Reads a message strictly: the relay rejects whatever two parsers could read differently. It rejects batches too,
 * which only one revision of MCP has.
 */
export function readClientMessage(bytes: Uint8Array): ClientMessage {
  let message: Json
  try {
    message = parseJson(bytes, LIMITS)
  } catch (error) {
    return refused(PARSE_ERROR, `The message cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  if (!isJsonObject(message)) return refused(INVALID_REQUEST, 'A message is one object; batches are not supported.')
  const ambiguous = ambiguousName(message)
  if (ambiguous !== undefined)
    return refused(INVALID_REQUEST, `${ambiguous} is not a member of a message, or appears twice in different case.`)
  const { id, method, params = {} } = message
  const known = isId(id) ? id : null
  if (method === undefined) {
    const isAnswer = message.result !== undefined || message.error !== undefined
    return isAnswer ? { kind: 'response', message } : refused(INVALID_REQUEST, 'The message has no method.', known)
  }
  if (typeof method !== 'string') return refused(INVALID_REQUEST, 'The method is not a text.')
  if (!isMethod(method)) return refused(INVALID_REQUEST, 'The method is not a method of MCP.', known)
  if ('result' in message || 'error' in message)
    return refused(INVALID_REQUEST, 'The message asks and answers at once.', known)
  // JSON-RPC allows lists of parameters, but MCP does not: a server could read a tool call into one.
  if (!isJsonObject(params)) return refused(INVALID_REQUEST, 'The parameters are not an object.', known)
  if (id === undefined) return { kind: 'notification', method, params, message }
  if (known === null) return refused(INVALID_REQUEST, 'The id is neither a text nor a number.')
  return { kind: 'request', id: known, method, params, message }
}

/** False for a name that a server less strict than the gate would run as a tool call: with tools only two things are done. */
function isMethod(method: string): boolean {
  const letters = method.replace(/[^a-z]/gi, '').toLowerCase()
  const isAboutTools = letters.startsWith('tool') || letters.includes('toolscall')
  return METHOD.test(method) && (!isAboutTools || TOOL_METHODS.includes(method))
}

/** A number that a double cannot hold could be taken for the id of another message. */
export function isId(id: Json | undefined): id is Id {
  return typeof id === 'string' || (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER)
}

/** @param id null when it answers no particular request */
export function errorAnswer(message: string, code: number, id: Id | null = null): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

function refused(code: number, message: string, id: Id | null = null): ClientMessage {
  return { kind: 'refused', answer: errorAnswer(message, code, id) }
}

/** Prefix of the members of `_meta` that are for the gate and are not passed on. */
const OWN_META = 'io.gate-sidecar/'
/** Member in which an agent sends its user's request. */
export const USER_REQUEST_META = `${OWN_META}userRequest`
const DECISION_META = `${OWN_META}decision`
/** Since revision 2026-07-28 each request names its revision, and each result its type. */
const REVISION_META = 'io.modelcontextprotocol/protocolVersion'

export function metaOf({ params }: Request): JsonObject {
  return isJsonObject(params._meta) ? params._meta : {}
}

/** Removes the members that are for the gate. */
export function withoutOwnMeta(message: JsonObject): JsonObject {
  const { params } = message
  if (!isJsonObject(params) || !isJsonObject(params._meta)) return message
  const kept = Object.entries(params._meta).filter(([name]) => !name.startsWith(OWN_META))
  return { ...message, params: { ...params, _meta: Object.fromEntries(kept) } }
}

/** Answer to a call that is not allowed: an error of the tool, which the model reads. */
export function refusalOf(request: Request, text: string, decision: JsonObject): JsonObject {
  const result = {
    ...(metaOf(request)[REVISION_META] !== undefined && { resultType: 'complete' }),
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { [DECISION_META]: decision },
  }
  return { jsonrpc: '2.0', id: request.id, result }
}
