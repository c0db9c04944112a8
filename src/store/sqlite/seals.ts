import type { Database } from 'better-sqlite3'
import type { Head } from '../../audit/chain.ts'
import { type SealKey, sealOf } from '../../audit/seal.ts'
import type { SealRow } from '../source.ts'

export function sealQueries(db: Database) {
  const get = db.prepare<[string], SealRow>('SELECT size, key, mac FROM seal WHERE chain = ?')
  const put = db.prepare<[string, number, string, Uint8Array]>(
    `INSERT INTO seal (chain, size, key, mac) VALUES (?, ?, ?, ?)
     ON CONFLICT (chain) DO UPDATE SET size = excluded.size, key = excluded.key, mac = excluded.mac`,
  )
  const remove = db.prepare<[string]>('DELETE FROM seal WHERE chain = ?')
  const chains = db.prepare<[], string>('SELECT chain FROM seal ORDER BY chain').pluck()
  return {
    get: (chain: string) => get.get(chain),
    put: (origin: string, key: SealKey, chain: string, { seq, hash }: Head) =>
      put.run(chain, seq + 1, key.id, sealOf(key, { origin, chain, size: seq + 1, hash })),
    chains: () => chains.all(),
    remove: (chain: string) => remove.run(chain),
  }
}
