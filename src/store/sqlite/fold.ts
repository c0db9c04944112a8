import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { EVENT_TYPES, isOfApproval, STATE_EVENTS } from '../../audit/events.ts'
import type { Left } from '../../evidence/prune.ts'
import type { RecordKind } from '../records.ts'
import type { Connection } from './connection.ts'
import { AlteredFile } from './errors.ts'
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
export function foldEntry(
  connection: Connection,
  origin: string,
  folded: Folded,
  { chain, seq }: { chain: string; seq: number },
): void {
  const entry = soundEntry(connection, origin, chain, seq)
  const fault = applyEntry(folded, chain, entry.header.type, dataOf(entry))
  if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, entry ${seq}: ${fault}.`)
}

/**
 * Merges a chain's changes before `end` of all records but approvals, starting from the state of its pruned entries.
 */
export function foldChain(
  connection: Connection,
  origin: string,
  folded: Folded,
  { chain, end }: { chain: string; end: number },
): void {
  const { prune } = reading(`Audit chain ${chain}`, () => connection.pruned.record(chain)) ?? {}
  for (const { record, id, body } of prune?.state ?? []) {
    const fault = applyState(folded, chain, { record, id, body })
    if (fault !== undefined) throw new AlteredFile(`Audit chain ${chain}, the record of what was pruned: ${fault}.`)
  }
  const seqs = reading(`Audit chain ${chain}`, () => connection.entries.seqsOfTypes(chain, OTHER_EVENTS))
  for (const seq of seqs) if (seq < end) foldEntry(connection, origin, folded, { chain, seq })
}

/** State to keep of the entries before `end` when they are pruned. */
export function stateBefore(connection: Connection, origin: string, chain: string, end: number): Left {
  const folded = nothingFolded()
  foldChain(connection, origin, folded, { chain, end })
  const kinds = Object.keys(folded) as RecordKind[]
  const state = kinds.flatMap((record) => Array.from(folded[record], ([id, body]) => ({ record, id, body })))
  const heads = chain === SYSTEM_CHAIN ? connection.systemHeads.before(end) : []
  return { state, heads, events: eventsBefore(connection, chain, end) }
}

const COUNTED = EVENT_TYPES.filter((type) => type !== 'gate.decision')

/** Counts events by type, including those that were pruned before. */
function eventsBefore({ entries, pruned }: Connection, chain: string, end: number): Left['events'] {
  const { events } = pruned.record(chain)?.prune ?? {}
  const counts = COUNTED.map((type): [string, number] => {
    const own = entries.seqsOfTypes(chain, [type], { first: 0, end })
    return [type, (events?.[type] ?? 0) + own.length]
  })
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}
