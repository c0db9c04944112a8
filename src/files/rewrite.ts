import { randomBytes } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readAtMost } from './inside.ts'

/**
 * Replaces a file's text atomically, also through a crash, and keeps its mode.
 *
 * @param path a real path, since a rename would replace a link by a file
 * @param before the bytes that were read of the file
 * @returns false, without a change, when the file no longer holds these bytes
 */
export function rewriteFile(path: string, before: Uint8Array, after: string): boolean {
  const folder = dirname(path)
  const { mode } = statSync(path)
  // A hidden name never counts as a policy; a name made from the file's could be too long.
  const draft = join(folder, `.fmt-${randomBytes(6).toString('hex')}`)
  try {
    writeDurably(draft, after, mode & 0o7777)
    if (Buffer.compare(readAtMost(path, before.byteLength), before) !== 0) return false
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(folder)
  return true
}

/** Writes a new file to the disk. @param mode of the file once it is written, whatever the umask; 0600 unless given */
export function writeDurably(path: string, text: string, mode?: number): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    if (mode !== undefined) fchmodSync(file, mode)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Syncs the folder: a crash of the machine could undo a rename, or lose the name of a new file. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
