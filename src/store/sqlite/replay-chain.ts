import { SYSTEM_CHAIN } from '../../audit/chain.ts'
import { STATE_EVENTS } from '../../audit/events.ts'
import { judging } from '../../audit/replay/judge.ts'
import type { Told } from '../../audit/replay/place.ts'
import { type Elsewhere, replay } from '../../audit/replay/replay.ts'
import { isJsonObject, type JsonObject, readJson, storedJson } from '../../base/json.ts'
import { memo } from '../../base/memo.ts'
import { formatTimestamp } from '../../base/time.ts'
import { EVIDENCE_JSON } from '../../evidence/envelope.ts'
import type { SeqRange } from '../queries.ts'
import type { Row } from './chain-rows.ts'
import type { Connection } from './connection.ts'

/**
 * Tolerance where only times tell the order between two chains: commits wait for each other, and clocks are set.
 */
const SLACK_MS = 60_000
const ELSEWHERE_EVENTS = STATE_EVENTS.filter((type) => /^(key|killswitch)\./.test(type))

/** The replay of a chain from `first` on, beside its verification. Entries before are taken as they are. */
export function replayFrom(connection: Connection, chain: string, first: number) {
  const oldest = connection.pruned.size(chain)
  const replayed = replay({
    chain,
    knows: { own: true, others: true },
    records: connection.pruned.record(chain)?.prune.state ?? [],
    elsewhere: elsewhereOf(connection, chain),
  })
  for (const row of rowsOfTypes(connection, chain, STATE_EVENTS, { first: oldest, end: first }))
    replayed.take(told(row))
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

function* rowsOfTypes({ entries, rows }: Connection, chain: string, types: readonly string[], range?: SeqRange) {
  for (const seq of entries.seqsOfTypes(chain, types, range)) yield* rows.from(chain, { first: seq, end: seq + 1 })
}

/** Keys and stops of other chains that count in this one, in their order. */
function elsewhereOf(connection: Connection, chain: string): Elsewhere[] {
  if (chain === SYSTEM_CHAIN) return []
  const live = chain.endsWith('/test') ? keysByTime(connection, chain.replace(/test$/, 'live')) : []
  return [...live, ...systemChanges(connection, chain)].sort((a, b) => a.at - b.at)
}

/** Admin keys and global stops, placed by the lengths that `_system` records. */
function systemChanges(connection: Connection, chain: string): Elsewhere[] {
  const bodies = new Map<string, JsonObject>()
  const changes: Elsewhere[] = []
  for (const { record, body } of connection.pruned.record(SYSTEM_CHAIN)?.prune.state ?? []) {
    if (!isElsewhere(record)) continue
    bodies.set(String(body.id), body)
    changes.push(
      ...(record === 'key' ? [{ at: 0, record, body: keyByTime(body) }] : stopByTime(connection, chain, body)),
    )
  }
  for (const row of rowsOfTypes(connection, SYSTEM_CHAIN, ELSEWHERE_EVENTS)) {
    const { record, id, changes: changed, lengths } = told(row).section('data') ?? {}
    if (!isElsewhere(record) || typeof id !== 'string' || !isJsonObject(changed)) continue
    const body: JsonObject = { ...bodies.get(id), ...changed }
    bodies.set(id, body)
    // Without its place, the change is a fault of `_system`.
    const at = isJsonObject(lengths) ? Number(lengths[chain] ?? 0) || 0 : 0
    changes.push({ at, record, body })
  }
  return changes
}

function isElsewhere(record: unknown): record is Elsewhere['record'] {
  return record === 'key' || record === 'switch'
}

/** Keys of a chain with which nothing but times orders this one: as if they always were, until their end. */
function keysByTime(connection: Connection, chain: string): Elsewhere[] {
  const bodies = new Map<string, JsonObject>()
  for (const { record, id, body } of connection.pruned.record(chain)?.prune.state ?? [])
    if (record === 'key') bodies.set(id, keyByTime(body))
  for (const row of rowsOfTypes(connection, chain, ELSEWHERE_EVENTS)) {
    const { record, id, changes } = told(row).section('data') ?? {}
    if (record !== 'key' || typeof id !== 'string' || !isJsonObject(changes)) continue
    bodies.set(id, keyByTime({ ...bodies.get(id), ...changes }))
  }
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
function stopByTime({ entries }: Connection, chain: string, body: JsonObject): Elsewhere[] {
  const [from, to] = [timeOf(body.triggeredAt), timeOf(body.recoveredAt)]
  if (from === undefined) return []
  const at = entries.seqNotBefore(chain, formatTimestamp(from + SLACK_MS))
  const triggered: Elsewhere = { at, record: 'switch', body: { ...body, recoveredAt: null } }
  if (to === undefined) return [triggered]
  const end = entries.seqNotBefore(chain, formatTimestamp(to))
  return end <= at ? [{ at, record: 'switch', body }] : [triggered, { at: end, record: 'switch', body }]
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
