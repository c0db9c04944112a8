import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type AnchorRecord, type AnchorSink, type NewestAnchors, SinkFailure } from '../actions/anchors/anchors.ts'
import { type Anchor, anchorLine, type Claim, claimOf, parseAnchor } from '../evidence/anchor.ts'

const LINE_FEED = 0x0a
const READ_BYTES = 256 * 1024
/** Limit of one line: a note has at most 16 KiB, and JSON escapes may double it. */
const MAX_LINE_BYTES = 64 * 1024

/** Append-only file of anchors, one a line. It lies where nobody who can write the data file can change it. */
export function anchorFile(path: string): AnchorSink & AnchorRecord {
  return {
    name: 'file',
    async take(anchors) {
      try {
        await append(path, anchors)
      } catch (cause) {
        throw failure('written', cause)
      }
    },
    async version() {
      try {
        const { dev, ino, size, mtimeMs } = await stat(path)
        return [dev, ino, size, mtimeMs].join()
      } catch (cause) {
        if (codeOf(cause) === 'ENOENT') return 'none'
        throw failure('read', cause)
      }
    },
    async newest() {
      try {
        return await readNewest(path)
      } catch (cause) {
        // A missing file holds no anchors yet.
        if (codeOf(cause) === 'ENOENT') return { newest: new Map(), malformed: 0 }
        throw cause instanceof SinkFailure ? cause : failure('read', cause)
      }
    },
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function failure(what: 'read' | 'written', cause: unknown): SinkFailure {
  return new SinkFailure(`The anchor file cannot be ${what}: ${codeOf(cause) ?? 'it failed'}.`, { cause })
}

/** Appends durably: synced on return. Ends a partial line that a crash left, so that the next one is whole. */
async function append(path: string, anchors: readonly Anchor[]): Promise<void> {
  const file = await openToAppend(path)
  try {
    const lines = anchors.map((anchor) => `${anchorLine(anchor)}\n`).join('')
    await file.writeFile((await endsWithinLine(file)) ? `\n${lines}` : lines)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function openToAppend(path: string): Promise<FileHandle> {
  const append = constants.O_RDWR | constants.O_APPEND
  try {
    return await open(path, append)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const file = await open(path, append | constants.O_CREAT, 0o600)
  await syncFolder(dirname(path))
  return file
}

/** Syncs the folder: the file's name must survive a power cut too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function endsWithinLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== LINE_FEED
}

/** Reads the file once, from its end, with one anchor of each chain in memory. */
async function readNewest(path: string): Promise<NewestAnchors> {
  if (!(await stat(path)).isFile()) throw new SinkFailure('The anchor file is not a regular file.')
  const newest = new Map<string, Claim>()
  let malformed = 0
  for await (const lines of linesBackwards(path)) {
    for (const line of lines) {
      // The newest anchor of this chain is known; most lines need no parsing.
      if (newest.has(CHAIN.exec(line)?.[1] ?? '')) continue
      const anchor = parseAnchor(line)
      const claim = anchor && claimOf(anchor)
      if (claim === undefined) malformed += 1
      else if (!newest.has(claim.chain)) newest.set(claim.chain, claim)
    }
  }
  return { newest, malformed }
}

/** Chain of a line as anchorLine writes it. */
const CHAIN = /^\{"at":"[^"]*","checkpoint":"[^"/]*\/([^"\\]*)\\n/

/** Yields batches of non-empty lines, the last line first. Truncates a line beyond the limit. */
async function* linesBackwards(path: string): AsyncGenerator<string[]> {
  const file = await open(path, 'r')
  try {
    /** Bytes after the block, up to the next line feed. */
    let rest = Buffer.alloc(0)
    for (let end = (await file.stat()).size; end > 0; ) {
      const begin = Math.max(0, end - READ_BYTES)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - begin), 0, end - begin, begin)
      const block = Buffer.concat([buffer.subarray(0, bytesRead), rest])
      const first = begin === 0 ? 0 : block.indexOf(LINE_FEED) + 1
      const isWithinLine = begin > 0 && first === 0
      rest = Buffer.from(block.subarray(0, isWithinLine ? MAX_LINE_BYTES : first))
      if (!isWithinLine) yield nonEmptyLines(block.subarray(first))
      end = begin
    }
  } finally {
    await file.close()
  }
}

function nonEmptyLines(block: Buffer): string[] {
  const lines: string[] = []
  for (let from = 0; from < block.byteLength; ) {
    const feed = block.indexOf(LINE_FEED, from)
    const to = feed < 0 ? block.byteLength : feed
    if (to > from) lines.push(block.toString('utf8', from, Math.min(to, from + MAX_LINE_BYTES)))
    from = to + 1
  }
  return lines.reverse()
}
