import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** The line exceeds the bytes that a relay keeps. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

const NEWLINE = 10

/** Lines of a stream as bytes, without line ends and empty lines. @throws LineTooLong */
export async function* linesOf(stream: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end)])
      parts = []
      size = 0
      start = end + 1
      const trimmed = line.at(-1) === 13 ? line.subarray(0, -1) : line
      if (trimmed.length > maxBytes) throw new LineTooLong(`A message has more than ${maxBytes} bytes.`)
      if (trimmed.length > 0) yield trimmed
    }
    parts.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > maxBytes) throw new LineTooLong(`A message has more than ${maxBytes} bytes.`)
  }
}

/** Writes with backpressure. Drops text for a reader that has gone. */
export async function writeText(stream: Writable, text: string): Promise<void> {
  if (stream.writable && !stream.write(text) && stream.writable)
    await Promise.race([once(stream, 'drain'), once(stream, 'close')])
}
