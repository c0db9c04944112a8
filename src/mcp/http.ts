import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { GateError } from '../base/errors.ts'
import { assertHost } from '../base/host.ts'
import type { JsonObject } from '../base/json.ts'
import type { Exchange } from './exchange.ts'
import { differingHeader, passedOn } from './http-headers.ts'
import { bodyOf } from './lines.ts'
import { type ClientMessage, errorAnswer, INTERNAL_ERROR, INVALID_REQUEST, isId, readClientMessage } from './message.ts'
import { Reply } from './reply.ts'
import { type Standing, sessions } from './sessions.ts'
import type { ToolBook } from './tool-book.ts'

/** Accepts only UTF-8, so that the server reads the same text as the relay. */
const JSON_IN_UTF8 = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i
const MAX_BODY = 16 * 1024 * 1024
const HEADER_MISMATCH = -32020
/** Time that requests under way have to end when the relay stops. */
const DRAIN_MS = 2000

export interface HttpOptions {
  /** Address of the server. Its path is also the path of the relay. */
  upstream: URL
  port: number
  /** Knowledge of the exchanges about tools. */
  book: ToolBook
  makeExchange(standing: Standing): Exchange
  /** Receives failures of the server. */
  onBroken(what: string): void
}

/** Relay on the loopback address in front of an MCP server that speaks HTTP (MCP, Streamable HTTP transport). */
export async function relayHttp(options: HttpOptions) {
  const known = sessions(options.makeExchange)
  const server = createServer((request, response) => {
    const reply = new Reply(request, response)
    serve(options, known, request, response, reply).catch((error: unknown) => {
      // A client that has gone gets no answer, and an error from its leaving is nobody's fault.
      if (response.destroyed || reply.isOver) return
      options.onBroken(error instanceof Error ? error.message : String(error))
      if (response.headersSent) response.destroy()
      else void reply.say(errorAnswer('The server cannot be reached.', INTERNAL_ERROR), 502)
    })
  })
  server.listen(options.port, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${options.upstream.pathname}`,
    async close(): Promise<void> {
      await known.close()
      server.close()
      setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref()
      server.closeIdleConnections()
      await once(server, 'close')
    },
  }
}

type Sessions = ReturnType<typeof sessions>

async function serve(
  options: HttpOptions,
  known: Sessions,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
): Promise<void> {
  const fault = faultOf(request, options.upstream)
  if (fault !== undefined) return reply.say(errorAnswer(fault.message, INVALID_REQUEST), fault.status)
  const hasBody = request.method === 'POST'
  const body = hasBody ? await bodyOf(request, MAX_BODY) : undefined
  if (hasBody && body === undefined) {
    // Drains the body: a client that is still writing would miss the answer.
    request.resume()
    return reply.say(errorAnswer('The message is too large.', INVALID_REQUEST), 413)
  }
  const read = body && readClientMessage(body)
  if (read?.kind === 'refused') return reply.say(read.answer, 400)
  const header = differingHeader(request.headers, read && 'method' in read ? read : undefined, options.book)
  if (header !== undefined) {
    const id = read?.kind === 'request' ? read.id : null
    const message = `The header ${header} contradicts the body.`
    return reply.say(errorAnswer(message, HEADER_MISMATCH, id), 400)
  }
  const session = sessionOf(request.headers)
  const exchange = known.of(session)
  response.once('close', () => known.release(exchange))
  const forward = async (message?: JsonObject): Promise<void> => {
    const answer = await send(options.upstream, request, message && JSON.stringify(message), response)
    await followSession(known, request, answer, read)
    await reply.pass(answer, (source) => known.hear(exchange, source))
  }
  if (read === undefined) return forward()
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const { requestId } = read.kind === 'notification' ? read.params : {}
  if (session === undefined && isId(requestId)) known.giveUp(requestId)
  await exchange.fromClient(read, { signal: gone.signal, toServer: forward, toClient: (message) => reply.say(message) })
  reply.end()
}

function sessionOf({ 'mcp-session-id': session }: IncomingHttpHeaders): string | undefined {
  return typeof session === 'string' ? session : undefined
}

/** Begins and ends sessions as the server's answers require. */
async function followSession(
  known: Sessions,
  { method, headers }: IncomingMessage,
  answer: IncomingMessage,
  read: ClientMessage | undefined,
): Promise<void> {
  const session = sessionOf(headers)
  const named = sessionOf(answer.headers)
  if (session === undefined) {
    if (named !== undefined) known.begin(named, read?.kind === 'request' && read.method === 'initialize')
  } else if (method === 'DELETE') await known.forget(session)
  else if (method === 'POST' && answer.statusCode === 404) await known.lose(session)
}

function faultOf(
  { headers, method = '', url = '' }: IncomingMessage,
  { pathname }: URL,
): { status: number; message: string } | undefined {
  try {
    assertHost(headers.host, [])
    // Pages of other origins are refused (MCP, Streamable HTTP, Security).
    if (headers.origin !== undefined) assertHost(URL.canParse(headers.origin) ? new URL(headers.origin).host : '', [])
  } catch (error) {
    if (error instanceof GateError) return { status: 403, message: 'This Host or Origin is not accepted.' }
    throw error
  }
  if (url.split('?', 1)[0] !== pathname) return { status: 404, message: `The server is at ${pathname}.` }
  if (!['POST', 'GET', 'DELETE'].includes(method)) return { status: 405, message: `${method} is not allowed.` }
  const { 'content-type': type = '', 'content-encoding': encoding } = headers
  if (method === 'POST' && (!JSON_IN_UTF8.test(type) || encoding !== undefined))
    return { status: 415, message: 'Send a message as application/json in UTF-8, without a content encoding.' }
  return undefined
}

/** Forwards the request; aborts it when the client has gone. */
async function send(
  upstream: URL,
  { method, headers }: IncomingMessage,
  body: string | undefined,
  response: ServerResponse,
): Promise<IncomingMessage> {
  const request = upstream.protocol === 'https:' ? httpsRequest : httpRequest
  const sent = request(upstream, {
    method,
    headers: {
      ...passedOn(headers),
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    },
  })
  response.once('close', () => sent.destroy())
  sent.end(body)
  const [answer] = await once(sent, 'response')
  return answer
}
