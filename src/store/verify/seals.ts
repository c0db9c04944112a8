import type { Head } from '../../audit/chain.ts'
import { type SealKey, sealOf } from '../../audit/seal.ts'
import { equalBytes } from '../../base/bytes.ts'
import { GateError } from '../../base/errors.ts'
import { AlteredFile } from '../errors.ts'
import type { RecordedHead } from '../records.ts'
import type { Source } from '../source.ts'
import { type Awaitable, read, type Steps } from '../steps.ts'
import type { SealKeys, Store } from '../store.ts'
import type { Tables } from '../tables.ts'

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
export function* assertSealed(
  { seals }: Source,
  origin: string,
  chain: string,
  head: Head | undefined,
  keys: SealKeys,
): Steps<void> {
  const row = yield* read(seals.get(chain))
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

/**
 * Faults of the chains whose newest entry was appended without the log key in use, or whose entries are gone; none
 * without the log key.
 */
export function* unsealedIn(
  source: Source,
  origin: string,
  key: SealKey | undefined,
  chains: readonly string[],
): Steps<AlteredFile[]> {
  const faults: AlteredFile[] = []
  if (key === undefined) return faults
  for (const chain of chains) {
    try {
      yield* assertSealed(source, origin, chain, yield* read(source.entries.head(chain)), sealedBy(key))
    } catch (error) {
      if (!(error instanceof AlteredFile)) throw error
      faults.push(error)
    }
  }
  return faults
}

interface Sealed {
  faults: readonly AlteredFile[]
  /** End of the chain; undefined for all chains. */
  head: Head | undefined
}

/** The seal of a chain, or those of all, in one state of the store: each commit writes a new head and its seal. */
export function* sealedIn(
  tables: Tables,
  origin: string,
  key: SealKey | undefined,
  chain: string | undefined,
): Steps<Sealed> {
  const { entries, seals } = tables
  const chains = chain === undefined ? [...(yield* read(entries.chains())), ...(yield* read(seals.chains()))] : [chain]
  const faults = yield* unsealedIn(tables, origin, key, [...new Set(chains)])
  return { faults, head: chain === undefined ? undefined : yield* read(entries.head(chain)) }
}

/**
 * Members of a store about seals.
 *
 * @param look runs `sealedIn` on the state of now
 * @param refresh before a fault is believed: the log key may have been rotated
 */
export function sealReads(
  look: (chain?: string) => Awaitable<Sealed>,
  refresh: () => Awaitable<void>,
): Pick<Store, 'unsealed' | 'sealedHead'> {
  const looked = async (chain?: string): Promise<Sealed> => {
    const first = await look(chain)
    if (first.faults.length === 0) return first
    await refresh()
    return look(chain)
  }
  return {
    unsealed: async () => (await looked()).faults.map(({ message }) => message),
    async sealedHead(chain) {
      const { faults, head } = await looked(chain)
      if (faults[0] !== undefined) throw new GateError('audit_unavailable', faults[0].message)
      return head
    },
  }
}

function unsealed(chain: string, what: string): AlteredFile {
  return alteredEnd(chain, what, 'restore a backup, or take the trail up with `gate-sidecar audit restore`')
}

/** @param seq of an entry that was written */
export function cutOff(chain: string, seq: number): AlteredFile {
  return alteredEnd(chain, `entry ${seq} was written and is missing`, 'restore a backup')
}

/** Requires the entry that this process wrote to be the one in its place, unless it was pruned. @throws AlteredFile */
export function* assertWritten({ entries, pruned }: Source, chain: string, { seq, hash }: Head): Steps<void> {
  if (seq < (yield* read(pruned.size(chain)))) return
  const entry = yield* read(entries.withoutSections(chain, seq))
  if (entry?.hash !== hash) throw alteredEnd(chain, `entry ${seq} is not the one that was written`, 'restore a backup')
}

/** Requires a chain to be as long as `_system` records that it was signed. @throws AlteredFile */
export function* assertRecorded({ systemHeads }: Source, chain: string, head: Head | undefined): Steps<void> {
  const [recorded] = yield* read<RecordedHead[]>(systemHeads.of(chain, Number.MAX_SAFE_INTEGER))
  const length = (head?.seq ?? -1) + 1
  if (recorded === undefined || recorded.size <= length) return
  const what = `_system records ${recorded.size} entries as signed, and there are ${length}`
  throw alteredEnd(chain, what, 'restore a backup')
}

function alteredEnd(chain: string, what: string, advice: string): AlteredFile {
  return new AlteredFile(`Audit chain ${chain}: ${what}. The store was altered outside gate-sidecar; ${advice}.`, {
    chain,
  })
}
