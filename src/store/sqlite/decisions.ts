import type { Database } from 'better-sqlite3'
import type { DecisionRow, SeqRange, Taken, TakenQuery } from '../queries.ts'

/** Members of a decision's grounds: the allowed action, and its agent. */
export const TAKEN = "json_extract(json, '$.taken')"
export const AGENT = "json_extract(json, '$.caller.agent')"
const SESSION = "json_extract(json, '$.session')"

export function decisionQueries(db: Database) {
  // The request may be large, and lies beside these sections.
  const rows = db.prepare<[string, number, number], DecisionRow>(
    `SELECT entry.ts AS ts, json_extract(decision.json, '$.decision') AS decision,
            json_extract(grounds.json, '$.rule') AS rule, json_extract(grounds.json, '$.decidedBy') AS decidedBy
       FROM entry
       JOIN section AS decision ON decision.chain = entry.chain AND decision.seq = entry.seq AND decision.name = 'decision'
       JOIN section AS grounds ON grounds.chain = entry.chain AND grounds.seq = entry.seq AND grounds.name = 'grounds'
      WHERE entry.chain = ? AND entry.seq >= ? AND entry.seq < ? ORDER BY entry.seq`,
  )
  const requestAt = db
    .prepare<[string, number], string>("SELECT json FROM section WHERE chain = ? AND seq = ? AND name = 'request'")
    .pluck()
  const recentActions = db
    .prepare<[string, number], string>(
      `SELECT DISTINCT json_extract(json, '$.action') FROM
         (SELECT json FROM section WHERE chain = ? AND name = 'decision' ORDER BY seq DESC LIMIT ?)`,
    )
    .pluck()
  return {
    /** Decisions without their requests. */
    rows: (chain: string, { first, end }: SeqRange) => rows.all(chain, first, end),
    requestAt: (chain: string, seq: number) => requestAt.get(chain, seq),
    recentActions: (chain: string, decisions: number) => recentActions.all(chain, decisions),
    taken: takenQuery(db),
  }
}

/** Finds allowed actions by the indexes of 0003_taken.sql alone, without reading a decision. */
export function takenQuery(db: Database): (query: TakenQuery) => Taken[] {
  const prepared = (index: string, who: string) =>
    db.prepare<unknown[], Taken>(
      `SELECT seq, ${TAKEN} AS action FROM section INDEXED BY ${index}
        WHERE chain = ? AND name = 'grounds' AND ${TAKEN} IS NOT NULL${who} AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?`,
    )
  const all = prepared('section_taken', '')
  const ofAgent = prepared('section_agent', ` AND ${AGENT} = ?`)
  const ofSession = prepared('section_session', ` AND ${AGENT} = ? AND ${SESSION} = ?`)
  return ({ chain, agent, session, first, end, limit }) => {
    if (agent === null) return all.all(chain, first, end, limit)
    if (session === null) return ofAgent.all(chain, agent, first, end, limit)
    return ofSession.all(chain, agent, session, first, end, limit)
  }
}
