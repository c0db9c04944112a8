import { genesisHead, type Head } from '../../audit/chain.ts'
import { draftAt, type PreparedEntry, prepareEntry, SERVICE, withLengths } from '../../audit/draft.ts'
import { SALT_BYTES, type StoredEntry, seal } from '../../audit/entry.ts'
import { isPlaced } from '../../audit/events.ts'
import { headOf } from '../../audit/verify.ts'
import { ID_RANDOM_BYTES, makeId } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import { runNow } from '../steps.ts'
import type { Write } from '../submission.ts'
import { assertRecorded, assertSealed, cutOff, sealedBy } from '../verify/seals.ts'
import type { Group } from './group.ts'

/**
 * Appends the entry after those that the chain needs first: its genesis, and a note when the clock has gone back, each
 * time that it did.
 */
export function append(group: Group, entry: PreparedEntry): StoredEntry {
  const { nowMs, regressed } = group
  const head = headOfChain(group, entry.chain)
  const previousMs = regressed.get(entry.chain) ?? head.tsMs
  if (nowMs >= head.tsMs) regressed.delete(entry.chain)
  else regressed.set(entry.chain, nowMs)
  if (nowMs < head.tsMs && nowMs < previousMs) {
    const data = { observed: formatTimestamp(nowMs), previous: formatTimestamp(previousMs) }
    appendAfter(group, head, serviceEvent(group, entry.chain, 'clock.regression', data))
  }
  return appendAfter(group, group.heads.get(entry.chain) ?? head, entry)
}

function headOfChain(group: Group, chain: string): Head {
  const known = group.heads.get(chain) ?? sealedHead(group, chain)
  if (known !== undefined) return known
  const genesis = serviceEvent(group, chain, 'audit.genesis', { chain, origin: group.origin })
  return headOf(appendAfter(group, genesisHead(group.origin, chain), genesis))
}

/** @throws AlteredFile for an entry that was appended without the log key, and for a chain that lacks newer ones */
function sealedHead({ connection, origin, seal, known }: Group, chain: string): Head | undefined {
  const written = known.get(chain)
  if (written !== undefined && connection.entries.isHead(chain, written)) return written
  const head = connection.entries.head(chain)
  // An earlier end has a seal too, which anybody may have kept.
  if (written === undefined) runNow(assertRecorded(connection, chain, head))
  else if (head === undefined || head.seq <= written.seq) throw cutOff(chain, written.seq)
  if (seal !== undefined) runNow(assertSealed(connection, origin, chain, head, sealedBy(seal)))
  return head
}

/** Takes all chains up under another key, or as they are under the key in use, before anything is appended. */
export function reseal(group: Group, { key }: Extract<Write, { kind: 'reseal' }>): void {
  if (group.seal === undefined) return
  const { entries, seals } = group.connection
  const asTheyAre = key === undefined
  const chains = entries.chains()
  for (const gone of seals.chains()) if (asTheyAre && !chains.includes(gone)) seals.remove(gone)
  for (const chain of chains) {
    const head = group.heads.get(chain) ?? (asTheyAre ? entries.head(chain) : sealedHead(group, chain))
    if (head !== undefined) group.heads.set(chain, head)
  }
  group.seal = key ?? group.seal
}

/** Seals the chains that the group touched. */
export function sealHeads({ connection, origin, seal, heads }: Group): void {
  if (seal !== undefined) for (const [chain, head] of heads) connection.seals.put(origin, seal, chain, head)
}

function serviceEvent(
  { nowMs, random }: Group,
  chain: string,
  type: 'audit.genesis' | 'clock.regression',
  data: Record<string, string>,
): PreparedEntry {
  const id = makeId('entry', nowMs, random(ID_RANDOM_BYTES))
  return prepareEntry({ kind: 'event', id, chain, type, data, actor: SERVICE })
}

/** Lengths of all chains but this one, as of now in the transaction. */
function lengthsBeside({ connection: { entries } }: Group, chain: string): Record<string, number> {
  const others = entries.chains().filter((other) => other !== chain)
  return Object.fromEntries(others.map((other) => [other, entries.length(other)]))
}

function appendAfter(group: Group, head: Head, entry: PreparedEntry): StoredEntry {
  const ts = formatTimestamp(Math.max(group.nowMs, head.tsMs))
  const timed = draftAt(entry, ts)
  const draft = isPlaced(entry.chain, entry.type) ? withLengths(timed, lengthsBeside(group, entry.chain)) : timed
  const salts = group.random(SALT_BYTES * draft.sections.length)
  const sealed = seal(head, draft, ts, salts)
  group.connection.entries.append(sealed, entry, salts)
  group.heads.set(entry.chain, headOf(sealed))
  return sealed
}
