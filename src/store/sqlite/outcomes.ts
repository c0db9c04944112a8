import type { Database } from 'better-sqlite3'
import { trailNames } from '../../audit/chain.ts'
import type { EventType } from '../../audit/events.ts'
import { idOf } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../queries.ts'
import type { Placed } from '../submission.ts'
import { type ChainPlaces, LIMIT, OF_TRAIL } from './places.ts'

const DECISION = "json_extract(data, '$.decisionId')"
const REPORTER = "json_extract(data, '$.reportedBy')"

/** Finds entries that refer to decisions (0012_one_row.sql), except entries that callers wrote. */
export function outcomeQueries(db: Database, places: ChainPlaces) {
  // Id of a decision: that of its entry under another prefix.
  db.function('decision_id', { deterministic: true, directOnly: true }, (id: unknown) =>
    id instanceof Uint8Array ? idOf('decision', id) : null,
  )
  const told = db.prepare<[string, string, string, string, string], Pick<Placed, 'chain' | 'seq'>>(
    `SELECT chain.name AS chain, seq FROM chain CROSS JOIN audit_entry INDEXED BY entry_by_decision
      WHERE ${OF_TRAIL} AND audit_entry.chain = chain.number AND data IS NOT NULL AND ${DECISION} = ?
        AND type IN (SELECT value FROM json_each(?))`,
  )
  const nextReporter = db.prepare<[number, string], { agent: string; seq: number; ts: number }>(
    `SELECT ${REPORTER} AS agent, seq, ts FROM audit_entry INDEXED BY entry_by_reporter
      WHERE chain = ? AND data IS NOT NULL AND ${REPORTER} > ? AND type = 'outcome.recorded'
      ORDER BY ${REPORTER}, at LIMIT 1`,
  )
  const unreported = db.prepare<[string, number, number, string, string, string, number], Unreported>(
    `SELECT seq, decision_id(id) AS decisionId, action FROM audit_entry INDEXED BY taken_by_agent
      WHERE taken = 1 AND agent = ? AND at >= ? AND at < ?
        AND NOT EXISTS (
          SELECT 1 FROM audit_entry AS later INDEXED BY entry_by_decision
            WHERE later.chain IN (SELECT number FROM chain WHERE ${OF_TRAIL}) AND later.data IS NOT NULL
              AND json_extract(later.data, '$.decisionId') = decision_id(audit_entry.id)
              AND later.type IN ('outcome.recorded', 'outcome.missing'))
      ORDER BY at ${LIMIT}`,
  )
  /** Agents that have reported outcomes to a chain, by name, with the first one. */
  const reportersTo = (chain: string): Reporter[] => {
    const number = places.number(chain)
    const found: Reporter[] = []
    for (let next = nextReporter.get(number, ''); next !== undefined; next = nextReporter.get(number, next.agent))
      found.push({ ...next, chain, ts: formatTimestamp(next.ts) })
    return found
  }
  return {
    told: (trail: string, decisionId: string, types: readonly EventType[]) =>
      told.all(...trailNames(trail), decisionId, JSON.stringify(types)),
    reporters: (trail: string) => places.lanes(trail).flatMap(reportersTo),
    unreported: ({ chain, agent, limit, ...range }: UnreportedQuery) =>
      unreported.all(agent, ...places.range(chain, range), ...trailNames(chain), limit),
  }
}
