import { randomBytes } from 'node:crypto'
import { after, type TestContext } from 'node:test'
import type pg from 'pg'
import { once } from '../src/base/memo.ts'
import { type PostgresProcess, startPostgres } from './postgres-process.ts'

/** Ends of what was started, after all tests of the file, whichever began it. */
const stops: (() => Promise<void>)[] = []
after(async () => {
  for (const stop of stops) await stop()
})

const { GATE_TEST_POSTGRES_URL: SHARED } = process.env

/** Setting of the services of tests: a machine that is busy with others may leave one waiting for longer than the default. */
export const MAX_STALENESS = '60s'

/** Address of a server: the one of GATE_TEST_POSTGRES_URL, or one that this process starts and ends. */
export const postgresServer = once(async (): Promise<string> => SHARED ?? (await ownProcess()).url)

async function ownProcess(): Promise<PostgresProcess> {
  const server = await startPostgres()
  stops.push(server.stop)
  return server
}

/** An empty database of a server that a test has to itself. */
export async function ownServer(t: Pick<TestContext, 'after'>): Promise<PostgresProcess> {
  const server = await ownProcess()
  t.after(server.stop)
  await withClient(server.url, migrated)
  return server
}

let made = 0
/** Databases that no test uses now: to make one takes a third of a second. */
const free: string[] = []

/** Address of a database without entries, which belongs to the test. */
export async function postgresDatabase(t: Pick<TestContext, 'after'>): Promise<string> {
  const url = free.pop() ?? (await newDatabase())
  t.after(() => free.push(url))
  await withClient(url, emptied)
  return url
}

async function newDatabase(): Promise<string> {
  const url = new URL(await postgresServer())
  made += 1
  const name = `gate_${process.pid}_${made}`
  await withClient(url.href, (client) => client.query(`CREATE DATABASE ${name}`))
  if (SHARED !== undefined)
    stops.push(() =>
      withClient(SHARED, async (client) => void (await client.query(`DROP DATABASE ${name} WITH (FORCE)`))),
    )
  url.pathname = `/${name}`
  await withClient(url.href, migrated)
  return url.href
}

/** Makes another instance of it, as after the first migration. */
export async function emptied(client: pg.Client): Promise<void> {
  const deletions = (await tables(client)).map((name) => `DELETE FROM gate.${name}`)
  await client.query(
    [
      // Without the triggers, which forbid it.
      'SET session_replication_role = replica',
      ...deletions,
      'ALTER SEQUENCE gate.chain_number_seq RESTART',
      'ALTER SEQUENCE gate.checkpoint_number_seq RESTART',
      `INSERT INTO gate.instance (one, origin, state_version) VALUES (1, 'gate-${randomBytes(10).toString('hex')}', 0)`,
    ].join('; '),
  )
}

let known: readonly string[] | undefined

/** Tables of the schema, but that of its level. */
async function tables(client: pg.Client): Promise<readonly string[]> {
  if (known !== undefined) return known
  const { rows } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'gate'::regnamespace AND relkind = 'r'",
  )
  known = rows.map(({ name }) => name).filter((name) => name !== 'migration')
  return known
}

async function migrated(client: pg.Client): Promise<void> {
  const { migrate } = await import('../src/store/postgres/migrate.ts')
  await migrate(client)
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { default: driver } = await import('pg')
  const client = new driver.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
