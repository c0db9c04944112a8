import type { Database } from 'better-sqlite3'
import type { KeyUse } from '../submission.ts'

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
