import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

const SERVER = new URL('./postgres-server.js', import.meta.url)
const PASSWORD = 'of-the-tests'

/** A server of the tests, in a process of its own. */
export interface PostgresProcess {
  /** Address of the administrator. */
  url: string
  /** Ends the server, with all connections, and starts it again. */
  restart(): Promise<void>
  /** Ends it, with all data. */
  stop(): Promise<void>
}

/** @param durability `durable` waits for the disk, which tests need not */
export async function startPostgres(durability: 'fast' | 'durable' = 'fast'): Promise<PostgresProcess> {
  // The server may run as another user, who does not get at every folder.
  const databaseDir = mkdtempSync(join(tmpdir(), 'gate-postgres-'))
  const port = String(await freePort())
  const server = fork(SERVER, [databaseDir, port, PASSWORD, durability], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(server, 'exit')
  const [first] = await Promise.race([once(server, 'message'), ended])
  if (first !== 'listening') throw new Error('the PostgreSQL server of the tests did not start')
  return {
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    async restart() {
      const again = once(server, 'message')
      server.send('restart')
      const [told] = await Promise.race([again, ended])
      if (told !== 'listening') throw new Error('the PostgreSQL server of the tests did not start again')
    },
    async stop() {
      if (server.connected) server.disconnect()
      await ended
    },
  }
}
