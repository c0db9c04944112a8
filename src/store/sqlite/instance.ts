import type { Database } from 'better-sqlite3'

/** Statements over the one row of instance. */
export function instanceQueries(db: Database) {
  const row = db.prepare<[], { origin: string; state_version: number }>('SELECT origin, state_version FROM instance')
  const insert = db.prepare<[string]>('INSERT INTO instance (one, origin, state_version) VALUES (1, ?, 0)')
  const bump = db.prepare<[], { state_version: number }>(
    'UPDATE instance SET state_version = state_version + 1 RETURNING state_version',
  )
  return {
    origin: () => row.get()?.origin,
    create: (origin: string) => insert.run(origin),
    stateVersion: () => row.get()?.state_version ?? 0,
    nextStateVersion: () => bump.get()?.state_version ?? 0,
  }
}
