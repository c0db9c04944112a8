import type { IncomingMessage } from 'node:http'

/** Reads a whole body; undefined when it is too large, and the caller handles the rest. */
export async function bodyOf(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
