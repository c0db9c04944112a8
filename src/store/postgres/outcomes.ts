import { trailNames } from '../../audit/chain.ts'
import type { EventType } from '../../audit/events.ts'
import { idBytes, idOf } from '../../base/id.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../queries.ts'
import type { Placed } from '../submission.ts'
import type { ChainPlaces } from './chains.ts'
import { type Runner, statement } from './database.ts'
import { escaped, unescaped } from './entry-columns.ts'

/** Condition on gate.chain: the chains of a trail. @param from number of the first of its parameters, from `trailNames` */
const ofTrail = (from: number): string => `(c.name = $${from} OR (c.name > $${from + 1} AND c.name < $${from + 2}))`

// Each statement has one index that fits, since a server that has not counted the rows yet would take another.
const TOLD = statement(
  `WITH e AS MATERIALIZED (SELECT chain, seq, type FROM gate.audit_entry WHERE decision = $1)
   SELECT c.name AS chain, e.seq FROM e JOIN gate.chain AS c ON c.number = e.chain
    WHERE e.type = ANY($2) AND ${ofTrail(3)}`,
)
const firstReport = (chain: string, after: string): string =>
  `SELECT e.reported_by AS agent, e.seq, e.ts FROM gate.audit_entry AS e
    WHERE e.chain = ${chain} AND e.reported_by > ${after} AND coalesce(e.type = 'outcome.recorded', false)
    ORDER BY e.chain, e.reported_by, e.at LIMIT 1`
// Seeks once for each agent and chain, instead of passing over every report.
const REPORTERS = statement(
  `WITH RECURSIVE found AS (
     SELECT c.number, c.name, f.* FROM gate.chain AS c CROSS JOIN LATERAL (${firstReport('c.number', "''")}) AS f
       WHERE ${ofTrail(1)}
     UNION ALL
     SELECT found.number, found.name, f.* FROM found
       CROSS JOIN LATERAL (${firstReport('found.number', 'found.agent')}) AS f
   )
   SELECT name AS chain, agent, seq, ts FROM found`,
)
// The id of a decision is that of its entry under another prefix.
const UNREPORTED = statement(
  `SELECT seq, id, action FROM gate.audit_entry AS e
    WHERE taken AND chain = $1 AND agent = $2 AND at >= $3 AND at < $4
      AND NOT EXISTS (SELECT FROM (SELECT chain, type FROM gate.audit_entry WHERE decision = e.id OFFSET 0) AS later
        JOIN gate.chain AS c ON c.number = later.chain
        WHERE ${ofTrail(6)} AND later.type IN ('outcome.recorded', 'outcome.missing'))
    ORDER BY at LIMIT $5`,
)

/** Finds entries that refer to decisions, except entries that callers wrote. */
export function outcomeReads(run: Runner, places: ChainPlaces) {
  return {
    async told(
      trail: string,
      decisionId: string,
      types: readonly EventType[],
    ): Promise<Pick<Placed, 'chain' | 'seq'>[]> {
      const bytes = idBytes(decisionId, 'decision')
      return bytes === undefined ? [] : run.rows(TOLD, [bytes, types, ...trailNames(trail)])
    },
    async reporters(trail: string): Promise<Reporter[]> {
      const found = await run.rows<Omit<Reporter, 'ts'> & { ts: number }>(REPORTERS, trailNames(trail))
      return found.map(({ agent, chain, seq, ts }) => {
        return { agent: unescaped(agent) ?? agent, chain, seq, ts: formatTimestamp(ts) }
      })
    },
    async unreported({ chain, agent, limit, ...range }: UnreportedQuery): Promise<Unreported[]> {
      const place = [await places.number(chain), escaped(agent), ...(await places.range(chain, range))]
      const rows = await run.rows<{ seq: number; id: Uint8Array; action: string }>(UNREPORTED, [
        ...place,
        limit,
        ...trailNames(chain),
      ])
      return rows.map(({ seq, id, action }) => ({ seq, decisionId: idOf('decision', id), action }))
    },
  }
}
