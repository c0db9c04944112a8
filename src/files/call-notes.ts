import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../base/bytes.ts'
import { DAY_MS } from '../base/time.ts'

/** Number of notes at which old ones are removed; calls that were never made leave theirs behind. */
const CLEANUP_COUNT = 500
/** Age at which a note is old; no call takes this long. */
const MAX_AGE_MS = DAY_MS

/** Notes from one process to a later one of the same user. A missing, old or forged note decides nothing. */
export interface CallNotes {
  /** @throws the file system's error, also for a folder that others can read or write */
  put(name: readonly string[], text: string): void
  /** Reads and removes the note. @throws the file system's error, also when there is no note */
  take(name: readonly string[]): string
}

/** @param folder created when missing; belongs to this user alone */
export function callNotes(folder: string): CallNotes {
  const pathOf = (name: readonly string[]): string => join(folder, sha256Hex(JSON.stringify(name)))
  return {
    put(name, text) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      assertPrivate(folder)
      removeOld(folder)
      writeFileSync(pathOf(name), text, { mode: 0o600, flag: 'wx' })
    },
    take(name) {
      assertPrivate(folder)
      const path = pathOf(name)
      const text = readFileSync(path, 'utf8')
      rmSync(path)
      return text
    },
  }
}

function assertPrivate(folder: string): void {
  const stats = lstatSync(folder)
  const isOwn = stats.uid === process.getuid?.()
  if (!stats.isDirectory() || !isOwn || (stats.mode & 0o077) !== 0)
    throw new Error(`${folder} is not this user's alone`)
}

function removeOld(folder: string): void {
  const names = readdirSync(folder)
  if (names.length < CLEANUP_COUNT) return
  for (const name of names) {
    const path = join(folder, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined && Date.now() - stats.mtimeMs > MAX_AGE_MS) rmSync(path, { force: true })
  }
}
