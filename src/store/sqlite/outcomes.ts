import type { Database } from 'better-sqlite3'
import type { EventType } from '../../audit/events.ts'
import { idOf } from '../../base/id.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../queries.ts'
import { type ChainPlaces, LIMIT } from './places.ts'

const DECISION = "json_extract(data, '$.decisionId')"
const REPORTER = "json_extract(data, '$.reportedBy')"

/** Finds entries that refer to decisions (0012_one_row.sql), except entries that callers wrote. */
export function outcomeQueries(db: Database, places: ChainPlaces) {
  // Id of a decision: that of its entry under another prefix.
  db.function('decision_id', { deterministic: true, directOnly: true }, (id: unknown) =>
    id instanceof Uint8Array ? idOf('decision', id) : null,
  )
  const told = db
    .prepare<[number, string, string], number>(
      `SELECT seq FROM audit_entry INDEXED BY entry_by_decision
        WHERE chain = ? AND data IS NOT NULL AND ${DECISION} = ?
          AND type IN (SELECT value FROM json_each(?)) ORDER BY at`,
    )
    .pluck()
  const nextReporter = db.prepare<[number, string], Reporter>(
    `SELECT ${REPORTER} AS agent, seq AS since FROM audit_entry INDEXED BY entry_by_reporter
      WHERE chain = ? AND data IS NOT NULL AND ${REPORTER} > ? AND type = 'outcome.recorded'
      ORDER BY ${REPORTER}, at LIMIT 1`,
  )
  const unreported = db.prepare<[string, number, number, number], Unreported>(
    `SELECT seq, decision_id(id) AS decisionId, action FROM audit_entry INDEXED BY taken_by_agent
      WHERE taken = 1 AND agent = ? AND at >= ? AND at < ?
        AND NOT EXISTS (
          SELECT 1 FROM audit_entry AS later INDEXED BY entry_by_decision
            WHERE later.chain = audit_entry.chain AND later.data IS NOT NULL
              AND json_extract(later.data, '$.decisionId') = decision_id(audit_entry.id)
              AND later.type IN ('outcome.recorded', 'outcome.missing'))
      ORDER BY at ${LIMIT}`,
  )
  return {
    /** Seqs, ascending, of the entries of these types that refer to the decision. */
    told: (chain: string, decisionId: string, types: readonly EventType[]) =>
      told.all(places.number(chain), decisionId, JSON.stringify(types)),
    /** Agents that have reported outcomes, with the seq of the first one. */
    reporters(chain: string): Reporter[] {
      const number = places.number(chain)
      const found: Reporter[] = []
      for (let next = nextReporter.get(number, ''); next !== undefined; next = nextReporter.get(number, next.agent))
        found.push(next)
      return found
    },
    unreported: ({ chain, agent, limit, ...range }: UnreportedQuery) =>
      unreported.all(agent, ...places.range(chain, range), limit),
  }
}
