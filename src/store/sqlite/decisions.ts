import type { Database } from 'better-sqlite3'
import { isJsonObject, type JsonObject, storedJson } from '../../base/json.ts'
import { lru } from '../../base/memo.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Decision } from '../../policies/set.ts'
import { decisionRow } from '../decision-row.ts'
import { numberAt, seqAt, WHOLE_CHAIN } from '../places.ts'
import type { DecidedAction, DecisionRow, SeqRange, Taken, TakenQuery } from '../queries.ts'
import { type ChainPlaces, LIMIT, SEQ } from './places.ts'
import type { SharedTexts } from './shared-text.ts'

/** Templates of grounds whose values are kept. */
const TEMPLATES = 500

interface Row {
  at: number
  ts: number
  decision: Decision
  grounds: number | string
}

export function decisionQueries(db: Database, places: ChainPlaces, texts: SharedTexts) {
  // The request may be large, and lies behind these columns.
  const rows = db.prepare<[number, number], Row>(
    `SELECT at, ts, effect AS decision, grounds FROM audit_entry
      WHERE at >= ? AND at < ? AND type IS NULL AND grounds IS NOT NULL ORDER BY at`,
  )
  const requestAt = db.prepare<[number], string | null>('SELECT request FROM audit_entry WHERE at = ?').pluck()
  const newest = db.prepare<[number, number, number], Omit<DecidedAction, 'ts'> & { ts: number }>(
    `SELECT action, seq, ts FROM audit_entry WHERE at >= ? AND at < ? AND type IS NULL ORDER BY at DESC ${LIMIT}`,
  )
  const groundsOf = lru(TEMPLATES, (template: string): JsonObject => {
    const grounds = storedJson(template)
    return isJsonObject(grounds) ? grounds : {}
  })
  return {
    /** Decisions without their requests. */
    rows: (chain: string, range: SeqRange): DecisionRow[] =>
      rows
        .all(...places.range(chain, range))
        .map(({ at, ts, decision, grounds }) =>
          decisionRow(ts, decision, groundsOf(texts.text(numberAt(at), seqAt(at), grounds) ?? '{}')),
        ),
    requestAt: (chain: string, seq: number) => requestAt.get(places.at(chain, seq)) ?? undefined,
    newest: (chain: string, limit: number): DecidedAction[] =>
      newest
        .all(...places.range(chain, WHOLE_CHAIN), limit)
        .map(({ ts, ...decided }) => ({ ...decided, ts: formatTimestamp(ts) })),
    taken: takenQuery(db, places),
  }
}

/** Finds allowed actions: of an agent or a session by indexes of them, of all agents by looking at every entry of the range. */
export function takenQuery(db: Database, places: ChainPlaces): (query: TakenQuery) => Taken[] {
  const prepared = (index: string, who: string) =>
    db.prepare<unknown[], Taken>(
      `SELECT ${SEQ} AS seq, action FROM audit_entry ${index}
        WHERE taken = 1${who} AND at >= ? AND at < ? ORDER BY at ${LIMIT}`,
    )
  const all = prepared('NOT INDEXED', '')
  const ofAgent = prepared('INDEXED BY taken_by_agent', ' AND agent = ?')
  const ofSession = prepared('INDEXED BY taken_by_session', ' AND agent = ? AND session = ?')
  return ({ chain, agent, session, limit, ...range }) => {
    const [from, to] = places.range(chain, range)
    if (agent === null) return all.all(from, to, limit)
    if (session === null) return ofAgent.all(agent, from, to, limit)
    return ofSession.all(agent, session, from, to, limit)
  }
}
