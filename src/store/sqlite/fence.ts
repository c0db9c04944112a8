import type { Database } from 'better-sqlite3'
import { AlteredFile } from '../errors.ts'
import type { Fence } from '../fence.ts'

/** Table that a file has only while it must not be used, so that earlier versions refuse it too. */
export const FENCE = 'fence'

export function readFence(db: Database): Fence | undefined {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(FENCE) !== undefined
  if (!isThere) return undefined
  const [fence, ...others] = db.prepare<[], Fence>(`SELECT kind, other, at FROM ${FENCE}`).all()
  if (fence === undefined || others.length > 0) throw new AlteredFile(`The table ${FENCE} has not one row.`)
  return fence
}

export function putFence(db: Database, { kind, other, at }: Fence): void {
  removeFence(db)
  db.exec(`CREATE TABLE ${FENCE} (kind TEXT NOT NULL, other TEXT NOT NULL, at TEXT NOT NULL) STRICT`)
  db.prepare(`INSERT INTO ${FENCE} (kind, other, at) VALUES (?, ?, ?)`).run(kind, other, at)
}

export function removeFence(db: Database): void {
  db.exec(`DROP TABLE IF EXISTS ${FENCE}`)
}
