import { createHash } from 'node:crypto'
import pg from 'pg'
import { once } from '../../base/memo.ts'
import { reconnecting } from './reconnect.ts'

/** Place of a server and a database on it. */
export interface Address {
  /** `postgres://user@host/database`. */
  url: string
  password?: string | undefined
}

/** Limits of one statement, and of the wait for the lock of another sidecar. */
const STATEMENT_MS = 10_000
const LOCK_MS = 5000
const CONNECT_MS = 5000
/** Connections for reads; beside it, there is one for commits. */
const READERS = 4

const INT8 = 20
/** No number of the schema exceeds the integers of a double. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
}

/** A statement that the server keeps prepared. */
export interface Statement {
  name: string
  text: string
}

export function statement(text: string): Statement {
  return { name: createHash('sha256').update(text).digest('hex').slice(0, 24), text }
}

export type Values = readonly unknown[]

/** Runs statements in one way: on any connection, or in a transaction. */
export interface Runner {
  /** Rows as objects, by the names of their columns. */
  rows<R extends object>(statement: Statement, values?: Values): Promise<R[]>
  /** Rows as arrays, in the order of their columns. */
  arrays<R extends readonly unknown[]>(statement: Statement, values?: Values): Promise<R[]>
  /** Sends a statement of a transaction that gives nothing, without waiting for it. */
  send(statement: Statement, values?: Values): void
}

/** First row, if any. */
export async function first<R>(rows: Promise<R[]>): Promise<R | undefined> {
  return (await rows)[0]
}

interface Queryable {
  query(config: pg.QueryConfig | pg.QueryArrayConfig): Promise<pg.QueryResult>
}

/** Runs a statement. @throws the error of the server, such as for a text with a zero */
export async function queried(client: Queryable, of: Statement, values: Values, rowMode?: 'array') {
  const { rows } = await client.query({ ...of, values: [...values], types, ...(rowMode && { rowMode }) })
  return rows
}

export function runnerOn(client: Queryable): Runner {
  const query = async (of: Statement, values: Values, rowMode?: 'array') => {
    // No text of PostgreSQL holds a zero, so that nothing is found by one.
    const isNone = values.some((value) => typeof value === 'string' && value.includes('\0'))
    return isNone ? [] : queried(client, of, values, rowMode)
  }
  return {
    rows: (of, values = []) => query(of, values),
    arrays: (of, values = []) => query(of, values, 'array'),
    send() {
      throw new TypeError('nothing is written outside a transaction')
    },
  }
}

/** Leaves nothing open after an error: a server waits a minute for a password that was not given. */
class Client extends pg.Client {
  constructor(settings?: pg.ClientConfig) {
    super(settings)
    this.connection.on('error', () => this.connection.stream.destroy())
  }
}

export type Database = ReturnType<typeof database>

/** Connections to a server, made on demand. */
export function database({ url, password }: Address) {
  const whole = new URL(url)
  if (password !== undefined) whole.password = encodeURIComponent(password)
  const settings = {
    connectionString: whole.href,
    application_name: 'gate-sidecar',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    keepAlive: true,
    // Statements are sent before the ones before are answered.
    pipeline: true,
  }
  const readers = new pg.Pool({ ...settings, Client, max: READERS, allowExitOnIdle: true })
  // A connection that broke is made again at its next use; a statement under way tells its caller.
  readers.on('error', () => undefined)
  readers.on('connect', (client) => client.on('error', () => undefined))
  const attempt = reconnecting()
  /** Lends a connection, which is not used again after a failure. */
  const lent = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await attempt(() => readers.connect())
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      // After a statement that the server refused, the connection stays good.
      client.release(!isDatabaseError(error) || error.severity !== 'ERROR')
      throw error
    }
  }
  return {
    any: runnerOn({ query: (config) => lent((client) => client.query(config)) }),
    /** Runs `work` on one state of the database. */
    snapshot: <T>(work: (runner: Runner) => Promise<T>): Promise<T> =>
      lent(async (client) => {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
        try {
          return await work(runnerOn(client))
        } finally {
          await client.query('ROLLBACK')
        }
      }),
    /** A connection of its own, on which statements are sent before the ones before are answered. */
    connect: () =>
      attempt(async (): Promise<pg.Client> => {
        const client = new Client(settings)
        client.on('error', () => undefined)
        await client.connect()
        return client
      }),
    close: once(() => readers.end()),
  }
}

/** Begins a transaction that waits for no lock, and for no statement, without end. */
export const BEGIN = `BEGIN; SET LOCAL lock_timeout = ${LOCK_MS}; SET LOCAL statement_timeout = ${STATEMENT_MS}`

/** Error that the server reports. */
export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError
}
