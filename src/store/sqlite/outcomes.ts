import type { Database } from 'better-sqlite3'
import type { EventType } from '../../audit/events.ts'
import { ID_PREFIX } from '../../base/id.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../queries.ts'
import { AGENT, TAKEN } from './decisions.ts'

const DECISION = "json_extract(json, '$.decisionId')"
const REPORTER = "json_extract(json, '$.reportedBy')"
/** Id of a decision: that of its entry under another prefix. */
const DECISION_OF_ENTRY = `'${ID_PREFIX.decision}' || substr(entry.id, ${ID_PREFIX.entry.length + 1})`

/** Finds entries that refer to decisions (0005_outcomes.sql), except entries that callers wrote. */
export function outcomeQueries(db: Database) {
  const told = db
    .prepare<[string, string, string], number>(
      `SELECT section.seq FROM section INDEXED BY section_decision JOIN entry USING (chain, seq)
        WHERE section.chain = ? AND section.name = 'data' AND ${DECISION} = ?
          AND entry.type IN (SELECT value FROM json_each(?)) ORDER BY section.seq`,
    )
    .pluck()
  const nextReporter = db.prepare<[string, string], Reporter>(
    `SELECT ${REPORTER} AS agent, section.seq AS since FROM section INDEXED BY section_reporter JOIN entry USING (chain, seq)
      WHERE section.chain = ? AND section.name = 'data' AND ${REPORTER} > ? AND entry.type = 'outcome.recorded'
      ORDER BY ${REPORTER}, section.seq LIMIT 1`,
  )
  const unreported = db.prepare<[string, string, number, number, number], Unreported>(
    `SELECT section.seq, ${DECISION_OF_ENTRY} AS decisionId, ${TAKEN} AS action
      FROM section INDEXED BY section_agent JOIN entry USING (chain, seq)
      WHERE section.chain = ? AND section.name = 'grounds' AND ${TAKEN} IS NOT NULL AND ${AGENT} = ?
        AND section.seq >= ? AND section.seq < ?
        AND NOT EXISTS (
          SELECT 1 FROM section AS later JOIN entry AS teller USING (chain, seq)
            WHERE later.chain = section.chain AND later.name = 'data'
              AND json_extract(later.json, '$.decisionId') = ${DECISION_OF_ENTRY}
              AND teller.type IN ('outcome.recorded', 'outcome.missing'))
      ORDER BY section.seq LIMIT ?`,
  )
  return {
    /** Seqs, ascending, of the entries of these types that refer to the decision. */
    told: (chain: string, decisionId: string, types: readonly EventType[]) =>
      told.all(chain, decisionId, JSON.stringify(types)),
    /** Agents that have reported outcomes, with the seq of the first one. */
    reporters(chain: string): Reporter[] {
      const found: Reporter[] = []
      for (let next = nextReporter.get(chain, ''); next !== undefined; next = nextReporter.get(chain, next.agent))
        found.push(next)
      return found
    },
    unreported: ({ chain, agent, first, end, limit }: UnreportedQuery) =>
      unreported.all(chain, agent, first, end, limit),
  }
}
