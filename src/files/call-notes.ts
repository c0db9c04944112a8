import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../base/bytes.ts'
import { DAY_MS } from '../base/time.ts'

/** Notes that are never taken, of calls that were not made in the end, are removed once there are so many. */
const MANY = 500
/** A call takes less. */
const KEPT_MS = DAY_MS

/**
 * Small notes from one process to a later one of the same user, one a name. They are hints: a note that is missing, old or
 * forged decides nothing.
 */
export interface CallNotes {
  /** @throws the error of the file system, also for a folder that others can write or read */
  put(name: readonly string[], text: string): void
  /** The note, which is gone then; undefined when there is none. @throws the error of the file system */
  take(name: readonly string[]): string | undefined
}

/** @param folder made if it is missing; this user's alone */
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
  if (names.length < MANY) return
  for (const name of names) {
    const path = join(folder, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats !== undefined && Date.now() - stats.mtimeMs > KEPT_MS) rmSync(path, { force: true })
  }
}
