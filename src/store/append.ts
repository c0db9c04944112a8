import { genesisHead, type Head, SYSTEM_CHAIN } from '../audit/chain.ts'
import { draftAt, type PreparedEntry, prepareEntry, SERVICE, withLengths } from '../audit/draft.ts'
import { type Draft, SALT_BYTES, type StoredEntry, seal } from '../audit/entry.ts'
import { countsIn, isPlaced } from '../audit/events.ts'
import { headOf } from '../audit/verify.ts'
import { ID_RANDOM_BYTES, makeId } from '../base/id.ts'
import { formatTimestamp } from '../base/time.ts'
import type { Group } from './group.ts'
import { read, type Steps } from './steps.ts'
import type { Write } from './submission.ts'
import { assertRecorded, assertSealed, assertWritten, cutOff, sealedBy } from './verify/seals.ts'

/**
 * Appends the entry after those that the chain needs first: its genesis, and a note when the clock has gone back, each
 * time that it did.
 */
export function* append(group: Group, entry: PreparedEntry): Steps<StoredEntry> {
  const { nowMs, slackMs, regressed } = group
  const head = yield* headOfChain(group, entry.chain)
  const previousMs = regressed.get(entry.chain) ?? head.tsMs
  if (nowMs + slackMs >= head.tsMs) regressed.delete(entry.chain)
  else regressed.set(entry.chain, nowMs)
  if (nowMs + slackMs < head.tsMs && nowMs < previousMs) {
    const data = { observed: formatTimestamp(nowMs), previous: formatTimestamp(previousMs) }
    yield* appendAfter(group, head, serviceEvent(group, entry.chain, 'clock.regression', data))
  }
  return yield* appendAfter(group, group.heads.get(entry.chain) ?? head, entry)
}

function* headOfChain(group: Group, chain: string): Steps<Head> {
  const known = group.heads.get(chain) ?? (yield* sealedHead(group, chain))
  if (known !== undefined) return known
  const genesis = serviceEvent(group, chain, 'audit.genesis', { chain, origin: group.origin })
  return headOf(yield* appendAfter(group, genesisHead(group.origin, chain), genesis))
}

/**
 * @throws AlteredFile for an entry that was appended without the log key, and for a chain that lacks what this process
 *   wrote, such as that of a replica which took over without it
 */
function* sealedHead({ tables, origin, seal, known }: Group, chain: string): Steps<Head | undefined> {
  const { entries } = tables
  const written = known.get(chain)
  if (written !== undefined && (yield* read(entries.isHead(chain, written)))) return written
  const head = yield* read(entries.head(chain))
  // An earlier end has a seal too, which anybody may have kept.
  if (written === undefined) yield* assertRecorded(tables, chain, head)
  else if (head === undefined || head.seq <= written.seq) throw cutOff(chain, written.seq)
  else yield* assertWritten(tables, chain, written)
  if (seal !== undefined) yield* assertSealed(tables, origin, chain, head, sealedBy(seal))
  return head
}

/** Takes all chains up under another key, or as they are under the key in use, before anything is appended. */
export function* reseal(group: Group, { key }: Extract<Write, { kind: 'reseal' }>): Steps<void> {
  if (group.seal === undefined) return
  const { entries, seals } = group.tables
  const asTheyAre = key === undefined
  const chains = yield* read(entries.chains())
  if (asTheyAre)
    for (const sealed of yield* read(seals.chains())) if (!chains.includes(sealed)) yield* read(seals.remove(sealed))
  for (const chain of chains) {
    const known = group.heads.get(chain)
    const head = known ?? (asTheyAre ? yield* read(entries.head(chain)) : yield* sealedHead(group, chain))
    if (head !== undefined) group.heads.set(chain, head)
  }
  group.seal = key ?? group.seal
}

/** Seals the chains that the group touched. */
export function* sealHeads({ tables, origin, seal, heads }: Group): Steps<void> {
  if (seal !== undefined) for (const [chain, head] of heads) yield* read(tables.seals.put(origin, seal, chain, head))
}

/** Number of entries of a chain, as of now in the transaction. */
export function* lengthOf({ heads, tables }: Group, chain: string): Steps<number> {
  const head = heads.get(chain)
  return head === undefined ? yield* read(tables.entries.length(chain)) : head.seq + 1
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

/** The draft with the lengths of the chains in which it counts, as of now in the transaction; as it is, if in none. */
function* placedAmong(group: Group, draft: Draft): Steps<Draft> {
  const { chain, type, sections } = draft
  const dataOf = () => JSON.parse(sections.find(({ name }) => name === 'data')?.json ?? '{}')
  if (!isPlaced(type, () => dataOf().record)) return draft
  const { entries } = group.tables
  const lengths: Record<string, number> = {}
  for (const other of yield* read(chain === SYSTEM_CHAIN ? entries.chains() : entries.lanes(chain)))
    if (countsIn(chain, other)) lengths[other] = yield* lengthOf(group, other)
  // Most trails have no lanes.
  const isAlone = chain !== SYSTEM_CHAIN && Object.keys(lengths).length === 0
  return isAlone ? draft : withLengths(draft, lengths)
}

function* appendAfter(group: Group, head: Head, entry: PreparedEntry): Steps<StoredEntry> {
  const { chain } = entry
  const ts = formatTimestamp(Math.max(group.nowMs, head.tsMs))
  const timed = draftAt(entry, ts)
  const draft = yield* placedAmong(group, timed)
  const salts = group.random(SALT_BYTES * draft.sections.length)
  const sealed = seal(head, draft, ts, salts)
  yield* read(group.tables.entries.append(sealed, entry, salts))
  group.heads.set(chain, headOf(sealed))
  return sealed
}
