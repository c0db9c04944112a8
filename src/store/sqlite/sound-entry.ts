import { genesisHead, type Head } from '../../audit/chain.ts'
import type { StoredEntry } from '../../audit/entry.ts'
import { coverRanges } from '../../audit/merkle.ts'
import { type EntryCheck, entryFault, headOf } from '../../audit/verify.ts'
import { encodeBase64 } from '../../base/bytes.ts'
import { headAfter, isGenuinePrune, type Prune } from '../../evidence/prune.ts'
import type { LogKey } from '../../evidence/trust.ts'
import { logKeysOf } from '../records.ts'
import type { Connection } from './connection.ts'
import { AlteredFile, asUnusable, MissingEntry } from './errors.ts'

/** Adds the place to an error that shows a damaged file. */
export function reading<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asUnusable(error, where)
  }
}

/**
 * Reads the entry at `seq`, re-hashed and linked to its neighbours: an entry rewritten alone fits neither.
 *
 * @throws AlteredFile naming the entry
 */
export function soundEntry(
  connection: Connection,
  origin: string,
  chain: string,
  seq: number,
  check: EntryCheck = { sections: true },
): StoredEntry {
  const { entries } = connection
  const at = <T>(place: number, read: (chain: string, seq: number) => T) =>
    reading(`Audit chain ${chain}, entry ${place}`, () => read(chain, place))
  const isFirst = seq === reading('The table of what was pruned', () => connection.pruned.size(chain))
  const before = isFirst ? undefined : at(seq - 1, entries.withoutSections)
  const entry = at(seq, entries.bySeq)
  if (entry === undefined || (!isFirst && before === undefined)) {
    throw new AlteredFile(`Audit chain ${chain}: entry ${entry === undefined ? seq : seq - 1} is missing.`)
  }
  const fault = entryFault(
    chain,
    before === undefined ? edgeOf(connection, origin, chain) : headOf(before),
    entry,
    check,
  )
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault.what}.`)
  assertFollowed(chain, entry, at(seq + 1, entries.withoutSections))
  return entry
}

function assertFollowed(chain: string, entry: StoredEntry, next: StoredEntry | undefined) {
  const fault = next && entryFault(chain, headOf(entry), next, { sections: false })
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${fault.seq}: ${fault.what}.`)
}

/** Requires each entry of a chain after `first`, up to `last`, to follow from the one before it. @throws AlteredFile */
export function assertLinked({ entries }: Connection, chain: string, first: number, last: number): void {
  const at = (seq: number): StoredEntry => {
    const entry = reading(`Audit chain ${chain}, entry ${seq}`, () => entries.withoutSections(chain, seq))
    if (entry === undefined) throw new AlteredFile(`Audit chain ${chain}: entry ${seq} is missing.`)
    return entry
  }
  if (first >= last) return
  let entry = at(first)
  for (let seq = first + 1; seq <= last; seq += 1) {
    const next = at(seq)
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

/** Head that the oldest entry follows, by the log keys of the file itself; those are checked against the chain. */
function edgeOf(connection: Connection, origin: string, chain: string): Head {
  const size = connection.pruned.size(chain)
  if (size === 0) return genesisHead(origin, chain)
  const keys = reading('The table of signingKey records', () => connection.records.signingKey.all())
  const prune = genuinePrune(connection, origin, chain, logKeysOf(origin, keys))
  if (typeof prune === 'string') throw new AlteredFile(`Audit chain ${chain}: ${prune}.`)
  return headAfter(prune)
}

/** Record of what was pruned of a chain, checked against a log key and the stored tree; else the fault. */
export function genuinePrune(
  { pruned, checkpoints }: Connection,
  origin: string,
  chain: string,
  logKeys: readonly LogKey[],
): Prune | string {
  const size = pruned.size(chain)
  const { prune } = pruned.record(chain) ?? {}
  if (prune === undefined) return `the entries before ${size} are missing, and no record says that they were archived`
  if (prune.origin !== origin || prune.chain !== chain || prune.size !== size)
    return `the entries before ${size} are missing, and the record says otherwise`
  if (!isGenuinePrune(prune, logKeys)) return 'the record of the archived entries is not signed by the log key'
  return isFrontier({ checkpoints }, prune) ? prune : 'the tree over the archived entries is not that of the record'
}

function isFrontier({ checkpoints }: Pick<Connection, 'checkpoints'>, { chain, size, frontier }: Prune): boolean {
  try {
    const stored = checkpoints.hashes(chain, coverRanges(0, size))
    return stored.map(encodeBase64).join() === frontier.join()
  } catch (error) {
    if (error instanceof MissingEntry) return false
    throw error
  }
}
