import { isJsonObject, storedJson } from '../../base/json.ts'
import { formatTimestamp } from '../../base/time.ts'
import type { Decision } from '../../policies/set.ts'
import { decisionRow } from '../decision-row.ts'
import { WHOLE_CHAIN } from '../places.ts'
import type { DecidedAction, DecisionRow, SeqRange, Taken, TakenQuery } from '../queries.ts'
import type { ChainPlaces } from './chains.ts'
import { first, type Runner, statement } from './database.ts'
import { escaped } from './entry-columns.ts'
import { sharedText } from './shared-text.ts'

const RANGE = 'at >= $1 AND at < $2'
const ROWS = statement(
  `SELECT ts, effect AS decision, ${sharedText('grounds')} AS grounds FROM gate.audit_entry AS e
    WHERE ${RANGE} AND type IS NULL ORDER BY at`,
)
const REQUEST = statement('SELECT request FROM gate.audit_entry WHERE at = $1')
const NEWEST = statement(
  `SELECT action, seq, ts FROM gate.audit_entry WHERE ${RANGE} AND type IS NULL ORDER BY at DESC LIMIT $3`,
)
const takenBy = (who: string) =>
  statement(`SELECT seq, action FROM gate.audit_entry WHERE taken AND ${RANGE} ${who} ORDER BY at LIMIT $3`)
const TAKEN = takenBy('')
const BY_AGENT = takenBy('AND chain = $4 AND agent = $5')
const BY_SESSION = takenBy('AND chain = $4 AND agent = $5 AND session = $6')

interface Row {
  ts: number
  decision: Decision
  grounds: string | null
}

export function decisionReads(run: Runner, places: ChainPlaces) {
  return {
    async rows(chain: string, range: SeqRange): Promise<DecisionRow[]> {
      const rows = await run.rows<Row>(ROWS, await places.range(chain, range))
      return rows.flatMap(({ ts, decision, grounds }) => {
        if (grounds === null) return []
        const read = storedJson(grounds)
        return decisionRow(ts, decision, isJsonObject(read) ? read : {})
      })
    },
    async requestAt(chain: string, seq: number): Promise<string | undefined> {
      const row = await first(run.rows<{ request: string | null }>(REQUEST, [await places.at(chain, seq)]))
      return row?.request ?? undefined
    },
    async newest(chain: string, limit: number): Promise<DecidedAction[]> {
      const place = [...(await places.range(chain, WHOLE_CHAIN)), limit]
      const rows = await run.rows<Omit<DecidedAction, 'ts'> & { ts: number }>(NEWEST, place)
      return rows.map(({ ts, ...decided }) => ({ ...decided, ts: formatTimestamp(ts) }))
    },
    async taken({ chain, agent, session, limit, ...range }: TakenQuery): Promise<Taken[]> {
      // SQLite takes a limit below zero for none.
      const place = [...(await places.range(chain, range)), limit < 0 ? null : limit]
      if (agent === null) return run.rows<Taken>(TAKEN, place)
      const of = [...place, await places.number(chain), escaped(agent)]
      return session === null ? run.rows<Taken>(BY_AGENT, of) : run.rows<Taken>(BY_SESSION, [...of, escaped(session)])
    },
  }
}
