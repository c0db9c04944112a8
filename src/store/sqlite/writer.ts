import { randomPool } from '../random-pool.ts'
import { runNow } from '../steps.ts'
import { applyAll, groupOf, OtherSealKey, sealKeysOf, type WriteReply, type WriteRequest } from '../writer.ts'
import { type Connection, refreshedFrom } from './connection.ts'
import { isBusy } from './errors.ts'
import type { FileConnection } from './file-connection.ts'

/**
 * Commits groups of submissions, each in one transaction with one fsync.
 * The records of a request are refreshed inside its transaction with the writes of other processes.
 */
export function groupCommitter(file: FileConnection, origin: string): (request: WriteRequest) => WriteReply {
  const random = randomPool()
  return (request) => {
    let connection: Connection
    let beganMs: number
    try {
      connection = file.connection()
      beganMs = performance.now()
      connection.statements.begin.run()
    } catch (error) {
      return isBusy(error) ? { kind: 'busy' } : { kind: 'failed', cause: String(error), unknown: false }
    }
    let committing = false
    try {
      const memoryNow = refreshedFrom(connection, request.memory, { origin, sealKeys: sealKeysOf(request) })
      const group = groupOf(request, { origin, random, tables: connection, memory: memoryNow })
      const results = runNow(applyAll(group, request.submissions))
      committing = true
      connection.statements.commit.run()
      const { regressed, heads, memory } = group
      const tookMs = performance.now() - beganMs
      return { kind: 'written', results, stateVersion: memory.version, tookMs, regressed, heads }
    } catch (error) {
      // Closing rolls back. A failed COMMIT may be on disk: it is never repeated; the file is reopened and read.
      file.discard()
      if (error instanceof OtherSealKey) return { kind: 'busy' }
      return { kind: 'failed', cause: String(error), unknown: committing }
    }
  }
}
