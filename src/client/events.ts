import { MAX_ANSWER_BYTES, malformed, readAnswer } from './answer.ts'
import type { Connection } from './connection.ts'
import { GateError, isPassing } from './errors.ts'
import { pause } from './pause.ts'

/** Event in the tenant, as far as the key may see it. An event is not a permission. */
export interface GateEvent {
  /** Position in the stream, after which `lastEventId` resumes. */
  position: string
  /** Id of the audit entry. */
  id: string
  timestamp: string
  eventType: string
  data: unknown
}

export interface EventOptions {
  /** Resumes after the event at this position, not at the present. */
  lastEventId?: string
  signal?: AbortSignal
}

/** Limit of silence; the service sends a keep-alive each 15 s. */
const SILENCE_MS = 45_000
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

/**
 * Yields events until the loop is left or the signal aborts. Resumes a broken stream without loss or repetition.
 *
 * @throws GateError when the service refuses the key or the position
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
        if (data !== undefined && position !== undefined) yield { ...parsedData<GateEvent>(data), position }
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

/** Parses the data of an event into the form that the service declares. @throws GateError for text that is not JSON */
export function parsedData<T>(data = ''): T {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new GateError('malformed_answer', 'The server sent an invalid event.', { cause })
  }
}

/** Block of server-sent events (HTML, 9.2.6), with the fields that the service sends. */
export type Block = Partial<Record<(typeof FIELDS)[number], string>>

const FIELDS = ['id', 'event', 'data'] as const

/** Reads the blocks of one stream, until it ends or falls silent. @throws GateError when there is no stream */
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
      throw new GateError('malformed_answer', 'The answer is not an event stream.', { status: response.status })
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
  for (const line of text.split('\n'))
    for (const field of FIELDS) if (line.startsWith(`${field}: `)) block[field] = line.slice(`${field}: `.length)
  return block
}
