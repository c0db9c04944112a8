import { formatTimestamp } from '../base/time.ts'
import type { Recorded } from '../replay/recorded.ts'

/** Distinct names that are kept; beyond them, a count is the least that there are. */
const MAX_NAMES = 1000

/** A recorded request, as a reader finds it. */
interface Seen {
  id: string
  timestamp: string
}

/** Evidence for a proposal: the number of requests, their time, and their agents. */
export interface Support {
  requests: number
  /** Null without requests. */
  first: Seen | null
  last: Seen | null
  agents: number
  /** Days on which they were made (UTC), and sessions that name themselves. */
  days: number
  sessions: number
}

type Counted = Pick<Recorded, 'id' | 'tsMs' | 'agent' | 'session'>

/** Counts requests, given in their order. */
export function tally() {
  const [agents, days, sessions] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let requests = 0
  let first: Seen | null = null
  let last: Seen | null = null
  return {
    add({ id, tsMs, agent, session }: Counted): void {
      const seen = { id, timestamp: formatTimestamp(tsMs) }
      requests += 1
      first ??= seen
      last = seen
      note(agents, agent)
      note(days, seen.timestamp.slice(0, 10))
      if (session !== null) note(sessions, `${agent} ${session}`)
    },
    support: (): Support => ({ requests, first, last, agents: agents.size, days: days.size, sessions: sessions.size }),
  }
}

export type Tally = ReturnType<typeof tally>

/** Adds a name while there are few. */
export function note(names: Set<string>, name: string): void {
  if (names.size < MAX_NAMES) names.add(name)
}
