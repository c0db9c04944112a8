import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { EVENT_TYPES, isOfApproval, STATE_EVENTS } from '../../audit/events.ts'
import type { Left } from '../../evidence/prune.ts'
import { AlteredFile } from '../errors.ts'
import type { RecordKind } from '../records.ts'
import type { Source } from '../source.ts'
import { read, type Steps } from '../steps.ts'
import { applyEntry, applyState, type Folded } from './provenance.ts'
import { dataOf, reading, soundEntry } from './sound-entry.ts'

const OTHER_EVENTS = STATE_EVENTS.filter((type) => !isOfApproval(type))

export function nothingFolded(): Folded {
  return {
    tenant: new Map(),
    key: new Map(),
    signingKey: new Map(),
    policy: new Map(),
    switch: new Map(),
    approval: new Map(),
  }
}

/** Merges the change of the entry at this place, after verifying the entry. @throws AlteredFile naming the entry */
export function* foldEntry(
  source: Source,
  origin: string,
  folded: Folded,
  { chain, seq }: { chain: string; seq: number },
): Steps<void> {
  const entry = yield* soundEntry(source, origin, chain, seq)
  const fault = applyEntry(folded, chain, entry.header.type, dataOf(entry))
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault}.`)
}

/**
 * Merges a chain's changes before `end` of all records but approvals, starting from the state of its pruned entries.
 */
export function* foldChain(
  source: Source,
  origin: string,
  folded: Folded,
  { chain, end }: { chain: string; end: number },
): Steps<void> {
  const where = `Audit chain ${chain}`
  const { prune } = (yield* reading(source, where, () => source.pruned.record(chain))) ?? {}
  for (const { record, id, body } of prune?.state ?? []) {
    const fault = applyState(folded, chain, { record, id, body })
    if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, the record of what was pruned: ${fault}.`)
  }
  const seqs = yield* reading(source, where, () => source.entries.seqsOfTypes(chain, OTHER_EVENTS))
  for (const seq of seqs) if (seq < end) yield* foldEntry(source, origin, folded, { chain, seq })
}

/** State to keep of the entries before `end` when they are pruned. */
export function* stateBefore(source: Source, origin: string, chain: string, end: number): Steps<Left> {
  const folded = nothingFolded()
  yield* foldChain(source, origin, folded, { chain, end })
  const kinds = Object.keys(folded) as RecordKind[]
  const state = kinds.flatMap((record) => Array.from(folded[record], ([id, body]) => ({ record, id, body })))
  const heads = chain === SYSTEM_CHAIN ? yield* read(source.systemHeads.before(end)) : []
  return { state, heads, events: yield* eventsBefore(source, chain, end) }
}

const COUNTED = EVENT_TYPES.filter((type) => type !== 'gate.decision')

/** Counts events by type, including those that were pruned before. */
function* eventsBefore({ entries, pruned }: Source, chain: string, end: number): Steps<Left['events']> {
  const { events } = (yield* read(pruned.record(chain)))?.prune ?? {}
  const counts: Record<string, number> = {}
  for (const type of COUNTED) {
    const own = yield* read(entries.seqsOfTypes(chain, [type], { first: 0, end }))
    const count = (events?.[type] ?? 0) + own.length
    if (count > 0) counts[type] = count
  }
  return counts
}
