import { genesisHead, type StoredEntry } from '../audit/chain.ts'
import { STATE_EVENTS } from '../audit/events.ts'
import { entryFault, headOf } from '../audit/verify.ts'
import { canonicalJson } from '../base/canonical.ts'
import type { RecordKind } from '../records.ts'
import type { Connection } from './connection.ts'
import { AlteredFile, asUnusable } from './open.ts'
import { applyEntry, type Folded } from './provenance.ts'

/** Every chain must start with its genesis and end in an entry that follows from the one before. */
export function assertHeads({ entries }: Connection, origin: string, options: { cause?: unknown } = {}): void {
  for (const chain of entries.chains()) {
    reading(`Audit chain ${chain}`, () => {
      const head = entries.head(chain)
      for (const seq of new Set([0, head?.seq ?? 0])) assertEntry(entries, origin, chain, seq, options)
    })
  }
}

/** Names what cannot be read at all. */
function reading<T>(where: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asUnusable(error, where)
  }
}

type Entries = Connection['entries']

/** The stored entry at `seq`, re-hashed and linked to the ones before and after: one rewritten alone fits neither. */
function assertEntry(entries: Entries, origin: string, chain: string, seq: number, options: { cause?: unknown } = {}) {
  const at = (place: number) => reading(`Audit chain ${chain}, entry ${place}`, () => entries.bySeq(chain, place))
  const before = seq === 0 ? undefined : at(seq - 1)
  const entry = at(seq)
  if (entry === undefined || (seq > 0 && before === undefined)) {
    throw new AlteredFile(`Audit chain ${chain}: entry ${entry === undefined ? seq : seq - 1} is missing.`, options)
  }
  const fault = entryFault(chain, before === undefined ? genesisHead(origin, chain) : headOf(before), entry)
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault.what}.`, options)
  assertFollowed(chain, entry, at(seq + 1), options)
  return entry
}

function assertFollowed(
  chain: string,
  entry: StoredEntry,
  next: StoredEntry | undefined,
  options: { cause?: unknown },
) {
  const fault = next && entryFault(chain, headOf(entry), next, { sections: false })
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${fault.seq}: ${fault.what}.`, options)
}

type Bodies = Record<RecordKind, Map<string, string>>

/**
 * Tenants, keys, policies, switches and approvals must be what the chain says: the merge of all recorded
 * changes equals the stored rows. An edited row is found even when nobody touched the chain.
 *
 * @throws AlteredFile naming the record
 */
export function assertState({ entries, records }: Connection, origin: string): void {
  const expected = foldChanges(entries, origin)
  const kinds = Object.keys(expected) as RecordKind[]
  for (const kind of kinds) {
    const stored = reading(`The table of ${kind} records`, () => records[kind].bodies())
    for (const id of new Set([...expected[kind].keys(), ...stored.keys()])) {
      const difference = compare(expected[kind].get(id), stored.get(id))
      if (difference !== undefined) {
        throw new AlteredFile(
          `The stored ${kind} ${id} ${difference}. The file was altered outside gate-sidecar; restore a backup.`,
        )
      }
    }
  }
}

function compare(expected: string | undefined, stored: string | undefined): string | undefined {
  if (expected === stored) return undefined
  if (stored === undefined) return 'is missing, though the audit chain records it'
  if (expected === undefined) return 'is in no audit entry'
  return 'differs from what the audit chain records'
}

function foldChanges(entries: Entries, origin: string): Bodies {
  const folded: Folded = {
    tenant: new Map(),
    key: new Map(),
    signingKey: new Map(),
    policy: new Map(),
    switch: new Map(),
    approval: new Map(),
  }
  for (const chain of entries.chains()) {
    const seqs = reading(`Audit chain ${chain}`, () => entries.seqsOfTypes(chain, STATE_EVENTS))
    for (const seq of seqs) {
      const { header, sections } = assertEntry(entries, origin, chain, seq)
      const data = sections.find((section) => section.name === 'data')
      if (data === undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: its data is missing.`)
      const fault = applyEntry(folded, chain, header.type, data.json)
      if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault}.`)
    }
  }
  return mapValues(folded)
}

function mapValues(folded: Folded): Bodies {
  const texts = ([kind, records]: [string, Map<string, unknown>]) =>
    [kind, new Map(Array.from(records, ([id, record]) => [id, canonicalJson(record)]))] as const
  return Object.fromEntries(Object.entries(folded).map(texts)) as Bodies
}
