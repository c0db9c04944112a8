import { createReadStream } from 'node:fs'
import { MAX_LINE_BYTES } from '../evidence/export.ts'

const LINE_FEED = 0x0a

/**
 * Reads the lines of a file, without their line feeds, in bounded memory. An oversized line comes as an empty one and
 * is the last. Only a line feed ends a line, since JSON may hold other separators.
 */
export async function* linesOf(path: string): AsyncGenerator<Uint8Array> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of createReadStream(path)) {
    const bytes: Buffer = chunk
    let from = 0
    for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
      yield Buffer.concat([...rest, bytes.subarray(from, at)])
      rest = []
      length = 0
      from = at + 1
    }
    if (from === bytes.byteLength) continue
    rest.push(bytes.subarray(from))
    length += bytes.byteLength - from
    if (length > MAX_LINE_BYTES) {
      yield new Uint8Array()
      return
    }
  }
  if (length > 0) yield Buffer.concat(rest)
}
