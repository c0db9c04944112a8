import { genesisHead, type Head } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import { coverRanges } from '../../audit/merkle.ts'
import { type EntryCheck, entryFault, headOf } from '../../audit/verify.ts'
import { encodeBase64 } from '../../base/bytes.ts'
import { headAfter, isGenuinePrune, type Prune } from '../../evidence/prune.ts'
import type { LogKey } from '../../evidence/trust.ts'
import { AlteredFile, MissingEntry } from '../errors.ts'
import { logKeysOf } from '../records.ts'
import type { Source } from '../source.ts'
import { type Awaitable, read, type Steps } from '../steps.ts'

/** Reads, and adds the place to an error that shows a damaged store. */
export function* reading<T>({ asUnusable }: Source, where: string, query: () => Awaitable<T>): Steps<T> {
  try {
    return yield* read(query())
  } catch (error) {
    throw asUnusable(error, where)
  }
}

/**
 * Reads the entry at `seq`, re-hashed and linked to its neighbours: an entry rewritten alone fits neither.
 *
 * @throws AlteredFile naming the entry
 */
export function* soundEntry(
  source: Source,
  origin: string,
  chain: string,
  seq: number,
  check: EntryCheck = { sections: true },
): Steps<StoredEntry> {
  const { entries, pruned } = source
  const at = <T>(place: number, query: (chain: string, seq: number) => Awaitable<T>): Steps<T> =>
    reading(source, `Audit chain ${chain}, entry ${place}`, () => query(chain, place))
  const isFirst = seq === (yield* reading(source, 'The table of what was pruned', () => pruned.size(chain)))
  const before = isFirst ? undefined : yield* at(seq - 1, entries.withoutSections)
  const entry = yield* at(seq, entries.bySeq)
  if (entry === undefined || (!isFirst && before === undefined)) {
    throw new AlteredFile(`Audit chain ${chain}: entry ${entry === undefined ? seq : seq - 1} is missing.`)
  }
  const edge = before === undefined ? yield* edgeOf(source, origin, chain) : headOf(before)
  const fault = entryFault(chain, edge, entry, check)
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault.what}.`)
  assertFollowed(chain, entry, yield* at(seq + 1, entries.withoutSections))
  return entry
}

function assertFollowed(chain: string, entry: StoredEntry, next: StoredEntry | undefined) {
  const fault = next && entryFault(chain, headOf(entry), next, { sections: false })
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${fault.seq}: ${fault.what}.`)
}

/** Requires each entry of a chain after `first`, up to `last`, to follow from the one before it. @throws AlteredFile */
export function* assertLinked(source: Source, chain: string, first: number, last: number): Steps<void> {
  const at = function* (seq: number): Steps<StoredEntry> {
    const where = `Audit chain ${chain}, entry ${seq}`
    const entry = yield* reading(source, where, () => source.entries.withoutSections(chain, seq))
    if (entry === undefined) throw new AlteredFile(`Audit chain ${chain}: entry ${seq} is missing.`)
    return entry
  }
  if (first >= last) return
  let entry = yield* at(first)
  for (let seq = first + 1; seq <= last; seq += 1) {
    const next = yield* at(seq)
    assertFollowed(chain, entry, next)
    entry = next
  }
}

export function dataOf({ header, sections }: StoredEntry): string {
  const data = sections.find((section) => section.name === 'data')
  if (data === undefined)
    throw new AlteredFile(`Audit chain ${header.chain}, entry ${header.seq}: its data is missing.`)
  return data.json
}

/** Head that the oldest entry follows, by the log keys of the store itself; those are checked against the chain. */
function* edgeOf(source: Source, origin: string, chain: string): Steps<Head> {
  const { pruned, records } = source
  if ((yield* read(pruned.size(chain))) === 0) return genesisHead(origin, chain)
  const keys = yield* reading(source, 'The table of signingKey records', () => records.signingKey.all())
  const prune = yield* genuinePrune(source, origin, chain, logKeysOf(origin, keys))
  if (typeof prune === 'string') throw new AlteredFile(`Audit chain ${chain}: ${prune}.`)
  return headAfter(prune)
}

/** Record of what was pruned of a chain, checked against a log key and the stored tree; else the fault. */
export function* genuinePrune(
  source: Source,
  origin: string,
  chain: string,
  logKeys: readonly LogKey[],
): Steps<Prune | string> {
  const size = yield* read(source.pruned.size(chain))
  const { prune } = (yield* read(source.pruned.record(chain))) ?? {}
  if (prune === undefined) return `the entries before ${size} are missing, and no record says that they were archived`
  if (prune.origin !== origin || prune.chain !== chain || prune.size !== size)
    return `the entries before ${size} are missing, and the record says otherwise`
  if (!isGenuinePrune(prune, logKeys)) return 'the record of the archived entries is not signed by the log key'
  return (yield* isFrontier(source, prune)) ? prune : 'the tree over the archived entries is not that of the record'
}

function* isFrontier({ checkpoints }: Source, { chain, size, frontier }: Prune): Steps<boolean> {
  try {
    const stored = yield* read(checkpoints.hashes(chain, coverRanges(0, size)))
    return stored.map(encodeBase64).join() === frontier.join()
  } catch (error) {
    if (error instanceof MissingEntry) return false
    throw error
  }
}
