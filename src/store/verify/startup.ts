import { APPROVAL_EVENTS, type EventType } from '../../audit/events.ts'
import { erasures, type RedactionTarget, targetsOf } from '../../audit/redaction.ts'
import { AlteredFile } from '../errors.ts'
import { chainOfRecord, chainOfStop, logKeyInUse, recordOf } from '../records.ts'
import type { Source } from '../source.ts'
import { read, type Steps } from '../steps.ts'
import type { SealKeys } from '../store.ts'
import type { Placed } from '../submission.ts'
import { foldChain, foldEntry, nothingFolded } from './fold.ts'
import { assertSame, differing, MISSING } from './follow.ts'
import { readChange } from './provenance.ts'
import { unsealedIn } from './seals.ts'
import { dataOf, reading, soundEntry } from './sound-entry.ts'

type Place = Pick<Placed, 'chain' | 'seq'>

/** Whether a store is opened of which chains were appended to without the log key: for the command that takes them up. */
export type Unsealed = 'refused' | 'accepted'

/** `nothing` is for commands that inspect a possibly altered store and answer nobody from it. */
export type StartCheck = 'all' | 'allButApprovals' | 'nothing'

export interface FollowOptions {
  /** Records checked against the chains at start. Approvals may be left out: each is checked at its use. */
  check?: StartCheck
  /** Keys of the seals; without them nothing is sealed or held to seals, for a store that answers nobody. */
  sealKeys?: SealKeys | undefined
  /** @default 'refused' */
  unsealed?: Unsealed | undefined
  /** The only tenant that the source shows; undefined for all. */
  tenant?: string | undefined
}

/** Requires records and heads to follow from the chains, and each chain to be sealed. @throws AlteredFile */
export function* assertFollows(
  source: Source,
  origin: string,
  { check = 'all', sealKeys, unsealed = 'refused', tenant }: FollowOptions,
): Steps<void> {
  if (check === 'nothing') return
  yield* assertHeads(source, origin)
  yield* assertRecords(source, origin, tenant)
  yield* assertStops(source)
  if (check !== 'allButApprovals') yield* assertApprovals(source, origin)
  if (unsealed !== 'accepted') yield* assertAllSealed(source, origin, sealKeys)
}

/** Requires each chain to be sealed, as far as the log key is at hand. @throws AlteredFile */
export function* assertAllSealed(source: Source, origin: string, sealKeys: SealKeys | undefined): Steps<void> {
  const key = sealKeys?.(logKeyInUse(yield* read(source.records.signingKey.all()))?.id)
  // A chain that is gone shows where it was signed or anchored; the service starts, and writes nothing to it.
  const [fault] = yield* unsealedIn(source, origin, key, yield* read(source.entries.chains()))
  if (fault !== undefined) throw fault
}

/** Requires every chain to start at its genesis or pruned edge, and its last entry to follow the one before. */
export function* assertHeads(source: Source, origin: string): Steps<void> {
  const { entries, pruned, asUnusable } = source
  for (const chain of yield* read(entries.chains()))
    try {
      const [head, oldest] = [yield* read(entries.head(chain)), yield* read(entries.first(chain))]
      const first = yield* read(pruned.size(chain))
      // Nothing verifies entries before the first one, and they would be folded into the records.
      if (oldest < first) throw new AlteredFile(`Audit chain ${chain}: entry ${oldest} stands before the first one.`)
      // `audit verify` checks erased sections of a first entry against the command that erased them.
      yield* soundEntry(source, origin, chain, first, { sections: false })
      yield* soundEntry(source, origin, chain, head?.seq ?? 0)
    } catch (error) {
      throw asUnusable(error, `Audit chain ${chain}`)
    }
}

/**
 * Requires tenants, keys, policies and switches to equal the merge of all recorded changes.
 *
 * @param tenant the only one that the source shows; undefined for all
 *
 * @throws AlteredFile naming the record
 */
