import type { EventType } from '../../audit/events.ts'
import { idBytes, idOf } from '../../base/id.ts'
import type { Reporter, Unreported, UnreportedQuery } from '../queries.ts'
import type { ChainPlaces } from './chains.ts'
import { first, type Runner, statement } from './database.ts'
import { escaped, unescaped } from './entry-columns.ts'

const TOLD = statement(
  'SELECT seq FROM gate.audit_entry WHERE chain = $1 AND decision = $2 AND type = ANY($3) ORDER BY at',
)
const NEXT_REPORTER = statement(
  `SELECT reported_by AS agent, seq AS since FROM gate.audit_entry
    WHERE chain = $1 AND reported_by > $2 AND type = 'outcome.recorded' ORDER BY chain, reported_by, at LIMIT 1`,
)
// The id of a decision is that of its entry under another prefix.
const UNREPORTED = statement(
  `SELECT seq, id, action FROM gate.audit_entry AS e
    WHERE taken AND chain = $1 AND agent = $2 AND at >= $3 AND at < $4
      AND NOT EXISTS (SELECT FROM gate.audit_entry AS later
        WHERE later.decision = e.id AND later.chain = e.chain AND later.type IN ('outcome.recorded', 'outcome.missing'))
    ORDER BY at LIMIT $5`,
)

/** Finds entries that refer to decisions, except entries that callers wrote. */
export function outcomeReads(run: Runner, places: ChainPlaces) {
  const nextReporter = async (chain: number, after: string) => first(run.rows<Reporter>(NEXT_REPORTER, [chain, after]))
  return {
    async told(chain: string, decisionId: string, types: readonly EventType[]): Promise<number[]> {
      const bytes = idBytes(decisionId, 'decision')
      if (bytes === undefined) return []
      const rows = await run.rows<{ seq: number }>(TOLD, [await places.number(chain), bytes, types])
      return rows.map(({ seq }) => seq)
    },
    async reporters(chain: string): Promise<Reporter[]> {
      const number = await places.number(chain)
      const found: Reporter[] = []
      for (let next = await nextReporter(number, ''); next !== undefined; next = await nextReporter(number, next.agent))
        found.push(next)
      return found.map(({ agent, since }) => ({ agent: unescaped(agent) ?? agent, since }))
    },
    async unreported({ chain, agent, limit, ...range }: UnreportedQuery): Promise<Unreported[]> {
      const place = [await places.number(chain), escaped(agent), ...(await places.range(chain, range))]
      const rows = await run.rows<{ seq: number; id: Uint8Array; action: string }>(UNREPORTED, [...place, limit])
      return rows.map(({ seq, id, action }) => ({ seq, decisionId: idOf('decision', id), action }))
    },
  }
}
