import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

/** A line of more bytes than a relay keeps. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

const NEWLINE = 10

/** The lines of a stream as bytes, without their ends and without empty ones. @throws LineTooLong */
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

/** Writes, and waits where the reader is slow. What nobody reads any more is dropped. */
export async function writeText(stream: Writable, text: string): Promise<void> {
  if (stream.writable && !stream.write(text) && stream.writable)
    await Promise.race([once(stream, 'drain'), once(stream, 'close')])
}
