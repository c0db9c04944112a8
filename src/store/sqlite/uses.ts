import type { Database } from 'better-sqlite3'
import { IDEMPOTENCY_MS } from '../retention.ts'
import type { IdempotencyUse, KeyUse } from '../submission.ts'

/** Statements over idempotency. Only commit.ts writes, inside its transaction. */
export function idempotencyQueries(db: Database) {
  const find = db.prepare<[string, string, string], IdempotencyUse>(
    `SELECT key_id AS keyId, route, value, body_digest AS bodyDigest, entry_id AS entryId, at AS atMs
       FROM idempotency WHERE key_id = ? AND route = ? AND value = ?`,
  )
  const put = db.prepare<[IdempotencyUse]>(
    `INSERT INTO idempotency (key_id, route, value, body_digest, entry_id, at)
     VALUES (@keyId, @route, @value, @bodyDigest, @entryId, @atMs)
     ON CONFLICT (key_id, route, value) DO UPDATE SET body_digest = excluded.body_digest, entry_id = excluded.entry_id, at = excluded.at`,
  )
  const forget = db.prepare<[number]>('DELETE FROM idempotency WHERE at < ?')
  return {
    find(keyId: string, route: string, value: string, nowMs: number): IdempotencyUse | undefined {
      const use = find.get(keyId, route, value)
      return use === undefined || use.atMs < nowMs - IDEMPOTENCY_MS ? undefined : use
    },
    put(use: IdempotencyUse): void {
      forget.run(use.atMs - IDEMPOTENCY_MS)
      put.run(use)
    },
  }
}

/** Statements over trial. Only commit.ts writes, inside its transaction. */
export function trialQueries(db: Database) {
  // Random bytes, since a file system that compresses needs no room for zeros.
  const put = db.prepare<[string, number]>(
    `INSERT INTO trial (one, at, filler) VALUES (1, ?, randomblob(?))
     ON CONFLICT (one) DO UPDATE SET at = excluded.at, filler = excluded.filler`,
  )
  return { put: (at: string, bytes: number): void => void put.run(at, bytes) }
}

/** Statements over key_use. Only commit.ts writes, inside its transaction. */
export function keyUseQueries(db: Database) {
  const of = db.prepare<[string], KeyUse>(
    'SELECT key_id AS keyId, at FROM key_use WHERE key_id IN (SELECT value FROM json_each(?))',
  )
  // Several services may use one file, and write in any order.
  const put = db.prepare<[string, string]>(
    'INSERT INTO key_use (key_id, at) VALUES (?, ?) ON CONFLICT (key_id) DO UPDATE SET at = excluded.at WHERE excluded.at > at',
  )
  return {
    of: (keyIds: readonly string[]) => new Map(of.all(JSON.stringify(keyIds)).map(({ keyId, at }) => [keyId, at])),
    put(uses: readonly KeyUse[]): void {
      for (const { keyId, at } of uses) put.run(keyId, at)
    },
  }
}
