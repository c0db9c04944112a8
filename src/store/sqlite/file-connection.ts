import { type BigIntStats, statSync } from 'node:fs'
import { join } from 'node:path'
import { runNow } from '../steps.ts'
import { assertHeads } from '../verify/startup.ts'
import { type Connection, connect } from './connection.ts'
import { DATA_FILE, openDatabase } from './open.ts'

/** Data file and SQLite's files beside it: a commit that goes to any of them unlinked is lost. */
export const FILES = [DATA_FILE, `${DATA_FILE}-wal`, `${DATA_FILE}-shm`]

/** Identity of the file of a store. Plain data, since it is sent to a thread. */
export interface FileAddress {
  /** Folder of the data file. */
  dir: string
  /** Device and inode of the data file. */
  file: string
  /** Name of the instance. */
  origin: string
}

/** Connection to the data file, opened on demand and again after it was discarded. */
export interface FileConnection {
  /** @throws when the file is no longer the one that was opened first, cannot be opened again, or fails its checks */
  connection(): Connection
  /** Closes the connection, whose state is unknown. */
  discard(): void
  /** Closes the file for good. */
  close(): void
}

export function fileConnection({ dir, file, origin }: FileAddress, first?: Connection): FileConnection {
  const paths = FILES.map((name) => join(dir, name))
  let connection = first
  let files = paths.map(statOf)
  let closed = false
  const discard = (): void => {
    // Cleared first: a failed close must not leave it in use.
    const closing = connection
    connection = undefined
    closing?.db.close()
  }
  return {
    connection() {
      if (closed) throw new Error('the store is closed')
      // Checked at each use: a deleted or replaced file stays open here, and a commit to it is lost.
      const isThere =
        connection === undefined ? dataFileIdentity(dir) === file : paths.every((path, i) => isSame(path, files[i]))
      if (!isThere) {
        throw new Error(`${join(dir, DATA_FILE)} was deleted or replaced while it was open; put it back or restart`)
      }
      if (connection === undefined) {
        connection = sameInstance(connect(openDatabase(dir, { create: false })), origin)
        files = paths.map(statOf)
      }
      return connection
    },
    discard,
    close() {
      closed = true
      discard()
    },
  }
}

/** Returns the connection when it leads to the same instance as before; closes it otherwise. */
function sameInstance(connection: Connection, origin: string): Connection {
  try {
    // A file without chains has no heads to check, so its origin is compared too.
    if (connection.instance.origin() !== origin) throw new Error('the data file is that of another instance')
    runNow(assertHeads(connection, origin))
    return connection
  } catch (error) {
    connection.db.close()
    throw error
  }
}

/** Device and inode of the data file alone, which outlive a connection. */
export function dataFileIdentity(dir: string): string {
  const found = statOf(join(dir, DATA_FILE))
  return found === undefined ? 'none' : `${found.dev}:${found.ino}`
}

function isSame(path: string, known: BigIntStats | undefined): boolean {
  const found = statOf(path)
  return found?.ino === known?.ino && found?.dev === known?.dev
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}
