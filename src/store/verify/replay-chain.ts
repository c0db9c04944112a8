import { SYSTEM_CHAIN, trailOf } from '../../audit/chain.ts'
import { countsIn, STATE_EVENTS } from '../../audit/events.ts'
import { judging } from '../../audit/replay/judge.ts'
import type { Told } from '../../audit/replay/place.ts'
import { type Elsewhere, replay } from '../../audit/replay/replay.ts'
import { isJsonObject, type JsonObject, readJson, storedJson } from '../../base/json.ts'
import { memo } from '../../base/memo.ts'
import { formatTimestamp } from '../../base/time.ts'
import { EVIDENCE_JSON } from '../../evidence/envelope.ts'
import type { SeqRange } from '../queries.ts'
import type { Row, Source } from '../source.ts'
import { read, type Steps } from '../steps.ts'

/**
 * Tolerance where only times tell the order between two chains: commits wait for each other, and clocks are set.
 */
const SLACK_MS = 60_000
const ELSEWHERE_EVENTS = STATE_EVENTS.filter((type) => /^(key|killswitch)\./.test(type))

/** The replay of a chain from `first` on, beside its verification. Entries before are taken as they are. */
export function* replayFrom(source: Source, chain: string, first: number) {
  const oldest = yield* read(source.pruned.size(chain))
  const replayed = replay({
    chain,
    knows: { own: true, others: true },
    records: (yield* read(source.pruned.record(chain)))?.prune.state ?? [],
    elsewhere: yield* elsewhereOf(source, chain),
  })
  yield* eachOfTypes(source, chain, STATE_EVENTS, { first: oldest, end: first }, (row) => replayed.take(told(row)))
  const { step, finish } = judging(replayed)
  return { step: (row: Row): void => step(told(row)), finish }
}

/**
 * Content of the entry, read strictly: some of it is put into canonical form. Decisions are many, and of them nothing
 * is but the request.
 */
function told({ entry: { header }, text }: Row): Told {
  const isDecision = header.type === 'gate.decision'
  const read = (name: string): JsonObject | undefined => {
    const json = text(name)
    if (json === undefined) return undefined
    const isPlain = isDecision && name !== 'request'
    const value = isPlain ? storedJson(json) : readJson(json, EVIDENCE_JSON)
    return isJsonObject(value) ? value : undefined
  }
  const section = isDecision ? read : memo(read)
  return { header, section, has: (name) => text(name) !== undefined, sections: Object.keys(header.commits) }
}

function* eachOfTypes(
  { entries, rows }: Source,
  chain: string,
  types: readonly string[],
  range: SeqRange | undefined,
  visit: (row: Row) => void,
): Steps<void> {
  for (const seq of yield* read(entries.seqsOfTypes(chain, types, range)))
    for (const row of yield* read(rows.read(chain, { first: seq, end: seq + 1 }))) visit(row)
}

/** Numbers of pruned entries and of erasures, of the chains that the verification of a chain reads. */
export function* lossesOf(source: Source, chain: string): Steps<number[]> {
  const losses: number[] = []
  for (const one of new Set([chain, liveOf(chain) ?? chain, SYSTEM_CHAIN, trailOf(chain)]))
    losses.push(
      yield* read(source.pruned.size(one)),
      (yield* read(source.entries.seqsOfTypes(one, ['audit.redaction']))).length,
    )
  return losses
}

/** The chain by whose keys those of a test environment are known. */
function liveOf(chain: string): string | undefined {
  return chain.endsWith('/test') ? chain.replace(/test$/, 'live') : undefined
}

/** Keys and stops of other chains that count in this one, in their order. */
function* elsewhereOf(source: Source, chain: string): Steps<Elsewhere[]> {
  const live = liveOf(chain)
  const changes = live === undefined ? [] : yield* keysByTime(source, live)
  for (const other of [SYSTEM_CHAIN, trailOf(chain)])
    if (countsIn(other, chain)) changes.push(...(yield* placedChanges(source, other, chain)))
  return changes.sort((a, b) => a.at - b.at)
}

/** Keys and stops of another chain, placed in this one by the lengths that the other records. */
function* placedChanges(source: Source, other: string, chain: string): Steps<Elsewhere[]> {
  const bodies = new Map<string, JsonObject>()
  const changes: Elsewhere[] = []
  for (const { record, body } of (yield* read(source.pruned.record(other)))?.prune.state ?? []) {
    if (!isElsewhere(record)) continue
    bodies.set(String(body.id), body)
    if (record === 'key') changes.push({ at: 0, record, body: keyByTime(body) })
    else changes.push(...(yield* stopByTime(source, chain, body)))
  }
  yield* eachOfTypes(source, other, ELSEWHERE_EVENTS, undefined, (row) => {
    const { record, id, changes: changed, lengths } = told(row).section('data') ?? {}
    if (!isElsewhere(record) || typeof id !== 'string' || !isJsonObject(changed)) return
    const body: JsonObject = { ...bodies.get(id), ...changed }
    bodies.set(id, body)
    // Without its place, the change is a fault of the other chain.
    const at = isJsonObject(lengths) ? Number(lengths[chain] ?? 0) || 0 : 0
    changes.push({ at, record, body })
  })
  return changes
}

function isElsewhere(record: unknown): record is Elsewhere['record'] {
  return record === 'key' || record === 'switch'
}

/** Keys of a chain with which nothing but times orders this one: as if they always were, until their end. */
function* keysByTime(source: Source, chain: string): Steps<Elsewhere[]> {
  const bodies = new Map<string, JsonObject>()
  for (const { record, id, body } of (yield* read(source.pruned.record(chain)))?.prune.state ?? [])
    if (record === 'key') bodies.set(id, keyByTime(body))
  yield* eachOfTypes(source, chain, ELSEWHERE_EVENTS, undefined, (row) => {
    const { record, id, changes } = told(row).section('data') ?? {}
    if (record !== 'key' || typeof id !== 'string' || !isJsonObject(changes)) return
    bodies.set(id, keyByTime({ ...bodies.get(id), ...changes }))
  })
  return Array.from(bodies.values(), (body) => ({ at: 0, record: 'key', body }))
}

/** The key with its revocation as an expiry, which is judged by time. */
function keyByTime(body: JsonObject): JsonObject {
  const revokedMs = timeOf(body.revokedAt)
  if (revokedMs === undefined) return body
  const ends = [formatTimestamp(revokedMs + SLACK_MS), body.expiresAt].filter((end) => typeof end === 'string')
  return { ...body, revokedAt: null, expiresAt: ends.sort()[0] ?? null }
}

/** A stop of which pruned entries say when it was, and no longer where. */
function* stopByTime({ entries }: Source, chain: string, body: JsonObject): Steps<Elsewhere[]> {
  const [from, to] = [timeOf(body.triggeredAt), timeOf(body.recoveredAt)]
  if (from === undefined) return []
  const at = yield* read(entries.seqNotBefore(chain, formatTimestamp(from + SLACK_MS)))
  const triggered: Elsewhere = { at, record: 'switch', body: { ...body, recoveredAt: null } }
  if (to === undefined) return [triggered]
  const end = yield* read(entries.seqNotBefore(chain, formatTimestamp(to)))
  return end <= at ? [{ at, record: 'switch', body }] : [triggered, { at: end, record: 'switch', body }]
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
