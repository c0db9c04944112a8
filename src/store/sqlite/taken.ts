import type { Database } from 'better-sqlite3'
import type { Taken, TakenQuery } from '../queries.ts'

/** Members of a decision's grounds: the allowed action, and its agent. */
export const TAKEN = "json_extract(json, '$.taken')"
export const AGENT = "json_extract(json, '$.caller.agent')"
const SESSION = "json_extract(json, '$.session')"

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
