import type pg from 'pg'
import type { Database } from './database.ts'

/** Channel on which a change of the records is told: a hint, since nothing keeps what is told to nobody. */
export const CHANNEL = 'gate_records'

/** Listens for changes of the records, on a connection of its own. */
export function listener(database: Database, onChange: () => void) {
  let connection: Promise<pg.Client | undefined> | undefined
  let isClosed = false
  const connected = async (): Promise<pg.Client | undefined> => {
    try {
      const client = await database.connect()
      client.on('notification', onChange)
      client.on('end', () => (connection = undefined))
      await client.query(`LISTEN ${CHANNEL}`)
      return client
    } catch {
      // The poll tells of every change, and of a server that is away.
      connection = undefined
      return undefined
    }
  }
  return {
    /** Listens from now on, unless it does, or has been closed. */
    listen(): void {
      if (!isClosed) connection ??= connected()
    },
    async close(): Promise<void> {
      isClosed = true
      await (await connection)?.end().catch(() => undefined)
    },
  }
}
