import type { ServerResponse } from 'node:http'
import type { EventStream, Told } from '../actions/events.ts'

/** What a route answers with when it has no end. */
export type Stream = EventStream

/** A client that has lost its connection comes back after this. */
const RETRY_MS = 1000
/** How often it is asked whether a stream whose reader is slow is over. */
const SLOW_LOOK_MS = 100
/** How long a reader has to take the end of its stream. */
const END_MS = 200

/**
 * Writes server-sent events until the stream is over or the client has gone. The next one is read when the socket
 * has taken the one before, so that a slow reader costs the memory of one.
 *
 * @throws what the stream throws: before the first event nothing has been written, afterwards the connection is cut
 */
export async function writeStream(
  response: ServerResponse,
  { items, isOver }: Stream,
  requestId: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    for await (const item of items) {
      if (!response.headersSent) begin(response, requestId, headers)
      if (response.req.method === 'HEAD') break
      response.write(textOf(item))
      while (response.writableNeedDrain && !response.destroyed && !isOver()) await drained(response)
      if (response.destroyed || isOver()) break
    }
    end(response)
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  }
}

function begin(response: ServerResponse, requestId: string, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
    'x-request-id': requestId,
    ...headers,
  })
  if (response.req.method !== 'HEAD') response.write(`retry: ${RETRY_MS}\n`)
}

/** An id without data moves the client's position and is no event to it. JSON has no line breaks of its own. */
function textOf({ position, event }: Told): string {
  if (event === undefined) return `: ok\nid: ${position}\n\n`
  return `id: ${position}\nevent: ${event.type}\ndata: ${event.json}\n\n`
}

/** Resolves when the reader has caught up or gone, or after a moment. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      response.off('drain', done).off('close', done)
      resolve()
    }
    const timer = setTimeout(done, SLOW_LOOK_MS)
    response.once('drain', done).once('close', done)
  })
}

/** What the reader does not take soon it is not given: it may have no right to it any more, and a stop waits for it. */
function end(response: ServerResponse): void {
  if (response.destroyed) return
  const timer = setTimeout(() => response.destroy(), END_MS)
  response.once('close', () => clearTimeout(timer))
  response.end()
}
