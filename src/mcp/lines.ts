import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'

const NEWLINE = 10

/** Lines of a stream as bytes, without line ends and empty lines. @throws Error for a longer one */
export async function* linesOf(stream: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  const assertSize = (bytes: number): void => {
    if (bytes > maxBytes) throw new Error(`A message has more than ${maxBytes} bytes.`)
  }
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
      assertSize(trimmed.length)
      if (trimmed.length > 0) yield trimmed
    }
    parts.push(chunk.subarray(start))
    size += chunk.length - start
    assertSize(size)
  }
}

/** Reads a whole body; undefined when it is too large, and the caller handles the rest. */
export async function bodyOf(message: Readable, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Writes with backpressure. Drops text for a reader that has gone. */
export async function writeText(stream: Writable, text: string): Promise<void> {
  if (stream.writable && !stream.write(text) && stream.writable)
    await Promise.race([once(stream, 'drain'), once(stream, 'close')])
}
