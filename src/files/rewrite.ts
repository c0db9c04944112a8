import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { readAtMost } from './policies.ts'

/** The real path of a file; undefined when links lead out of the folder. */
export function pathInside(folder: string, path: string): string | undefined {
  const real = realpathSync(path)
  return real.startsWith(realpathSync(folder) + sep) ? real : undefined
}

/**
 * Puts a text in the place of a file at once: whoever reads it, and whoever comes after a crash, finds the old text or
 * the new one. The file keeps its mode.
 *
 * @param path a real path, since a link would be replaced by a file
 * @param before what was read of the file
 * @returns false, with the file left alone, when it is not as it was read
 */
export function rewriteFile(path: string, before: Uint8Array, after: string): boolean {
  const folder = dirname(path)
  const { mode } = statSync(path)
  // Hidden, so that it is no part of a policy set while it is there; a name made from the file's could be too long.
  const aside = join(folder, `.fmt-${randomBytes(6).toString('hex')}`)
  try {
    writeDurably(aside, after, mode & 0o7777)
    if (Buffer.compare(readAtMost(path, before.byteLength), before) !== 0) return false
    renameSync(aside, path)
  } finally {
    rmSync(aside, { force: true })
  }
  syncFolder(folder)
  return true
}

function writeDurably(path: string, text: string, mode: number): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fchmodSync(file, mode)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Without this, a crash of the machine may undo the rename. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
