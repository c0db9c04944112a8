import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { JsonObject } from '../base/json.ts'
import { mediaTypeOf, passedOn } from './http-headers.ts'
import { bodyOf, writeText } from './lines.ts'
import { errorAnswer, INTERNAL_ERROR } from './message.ts'
import { type EventFields, eventsOf, eventText } from './sse.ts'

/** Limit of a result, which can be an image. */
const MAX_ANSWER = 64 * 1024 * 1024
const EVENTS = 'text/event-stream'
const JSON_TYPE = 'application/json'
/** Type of an event that names none. The protocol has no other type. */
const MESSAGE = 'message'

/** Answer to one request of a client. It becomes a stream of events when a notification precedes it. */
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

  /** Sends a message of the relay. A notification is sent before the answer, when the client accepts events. */
  async say(message: JsonObject, status = 200): Promise<void> {
    const text = JSON.stringify(message)
    if (message.method !== undefined) return this.#takesEvents ? this.#event(text) : undefined
    return this.#last(text, status)
  }

  /** Passes on the server's answer. @param watch returns the client's part of a message, undefined for none */
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
    // An error page, such as of a proxy, is not a message.
    const what = `The server's answer with status ${status} is not a message.`
    return this.#fail(what, status < 400 ? 502 : status, passedOn(headers))
  }

  /** Ends the response; a message without answer gets an empty one. */
  end(): void {
    if (this.isOver) return
    if (!this.#response.headersSent) this.#response.writeHead(202)
    this.#response.end()
  }

  async #passEvents(answer: IncomingMessage, watch: (source: string) => string | undefined): Promise<void> {
    const response = this.#response
    const { statusCode = 200, headers } = answer
    if (!response.headersSent)
      response.writeHead(statusCode, { ...passedOn(headers), 'content-type': EVENTS }).flushHeaders()
    response.once('close', () => answer.destroy())
    for await (const one of eventsOf(answer, MAX_ANSWER)) {
      const fields = one.kind === 'event' ? passedFields(one.fields, watch) : undefined
      if (one.kind === 'comment') await writeText(response, ':\n\n')
      else if (fields !== undefined) await writeText(response, eventText(fields))
    }
    response.end()
  }

  #fail(what: string, status: number, headers?: OutgoingHttpHeaders): Promise<void> {
    return this.#last(JSON.stringify(errorAnswer(what, INTERNAL_ERROR)), status, headers)
  }

  /** Sends the last message and ends the response. */
  async #last(text: string, status: number, headers?: OutgoingHttpHeaders): Promise<void> {
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

/** Fields that the client receives: a message, or a position in the stream; undefined for nothing. */
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
  // A client that followed the redirect would reach the server without a gate.
  if (status >= 300 && status < 400) return 'The server answers with a redirect, which is not followed.'
  return encoding === 'identity' ? undefined : 'The server answers in an encoding that was not requested.'
}
