import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs'
import { sep } from 'node:path'

/** Real path of a file; undefined when links lead out of the folder. */
export function pathInside(folder: string, path: string): string | undefined {
  const real = realpathSync(path)
  return isBelow(real, realpathSync(folder)) ? real : undefined
}

/** True for a real path below the real path of a folder. */
export function isBelow(real: string, folder: string): boolean {
  return real.startsWith(folder + sep)
}

/**
 * Reads a file that must lie below a folder, up to one byte beyond the limit. Links may lead anywhere below the folder.
 * The file that was opened is judged, not its path: the path may lead elsewhere a moment later.
 *
 * @param folder a real path
 */
export function readInside(folder: string, path: string, limit: number): Uint8Array | 'outside' | 'no file' {
  if (!statSync(path).isFile()) return 'no file'
  // A pipe that has come in place of the file since would otherwise wait for its writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const real = openedPath(file, path)
    return real !== undefined && isBelow(real, folder) ? readUpTo(file, limit) : 'outside'
  } finally {
    closeSync(file)
  }
}

/** Real path of an open file; undefined where only its path can tell, and that leads to another file by now. */
function openedPath(file: number, path: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${file}`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    const real = realpathSync(path)
    const [opened, now] = [fstatSync(file), statSync(real)]
    return opened.dev === now.dev && opened.ino === now.ino ? real : undefined
  }
}

/** Reads the file up to one byte beyond the limit, which tells the caller that it is too large. */
export function readAtMost(path: string, limit: number): Uint8Array {
  const file = openSync(path, 'r')
  try {
    return readUpTo(file, limit)
  } finally {
    closeSync(file)
  }
}

/** Bytes of one read. */
const CHUNK = 65_536

function readUpTo(file: number, limit: number): Uint8Array {
  const chunks: Buffer[] = []
  let left = limit + 1
  while (left > 0) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, left))
    const length = readSync(file, chunk)
    if (length === 0) break
    chunks.push(chunk.subarray(0, length))
    left -= length
  }
  return Buffer.concat(chunks)
}
