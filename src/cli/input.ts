import type { Io } from './io.ts'

/** The bytes of stdin, up to one chunk beyond the limit, so that the caller can tell that it is too large. */
export async function readInput({ stdin }: Io, limit: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    length += bytes.byteLength
    if (length > limit) break
  }
  return Buffer.concat(chunks)
}
