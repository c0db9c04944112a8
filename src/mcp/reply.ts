import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { JsonObject } from '../base/json.ts'
import { bodyOf } from './body.ts'
import { mediaTypeOf, passedOn } from './http-headers.ts'
import { writeText } from './lines.ts'
import { errorAnswer, INTERNAL_ERROR } from './message.ts'
import { type EventFields, eventsOf, eventText } from './sse.ts'

/** Results can be images. */
const MAX_ANSWER = 64 * 1024 * 1024
const EVENTS = 'text/event-stream'
const JSON_TYPE = 'application/json'
/** The type of an event that names none. Others are none of the protocol. */
const MESSAGE = 'message'

/**
 * The answer to one request of a client, from the relay or the server. It becomes a stream of events where something is to be told
 * before it is there.
 */
export class Reply {
  readonly #response: ServerResponse
  readonly #takesEvents: boolean

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#response = response
    this.#takesEvents = (request.headers.accept ?? '').includes(EVENTS)
  }

  get isOver(): boolean {
    return this.#response.writableEnded
  }

  /** A message of the relay: a notification goes before the answer, where the client takes events. */
  async say(message: JsonObject, status = 200, headers: OutgoingHttpHeaders = {}): Promise<void> {
    const text = JSON.stringify(message)
    if (message.method !== undefined) return this.#takesEvents ? this.#event(text) : undefined
    return this.#last(text, status, headers)
  }

  /** Passes on what the server answers. @param watch gives what the client gets of a message; undefined where it gets nothing */
  async pass(answer: IncomingMessage, watch: (source: string) => string | undefined): Promise<void> {
    const { statusCode: status = 502, headers } = answer
    const fault = faultOf(status, headers)
    if (fault !== undefined) {
      answer.destroy()
      return this.#fail(fault, 502)
    }
    const type = mediaTypeOf(headers)
    if (type === EVENTS) return this.#passEvents(answer, watch)
    const body = await bodyOf(answer, MAX_ANSWER)
    if (body === undefined) {
      answer.destroy()
      return this.#fail('The answer of the server is too large.', 502)
    }
    const message = type === JSON_TYPE ? watch(body.toString()) : undefined
    if (message !== undefined) return this.#last(message, status, passedOn(headers))
    const isEmpty = body.length === 0 && !this.#response.headersSent
    if (isEmpty) return void this.#response.writeHead(status, passedOn(headers)).end()
    // A page about an error, such as of a proxy: what it says is no message.
    return this.#fail(
      `The answer of the server, of status ${status}, is no message.`,
      status < 400 ? 502 : status,
      passedOn(headers),
    )
  }

  /** Nothing more comes: what was sent needs no answer. */
  end(): void {
    if (this.isOver) return
    if (!this.#response.headersSent) this.#response.writeHead(202)
    this.#response.end()
  }

  async #passEvents(answer: IncomingMessage, watch: (source: string) => string | undefined): Promise<void> {
    const response = this.#response
    if (!response.headersSent)
      response
        .writeHead(answer.statusCode ?? 200, { ...passedOn(answer.headers), 'content-type': EVENTS })
        .flushHeaders()
    response.once('close', () => answer.destroy())
    for await (const one of eventsOf(answer, MAX_ANSWER)) {
      if (one.kind === 'comment') await writeText(response, ':\n\n')
      else {
        const fields = passedFields(one.fields, watch)
        if (fields !== undefined) await writeText(response, eventText(fields))
      }
    }
    response.end()
  }

  #fail(what: string, status: number, headers: OutgoingHttpHeaders = {}): Promise<void> {
    return this.#last(JSON.stringify(errorAnswer(what, INTERNAL_ERROR)), status, headers)
  }

  /** The message after which nothing comes. */
  async #last(text: string, status: number, headers: OutgoingHttpHeaders): Promise<void> {
    const response = this.#response
    if (!response.headersSent) response.writeHead(status, { ...headers, 'content-type': JSON_TYPE }).end(text)
    else {
      await this.#event(text)
      response.end()
    }
  }

  async #event(data: string): Promise<void> {
    if (!this.#response.headersSent)
      this.#response.writeHead(200, { 'content-type': EVENTS, 'cache-control': 'no-cache' })
    await writeText(this.#response, eventText({ event: MESSAGE, data }))
  }
}

/** A message, or what names a place in the stream; undefined where the client gets nothing of it. */
function passedFields(
  { event, data, ...place }: EventFields,
  watch: (source: string) => string | undefined,
): EventFields | undefined {
  if (data === undefined) return place
  if (data === '') return { ...place, data }
  const message = (event || MESSAGE) === MESSAGE ? watch(data) : undefined
  return message === undefined ? undefined : { ...place, data: message }
}

function faultOf(status: number, headers: IncomingHttpHeaders): string | undefined {
  const { 'content-encoding': encoding = 'identity' } = headers
  // Whoever followed it would be at the server without a gate.
  if (status >= 300 && status < 400) return 'The server answers from somewhere else, which is not followed.'
  return encoding === 'identity' ? undefined : 'The server answers in an encoding that was not asked for.'
}
