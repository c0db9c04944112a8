import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { BEGIN, queried, type Runner, runnerOn, type Statement, statement, type Values } from './database.ts'

const SAVEPOINT = statement('SAVEPOINT submission')
const RELEASE = statement('RELEASE submission')
const UNDO = statement('ROLLBACK TO submission')

/** Statements that share a write: it costs more than one of them, and the server works on some while others are made. */
const MAX_SHARED = 8

/** Puts the statement that is sent next into one write with others of this turn. */
function sharedWrites(stream: Duplex): () => void {
  let isFirst = true
  let shared = 0
  const write = (): void => {
    if (shared > 0) stream.uncork()
    shared = 0
  }
  return () => {
    // The first one locks: the server does so while entries are made.
    if (isFirst) {
      isFirst = false
      return
    }
    if (shared === MAX_SHARED) write()
    if (shared === 0) {
      stream.cork()
      process.nextTick(write)
    }
    shared += 1
  }
}

export type Transaction = ReturnType<typeof begin>

/**
 * Begins a transaction. Statements are sent one after the other without waiting for the one before; an error of one
 * shows where the next result is awaited, and at the end.
 */
export function begin(client: pg.Client) {
  let sent: Promise<unknown>[] = []
  let isOpen = true
  const note = <T>(result: Promise<T>): Promise<T> => {
    // Awaited later, where it is told.
    result.catch(() => undefined)
    sent.push(result)
    return result
  }
  const settle = async (): Promise<void> => {
    const before = sent
    sent = []
    await Promise.all(before)
  }
  const direct = runnerOn(client)
  const shareWrite = sharedWrites(client.connection.stream)
  const run: Runner = {
    async rows(of, values) {
      const found = note(direct.rows(of, values))
      await settle()
      return (await found) as never
    },
    async arrays(of, values) {
      const found = note(direct.arrays(of, values))
      await settle()
      return (await found) as never
    },
    send(of: Statement, values: Values = []): void {
      shareWrite()
      void note(queried(client, of, values))
    },
  }
  void note(client.query(BEGIN))
  return {
    run,
    isOpen: () => isOpen,
    savepoint: () => run.send(SAVEPOINT),
    /** Keeps what was done since the savepoint. @throws the error of a statement since then */
    async release(): Promise<void> {
      await settle()
      run.send(RELEASE)
    },
    async undo(): Promise<void> {
      await settle().catch(() => undefined)
      run.send(UNDO)
      run.send(RELEASE)
    },
    /** @throws the error of any statement; then nothing is kept, unless the connection broke during this */
    async commit(): Promise<void> {
      const ended = client.query('COMMIT')
      ended.catch(() => undefined)
      isOpen = false
      await settle()
      const { command } = await ended
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
    },
    async rollback(): Promise<void> {
      isOpen = false
      await settle().catch(() => undefined)
      await client.query('ROLLBACK')
    },
  }
}
