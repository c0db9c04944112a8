import { genesisHead, type StoredEntry } from '../audit/chain.ts'
import { STATE_EVENTS } from '../audit/events.ts'
import { erasures, targetsOf } from '../audit/redaction.ts'
import { entryFault, headOf } from '../audit/verify.ts'
import { canonicalJson } from '../base/canonical.ts'
import type { JsonObject } from '../base/json.ts'
import type { RecordKind } from '../records.ts'
import type { Connection } from './connection.ts'
import { AlteredFile, asUnusable } from './open.ts'
import { applyEntry, type Folded, readChange } from './provenance.ts'

/** Every chain must start with its genesis and end in an entry that follows from the one before. */
export function assertHeads({ entries }: Connection, origin: string): void {
  for (const chain of entries.chains()) {
    reading(`Audit chain ${chain}`, () => {
      const head = entries.head(chain)
      for (const seq of new Set([0, head?.seq ?? 0])) assertEntry(entries, origin, chain, seq)
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
function assertEntry(entries: Entries, origin: string, chain: string, seq: number) {
  const at = <T>(place: number, read: (chain: string, seq: number) => T) =>
    reading(`Audit chain ${chain}, entry ${place}`, () => read(chain, place))
  const before = seq === 0 ? undefined : at(seq - 1, entries.withoutSections)
  const entry = at(seq, entries.bySeq)
  if (entry === undefined || (seq > 0 && before === undefined)) {
    throw new AlteredFile(`Audit chain ${chain}: entry ${entry === undefined ? seq : seq - 1} is missing.`)
  }
  const fault = entryFault(chain, before === undefined ? genesisHead(origin, chain) : headOf(before), entry)
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault.what}.`)
  assertFollowed(chain, entry, at(seq + 1, entries.withoutSections))
  return entry
}

function assertFollowed(chain: string, entry: StoredEntry, next: StoredEntry | undefined) {
  const fault = next && entryFault(chain, headOf(entry), next, { sections: false })
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${fault.seq}: ${fault.what}.`)
}

const isOfApproval = (type: string): boolean => type.startsWith('approval.')
const APPROVAL_EVENTS = STATE_EVENTS.filter(isOfApproval)
const OTHER_EVENTS = STATE_EVENTS.filter((type) => !isOfApproval(type))

/**
 * Tenants, keys, policies and switches must be what the chain says: the merge of all recorded changes equals
 * the stored rows. An edited row is found even when nobody touched the chain.
 *
 * @throws AlteredFile naming the record
 */
export function assertRecords({ entries, records }: Connection, origin: string): void {
  const folded = nothingFolded()
  for (const chain of entries.chains()) {
    const seqs = reading(`Audit chain ${chain}`, () => entries.seqsOfTypes(chain, OTHER_EVENTS))
    for (const seq of seqs) foldEntry(entries, origin, folded, { chain, seq })
  }
  const { approval: _, ...others } = folded
  for (const kind of Object.keys(others) as (keyof typeof others)[]) {
    const stored = reading(`The table of ${kind} records`, () => records[kind].bodies())
    for (const id of new Set([...folded[kind].keys(), ...stored.keys()])) {
      assertSame(kind, id, folded[kind].get(id), stored.get(id))
    }
  }
}

/**
 * The same of approvals, one at a time: each holds the request that it is for, and together they can be more than fits
 * into memory.
 *
 * @throws AlteredFile naming the approval
 */
export function assertApprovals({ entries, records, recordEntries }: Connection, origin: string): void {
  let rows = 0
  let changes = 0
  const next = (id: string) => reading('The table of approval records', () => records.approval.after(id))
  for (let row = next(''); row !== undefined; row = next(row.id)) {
    const { id, body } = row
    const places = reading(`The entries of approval ${id}`, () => recordEntries.of('approval', id))
    const folded = nothingFolded()
    for (const place of places) foldEntry(entries, origin, folded, place)
    assertSame('approval', id, folded.approval.get(id), body)
    rows += 1
    changes += places.length
  }
  const { recorded, stored } = reading('The approvals', () => ({
    recorded: entries.chains().reduce((sum, chain) => sum + approvalSeqs(entries, origin, chain).length, 0),
    stored: records.approval.count(),
  }))
  // Each row is what its entries say. Whether it has all of them, and each entry has its row, the sums tell.
  if (rows !== stored)
    throw new AlteredFile(`The table of approval records has ${stored} rows, of which ${rows} can be read.`)
  if (changes !== recorded) throw missingApproval({ entries, records }, origin)
}

/** The entries of a chain that change approvals, less those that a command erased with the approval. */
function approvalSeqs(entries: Entries, origin: string, chain: string): number[] {
  const all = entries.seqsOfTypes(chain, APPROVAL_EVENTS)
  const redactions = entries.seqsOfTypes(chain, ['audit.redaction'])
  const isErased = erasures(redactions.flatMap((seq) => targetsOf(dataOf(assertEntry(entries, origin, chain, seq)))))
  return all.filter((seq) => !isErased(seq, 'data'))
}

/** Names the approval that has entries and no row. */
function missingApproval({ entries, records }: Pick<Connection, 'entries' | 'records'>, origin: string): AlteredFile {
  for (const chain of entries.chains()) {
    for (const seq of approvalSeqs(entries, origin, chain)) {
      const { id } = readChange(dataOf(assertEntry(entries, origin, chain, seq))) ?? {}
      if (id !== undefined && records.approval.get(id) === undefined) return differing('approval', id, MISSING)
    }
  }
  return new AlteredFile('The index of the entries that change approvals does not have them all; restore a backup.')
}

const MISSING = 'is missing, though the audit chain records it'

function assertSame(kind: RecordKind, id: string, folded: JsonObject | undefined, stored: string | undefined): void {
  if (folded === undefined) throw differing(kind, id, 'is in no audit entry')
  if (stored === undefined) throw differing(kind, id, MISSING)
  if (canonicalJson(folded) !== stored) throw differing(kind, id, 'differs from what the audit chain records')
}

function differing(kind: RecordKind, id: string, how: string): AlteredFile {
  return new AlteredFile(
    `The stored ${kind} ${id} ${how}. The file was altered outside gate-sidecar; restore a backup.`,
  )
}

function nothingFolded(): Folded {
  return {
    tenant: new Map(),
    key: new Map(),
    signingKey: new Map(),
    policy: new Map(),
    switch: new Map(),
    approval: new Map(),
  }
}

/** Merges what the entry at this place changes, once it is known to be what was recorded. */
function foldEntry(entries: Entries, origin: string, folded: Folded, { chain, seq }: { chain: string; seq: number }) {
  const entry = assertEntry(entries, origin, chain, seq)
  const fault = applyEntry(folded, chain, entry.header.type, dataOf(entry))
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault}.`)
}

function dataOf({ header, sections }: StoredEntry): string {
  const data = sections.find((section) => section.name === 'data')
  if (data === undefined)
    throw new AlteredFile(`Audit chain ${header.chain}, entry ${header.seq}: its data is missing.`)
  return data.json
}
