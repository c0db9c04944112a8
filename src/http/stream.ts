import type { ServerResponse } from 'node:http'
import type { Stream, StreamItem } from '../actions/waiters.ts'
import { toGateError } from './errors.ts'

/** Delay after which a client reconnects. */
const RETRY_MS = 1000
/** Interval of the check whether a stream with a slow reader is over. */
const SLOW_POLL_MS = 100
/** Time that a reader has to take the end of its stream. */
const END_MS = 200

/**
 * Writes server-sent events until the stream is over or the client has gone. It reads the next event after the socket
 * took the one before, so a slow reader costs the memory of one.
 *
 * @throws the error of the stream. Before the first event nothing has been written; afterwards the connection is cut,
 *   or a stream with an end sends the failure
 */
export async function writeStream(
  response: ServerResponse,
  { items, isOver, ends }: Stream,
  requestId: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    for await (const item of items) {
      if (!response.headersSent) begin(response, ends, requestId, headers)
      if (response.req.method === 'HEAD') break
      response.write(textOf(item))
      while (response.writableNeedDrain && !response.destroyed && !isOver()) await drained(response)
      if (response.destroyed || isOver()) break
    }
    end(response)
  } catch (error) {
    if (response.headersSent && ends) endWith(response, error)
    else if (response.headersSent) response.destroy()
    throw error
  }
}

function endWith(response: ServerResponse, thrown: unknown): void {
  if (response.destroyed) return
  const { code, message } = toGateError(thrown)
  response.write(textOf({ event: { type: 'failed', json: JSON.stringify({ error: code, message }) } }))
  end(response)
}

function begin(
  response: ServerResponse,
  ends: boolean,
  requestId: string,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
    'x-request-id': requestId,
    ...headers,
  })
  // A client that resumed a stream with an end would start it anew.
  if (!ends && response.req.method !== 'HEAD') response.write(`retry: ${RETRY_MS}\n`)
}

/** An id without data moves the client's position and is not an event. JSON has no line breaks of its own. */
function textOf({ position, event }: StreamItem): string {
  const id = position === undefined ? '' : `id: ${position}\n`
  return event === undefined ? `: ok\n${id}\n` : `${id}event: ${event.type}\ndata: ${event.json}\n\n`
}

/** Resolves when the reader has caught up or gone, or after a moment. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      response.off('drain', done).off('close', done)
      resolve()
    }
    const timer = setTimeout(done, SLOW_POLL_MS)
    response.once('drain', done).once('close', done)
  })
}

/** Drops what the reader does not take soon: it may have lost its right to it, and a stop waits for it. */
function end(response: ServerResponse): void {
  if (response.destroyed) return
  const timer = setTimeout(() => response.destroy(), END_MS)
  response.once('close', () => clearTimeout(timer))
  response.end()
}
