import { MAX_ANSWER_BYTES, malformed, readAnswer } from './answer.ts'
import type { Connection } from './connection.ts'
import { GateError, isPassing } from './errors.ts'
import { pause } from './pause.ts'

/** Something that happened in the tenant, as far as the key may know of it. An event is no permission. */
export interface GateEvent {
  /** Its place in the stream: where `lastEventId` goes on behind it. */
  position: string
  /** Of the audit entry. */
  id: string
  timestamp: string
  eventType: string
  data: unknown
}

export interface EventOptions {
  /** Start behind the event of this position, not now. */
  lastEventId?: string
  signal?: AbortSignal
}

/** The service gives a sign of life each 15 s. */
const SILENCE_MS = 45_000
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

/**
 * Events as they come, until the loop is left or the signal aborted. A stream that breaks is taken up where it broke, so that none is
 * missed and none comes twice.
 *
 * @throws GateError when the service will not have this key or this position
 */
export async function* events(
  connection: Connection,
  options: EventOptions = {},
): AsyncGenerator<GateEvent, void, void> {
  const { signal } = options
  let position = options.lastEventId
  for (let failures = 0; !signal?.aborted; failures += 1) {
    try {
      const headers = position === undefined ? {} : { 'last-event-id': position }
      for await (const { id = position, data } of blocks(
        (either) => connection.open('events', { headers }, either),
        signal,
      )) {
        failures = 0
        position = id
        if (data !== undefined && position !== undefined) yield eventOf(data, position)
      }
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof GateError && !isPassing(error)) throw error
    }
    try {
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal)
    } catch {
      return
    }
  }
}

/** @throws GateError for what is none */
function eventOf(data: string, position: string): GateEvent {
  try {
    return { ...JSON.parse(data), position }
  } catch (cause) {
    throw new GateError('malformed_answer', 'What came is no event.', { cause })
  }
}

/** A block of server-sent events (HTML, 9.2.6), without those fields that the service does not send. */
export interface Block {
  id?: string
  event?: string
  data?: string
}

/** The blocks of one stream, until it ends or falls silent. @throws GateError for what is no stream, and as the service refuses it */
export async function* blocks(
  open: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Block> {
  const over = new AbortController()
  const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal])
  let heardMs = performance.now()
  const watch = setInterval(() => {
    if (performance.now() - heardMs > SILENCE_MS) over.abort(new Error('the stream fell silent'))
  }, SILENCE_MS / 5)
  try {
    const response = await open(either)
    if (response.body === null || response.headers.get('content-type') !== 'text/event-stream') {
      await readAnswer(response, 'object')
      throw new GateError('malformed_answer', 'What answered is no stream of events.', { status: response.status })
    }
    let rest = ''
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      heardMs = performance.now()
      const texts = (rest + part.value).split('\n\n')
      rest = texts.pop() ?? ''
      for (const text of texts) yield blockOf(text)
      if (rest.length > MAX_ANSWER_BYTES) throw malformed(response)
    }
  } finally {
    clearInterval(watch)
    over.abort()
  }
}

function blockOf(text: string): Block {
  const block: Block = {}
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) block.id = line.slice('id: '.length)
    if (line.startsWith('event: ')) block.event = line.slice('event: '.length)
    if (line.startsWith('data: ')) block.data = line.slice('data: '.length)
  }
  return block
}
