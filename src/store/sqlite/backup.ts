import { once } from 'node:events'
import { closeSync, fsyncSync, openSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { startThread } from '../../workers/thread.ts'
import { AlteredFile } from '../errors.ts'
import { openToRead } from './open.ts'

const MODULE = new URL('./backup-worker', import.meta.url)

/** The copy could not be written; the message says why. */
class BackupFailed extends Error {
  override readonly name = 'BackupFailed'
}

/** Folder of the data file, and path of the copy. */
export interface BackupJob {
  dir: string
  to: string
}

/**
 * Copies the data file as it is at this moment, beside processes that write to it. The copy is on disk, without SQLite's
 * log, when this returns. It works in a thread of its own, behind those that decide.
 *
 * @throws BackupFailed, such as on a full disk, or UnusableFile
 */
export async function copyInThread(job: BackupJob): Promise<void> {
  // A file that is none of ours is told of as everywhere.
  openToRead(job.dir).close()
  const thread = startThread(MODULE, { workerData: job })
  try {
    // An error of the thread rejects this wait.
    await once(thread, 'exit')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause
    throw new BackupFailed(`No backup was made: ${why}.`, { cause })
  }
}

/** Writes the copy, for the thread. SQLite copies one snapshot; its own backup begins again with each commit of others. */
export function copyHere({ dir, to }: BackupJob): void {
  const source = openToRead(dir)
  try {
    // Made before, since SQLite would make it readable by others.
    closeSync(openSync(to, 'wx', 0o600))
    source.prepare('VACUUM INTO ?').run(to)
  } finally {
    source.close()
  }
  const copy = new Sqlite(to, { fileMustExist: true })
  try {
    const found = copy.pragma('integrity_check', { simple: true })
    if (found !== 'ok') throw new AlteredFile(`The data file is damaged: ${found}.`)
    copy.pragma('journal_mode = WAL')
  } finally {
    copy.close()
  }
  const file = openSync(to, 'r+')
  fsyncSync(file)
  closeSync(file)
}