export function* assertRecords(source: Source, origin: string, tenant?: string): Steps<void> {
  const { entries, records } = source
  const folded = nothingFolded()
  for (const chain of yield* read(entries.chains()))
    yield* foldChain(source, origin, folded, { chain, end: Number.MAX_SAFE_INTEGER })
  // `_system` tells of all tenants.
  if (tenant !== undefined) for (const id of folded.tenant.keys()) if (id !== tenant) folded.tenant.delete(id)
  const { approval: _, ...others } = folded
  for (const kind of Object.keys(others) as (keyof typeof others)[]) {
    const stored = yield* reading(source, `The table of ${kind} records`, () => records[kind].bodies())
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
export function* assertStops(source: Source): Steps<void> {
  const { entries, pruned, records } = source
  for (const record of yield* read(records.switch.all())) {
    const { id, revision, triggeredAt } = record
    const chain = chainOfStop(record)
    const where = `The list of entries of stop ${id}`
    const listed = yield* reading(source, where, () => records.entriesOf('switch', id, chain))
    if (listed.length === revision) continue
    const first = yield* read(pruned.size(chain))
    const oldest = yield* reading(source, `Audit chain ${chain}`, () => entries.withoutSections(chain, first))
    if (first === 0 || (oldest !== undefined && oldest.header.ts < triggeredAt))
      throw new AlteredFile(`Audit chain ${chain}: the index of its entries lacks one of the stop ${id}.`)
  }
}

/**
 * Checks approvals in the same way, one at a time: each holds its request, and together they can exceed the memory.
 *
 * @throws AlteredFile naming the approval
 */
export function* assertApprovals(source: Source, origin: string): Steps<void> {
  const { records } = source
  let rows = 0
  let changes = 0
  const next = (id: string) => reading(source, 'The table of approval records', () => records.approval.after(id))
  for (let row = yield* next(''); row !== undefined; row = yield* next(row.id)) {
    const { id, body } = row
    const where = `The list of entries of approval ${id}`
    const chain = chainOfRecord({ kind: 'approval', record: recordOf('approval', row) })
    const places = yield* reading(source, where, () => records.entriesOf('approval', id, chain))
    const folded = nothingFolded()
    for (const place of places) yield* foldEntry(source, origin, folded, place)
    assertSame('approval', id, folded.approval.get(id), body)
    rows += 1
    changes += places.length
  }
  const stored = yield* reading(source, 'The approvals', () => records.approval.count())
  const recorded = yield* approvalPlaces(source, origin)
  // Each row matches its entries. The sums show whether an entry or a row is missing.
  if (rows !== stored)
    throw new AlteredFile(`The table of approval records has ${stored} rows, of which ${rows} can be read.`)
  if (changes !== recorded.length) throw yield* missingApproval(source, origin, recorded)
}

/** Places of the entries that change approvals, without those that a command erased with the approval. */
function* approvalPlaces(source: Source, origin: string): Steps<Place[]> {
  const { entries } = source
  const places: Place[] = []
  for (const chain of yield* read(entries.chains())) {
    const seqsOf = (types: readonly EventType[]) =>
      reading(source, 'The approvals', () => entries.seqsOfTypes(chain, types))
    const all = yield* seqsOf(APPROVAL_EVENTS)
    const targets: RedactionTarget[] = []
    for (const seq of yield* seqsOf(['audit.redaction']))
      targets.push(...targetsOf(dataOf(yield* soundEntry(source, origin, chain, seq))))
    const isErased = erasures(targets)
    for (const seq of all) if (!isErased(seq, 'data')) places.push({ chain, seq })
  }
  return places
}

/** Finds the approval that has entries but no row. */
function* missingApproval(source: Source, origin: string, places: readonly Place[]): Steps<AlteredFile> {
  for (const { chain, seq } of places) {
    const { id } = readChange(dataOf(yield* soundEntry(source, origin, chain, seq))) ?? {}
    if (id !== undefined && (yield* read(source.records.approval.get(id))) === undefined)
      return differing('approval', id, MISSING)
  }
  return new AlteredFile('The index of the entries that change approvals does not have them all; restore a backup.')
}
