import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { APPROVAL_EVENTS } from '../../audit/events.ts'
import { erasures, targetsOf } from '../../audit/redaction.ts'
import { GLOBAL } from '../../killswitch/killswitch.ts'
import type { Connection } from './connection.ts'
import { AlteredFile } from './errors.ts'
import { foldChain, foldEntry, nothingFolded } from './fold.ts'
import { assertSame, differing, MISSING } from './follow.ts'
import { readChange } from './provenance.ts'
import { dataOf, reading, soundEntry } from './sound-entry.ts'

/** Requires every chain to start at its genesis or pruned edge, and its last entry to follow the one before. */
export function assertHeads(connection: Connection, origin: string): void {
  const { entries, pruned } = connection
  for (const chain of entries.chains()) {
    reading(`Audit chain ${chain}`, () => {
      const head = entries.head(chain)
      // Nothing verifies entries before the first one, and they would be folded into the records.
      if (entries.first(chain) < pruned.size(chain))
        throw new AlteredFile(`Audit chain ${chain}: entry ${entries.first(chain)} stands before the first one.`)
      // `audit verify` checks erased sections of a first entry against the command that erased them.
      soundEntry(connection, origin, chain, pruned.size(chain), { sections: false })
      soundEntry(connection, origin, chain, head?.seq ?? 0)
    })
  }
}

/** Requires each entry to be of a chain that has a name: one at the next place would keep a chain from being made. */
export function assertNamed({ places }: Connection): void {
  const unnamed = reading('The table of chains', places.unnamed)
  if (unnamed !== undefined)
    throw new AlteredFile(
      `The chain of number ${unnamed} has entries and no name. The file was altered outside gate-sidecar.`,
    )
}

/**
 * Requires each row of a table to be in each of its indexes, in its place: queries read one or the other.
 *
 * @throws AlteredFile naming the table
 */
export function assertIndexed({ db }: Connection, tables: readonly string[]): void {
  for (const table of tables) {
    const found = reading(`The table ${table}`, () => db.pragma(`integrity_check(${table})`, { simple: true }))
    if (found !== 'ok') throw new AlteredFile(`The table ${table} is damaged: ${String(found)}. Restore a backup.`)
  }
}

/**
 * Requires tenants, keys, policies and switches to equal the merge of all recorded changes.
 *
 * @throws AlteredFile naming the record
 */
export function assertRecords(connection: Connection, origin: string): void {
  const { entries, records } = connection
  const folded = nothingFolded()
  for (const chain of entries.chains()) foldChain(connection, origin, folded, { chain, end: Number.MAX_SAFE_INTEGER })
  const { approval: _, ...others } = folded
  for (const kind of Object.keys(others) as (keyof typeof others)[]) {
    const stored = reading(`The table of ${kind} records`, () => records[kind].bodies())
    for (const id of new Set([...folded[kind].keys(), ...stored.keys()])) {
      assertSame(kind, id, folded[kind].get(id), stored.get(id))
    }
  }
}

/**
 * Requires each stop to have all its entries in their index, but for those of a time that was pruned: the first one
 * tells which approvals came before it.
 *
 * @throws AlteredFile naming the stop
 */
export function assertStops({ entries, pruned, records }: Connection): void {
  for (const { id, target, revision, triggeredAt } of records.switch.all()) {
    const listed = reading(`The list of entries of stop ${id}`, () => records.entriesOf('switch', id))
    if (listed.length === revision) continue
    const chain = target === GLOBAL ? SYSTEM_CHAIN : target
    const oldest = reading(`Audit chain ${chain}`, () => entries.withoutSections(chain, pruned.size(chain)))
    if (pruned.size(chain) === 0 || (oldest !== undefined && oldest.header.ts < triggeredAt))
      throw new AlteredFile(`Audit chain ${chain}: the index of its entries lacks one of the stop ${id}.`)
  }
}

/**
 * Checks approvals in the same way, one at a time: each holds its request, and together they can exceed the memory.
 *
 * @throws AlteredFile naming the approval
 */
export function assertApprovals(connection: Connection, origin: string): void {
  const { entries, records } = connection
  let rows = 0
  let changes = 0
  const next = (id: string) => reading('The table of approval records', () => records.approval.after(id))
  for (let row = next(''); row !== undefined; row = next(row.id)) {
    const { id, body } = row
    const places = reading(`The list of entries of approval ${id}`, () => records.entriesOf('approval', id))
    const folded = nothingFolded()
    for (const place of places) foldEntry(connection, origin, folded, place)
    assertSame('approval', id, folded.approval.get(id), body)
    rows += 1
    changes += places.length
  }
  const { recorded, stored } = reading('The approvals', () => ({
    recorded: entries.chains().reduce((sum, chain) => sum + approvalSeqs(connection, origin, chain).length, 0),
    stored: records.approval.count(),
  }))
  // Each row matches its entries. The sums show whether an entry or a row is missing.
  if (rows !== stored)
    throw new AlteredFile(`The table of approval records has ${stored} rows, of which ${rows} can be read.`)
  if (changes !== recorded) throw missingApproval(connection, origin)
}

/** Seqs of a chain's entries that change approvals, without those that a command erased with the approval. */
function approvalSeqs(connection: Connection, origin: string, chain: string): number[] {
  const { entries } = connection
  const all = entries.seqsOfTypes(chain, APPROVAL_EVENTS)
  const redactions = entries.seqsOfTypes(chain, ['audit.redaction'])
  const isErased = erasures(redactions.flatMap((seq) => targetsOf(dataOf(soundEntry(connection, origin, chain, seq)))))
  return all.filter((seq) => !isErased(seq, 'data'))
}

/** Finds the approval that has entries but no row. */
function missingApproval(connection: Connection, origin: string): AlteredFile {
  const { entries, records } = connection
  for (const chain of entries.chains()) {
    for (const seq of approvalSeqs(connection, origin, chain)) {
      const { id } = readChange(dataOf(soundEntry(connection, origin, chain, seq))) ?? {}
      if (id !== undefined && records.approval.get(id) === undefined) return differing('approval', id, MISSING)
    }
  }
  return new AlteredFile('The index of the entries that change approvals does not have them all; restore a backup.')
}
