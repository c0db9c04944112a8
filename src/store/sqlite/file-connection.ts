import { join } from 'node:path'
import { type Connection, connect } from './connection.ts'
import { dataFileIdentity, identityOf } from './identity.ts'
import { DATA_FILE, openDatabase } from './open.ts'
import { assertHeads } from './startup.ts'

/** Which file a store works on, and what must be in it. Plain data: it is sent to a thread. */
export interface FileAddress {
  /** Folder of the data file. */
  dir: string
  /** Device and inode of the data file. */
  file: string
  /** Name of the instance. */
  origin: string
}

/** A connection to the data file that is opened when it is needed, and again after it was discarded. */
export interface FileConnection {
  /**
   * @throws when the file is no longer the one that was opened first, or cannot be opened again, or does not hold
   */
  connection(): Connection
  /** Closes the connection, whose state is unknown. */
  discard(): void
  /** For good. */
  close(): void
}

export function fileConnection({ dir, file, origin }: FileAddress, first?: Connection): FileConnection {
  let connection = first
  let files = first === undefined ? '' : identityOf(dir)
  let closed = false
  const discard = (): void => {
    // Forgotten first: a close that fails must not leave it to be used.
    const closing = connection
    connection = undefined
    closing?.db.close()
  }
  return {
    connection() {
      if (closed) throw new Error('the store is closed')
      // Asked each time, not at intervals: it costs microseconds, and what is committed to a deleted file is lost.
      if (connection === undefined ? dataFileIdentity(dir) !== file : identityOf(dir) !== files) {
        throw new Error(`${join(dir, DATA_FILE)} was deleted or replaced while it was open; put it back or restart`)
      }
      if (connection === undefined) {
        connection = sameInstance(connect(openDatabase(dir, { create: false })), origin)
        files = identityOf(dir)
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

/** The connection, once it is known to lead to the same instance as before; another one is closed. */
function sameInstance(connection: Connection, origin: string): Connection {
  try {
    // A file without chains has no heads that could be wrong, so its name is asked too.
    if (connection.instance.origin() !== origin) throw new Error('the data file is that of another instance')
    assertHeads(connection, origin)
    return connection
  } catch (error) {
    connection.db.close()
    throw error
  }
}
