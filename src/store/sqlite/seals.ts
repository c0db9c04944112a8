import type { Database } from 'better-sqlite3'
import type { Head } from '../../audit/chain.ts'
import { type SealKey, sealOf } from '../../audit/seal.ts'
import { equalBytes } from '../../base/bytes.ts'
import type { RecordedHead } from '../records.ts'
import type { SealKeys } from '../store.ts'
import { AlteredFile } from './errors.ts'

interface SealRow {
  size: number
  key: string
  mac: Uint8Array
}

/** The newest seal is of a log key that this thread was not given; another process has rotated it. */
export class OtherSealKey extends Error {
  override readonly name = 'OtherSealKey'
}

/** A chain's newest entry and its seal. */
interface SealedChains {
  seals: Pick<ReturnType<typeof sealQueries>, 'get'>
  entries: { head(chain: string): Head | undefined }
}

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

/** The seals of this key alone count. */
export const sealedBy =
  (key: SealKey): SealKeys =>
  (id) =>
    id === key.id ? key : undefined

/**
 * Requires the newest entry of a chain to be sealed: what was appended or rewritten without the log key is not. A chain
 * without entries must have no seal.
 *
 * @param keys gives the keys whose seals count
 * @throws AlteredFile
 */
export function assertSealed(
  { seals }: Pick<SealedChains, 'seals'>,
  origin: string,
  chain: string,
  head: Head | undefined,
  keys: SealKeys,
): void {
  const row = seals.get(chain)
  if (head === undefined) {
    if (row !== undefined) throw unsealed(chain, 'its entries are missing')
    return
  }
  const { seq, hash } = head
  if (row === undefined)
    throw unsealed(chain, 'the chain has no seal, as in a file of an earlier version, or where seals were taken away')
  const key = keys(row.key)
  if (key === undefined) throw unsealed(chain, 'its seal is not by the log key in use')
  const size = seq + 1
  if (row.size !== size || !equalBytes(sealOf(key, { origin, chain, size, hash }), row.mac))
    throw unsealed(chain, `entry ${seq}, the newest, was not appended by the holder of the log key`)
}

/** Faults of the chains whose newest entry was appended without the log key in use, or whose entries are gone. */
export function unsealedChains(
  connection: SealedChains,
  origin: string,
  keys: SealKeys,
  chains: readonly string[],
): AlteredFile[] {
  return chains.flatMap((chain) => {
    try {
      assertSealed(connection, origin, chain, connection.entries.head(chain), keys)
      return []
    } catch (error) {
      if (error instanceof AlteredFile) return [error]
      throw error
    }
  })
}

function unsealed(chain: string, what: string): AlteredFile {
  return alteredEnd(chain, what, 'restore a backup, or take the trail up with `gate-sidecar audit restore`')
}

/** @param seq of an entry that was written */
export function cutOff(chain: string, seq: number): AlteredFile {
  return alteredEnd(chain, `entry ${seq} was written and is missing`, 'restore a backup')
}

/** Requires a chain to be as long as `_system` records that it was signed. @throws AlteredFile */
export function assertRecorded(
  { systemHeads }: { systemHeads: { of(chain: string, end: number): RecordedHead[] } },
  chain: string,
  head: Head | undefined,
): void {
  const [recorded] = systemHeads.of(chain, Number.MAX_SAFE_INTEGER)
  const length = (head?.seq ?? -1) + 1
  if (recorded === undefined || recorded.size <= length) return
  const what = `_system records ${recorded.size} entries as signed, and there are ${length}`
  throw alteredEnd(chain, what, 'restore a backup')
}

function alteredEnd(chain: string, what: string, advice: string): AlteredFile {
  return new AlteredFile(`Audit chain ${chain}: ${what}. The file was altered outside gate-sidecar; ${advice}.`, {
    chain,
  })
}
