import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { ExportFolder } from '../actions/audit/export-range.ts'
import { digestOfDigits } from '../base/digest.ts'
import { ENTRIES_FILE, laneFolder, MANIFEST_FILE, MAX_LINE_BYTES, MAX_MANIFEST_BYTES } from '../evidence/export.ts'
import type { ExportSource } from '../evidence/verify-export.ts'

const BUFFER_CHARACTERS = 256 * 1024
const LINE_FEED = 0x0a

/** Opens a folder for one export, created when missing. @throws when it holds a file of that name already */
export function exportFolder(dir: string): ExportFolder & { writeText(name: string, text: string): void } {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const create: ExportFolder['create'] = (name) => {
    const file = openSync(join(dir, name), 'wx', 0o600)
    // The file's entry in the folder must be synced too.
    const folder = openSync(dir, 'r')
    const hash = createHash('sha256')
    let waiting = ''
    let bytes = 0
    const flush = (): void => {
      const chunk = Buffer.from(waiting)
      for (let at = 0; at < chunk.byteLength; ) at += writeSync(file, chunk, at)
      hash.update(chunk)
      bytes += chunk.byteLength
      waiting = ''
    }
    return {
      write(text) {
        waiting += text
        if (waiting.length >= BUFFER_CHARACTERS) flush()
      },
      end() {
        flush()
        for (const written of [file, folder]) fsyncSync(written)
        for (const open of [file, folder]) closeSync(open)
        return { bytes, sha256: digestOfDigits(hash.digest('hex')) }
      },
    }
  }
  return {
    create,
    writeText(name, text) {
      const file = create(name)
      file.write(text)
      file.end()
    },
  }
}

/** Opens an export in its folder. @throws when the manifest is missing or too large */
export function readExport(dir: string): ExportSource {
  const path = join(dir, MANIFEST_FILE)
  if (statSync(path).size > MAX_MANIFEST_BYTES) throw new Error(`${path} is too large to be a manifest.`)
  return {
    manifest: readFileSync(path),
    async fileOf(name) {
      // Names come from our own code; the folder may come from anybody.
      if (!existsSync(join(dir, name))) return undefined
      const hash = createHash('sha256')
      let bytes = 0
      for await (const chunk of createReadStream(join(dir, name))) {
        hash.update(chunk)
        bytes += chunk.length
      }
      return { bytes, sha256: digestOfDigits(hash.digest('hex')) }
    },
    lines: () => entriesIn(join(dir, ENTRIES_FILE)),
    lane(number) {
      const folder = join(dir, laneFolder(number))
      const path = join(folder, MANIFEST_FILE)
      return existsSync(path) && statSync(path).size <= MAX_MANIFEST_BYTES ? readExport(folder) : undefined
    },
  }
}

/** Yields nothing when the file is missing, which the check of the files reports. */
async function* entriesIn(path: string): AsyncGenerator<Uint8Array> {
  if (existsSync(path)) yield* linesOf(createReadStream(path))
}

/**
 * Reads lines, without their line feeds, in bounded memory. An oversized line comes as an empty one and
 * is the last. Only a line feed ends a line, since JSON may hold other separators.
 */
export async function* linesOf(chunks: AsyncIterable<string | Buffer>): AsyncGenerator<Uint8Array> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk)
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
