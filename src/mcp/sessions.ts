import type { Exchange } from './exchange.ts'
import type { Id } from './message.ts'

/**
 * Knowledge about the sender of a request. `stateless`: it belongs to no session; `new`: its session has just begun;
 * `unknown`: what the agent read before is unknown.
 */
export type Standing = 'stateless' | 'new' | 'unknown'

/** Limit of known sessions. Beyond it the session that was idle longest is dropped, and continues as `unknown`. */
const MAX_SESSIONS = 1000

/** Exchanges of sessions, by the id that the server gave. */
export function sessions(makeExchange: (standing: Standing) => Exchange) {
  const known = new Map<string, Exchange>()
  /** Exchanges of requests under way that have no session. */
  const stateless = new Set<Exchange>()
  /** True after the relay dropped a tainted session, which may continue under another name. */
  let isTaintLost = false
  /** Dropped sessions, whose answers under way may still be read. */
  const dropped = new WeakSet<Exchange>()
  const isAnyTainted = (others: Iterable<Exchange> = []): boolean =>
    isTaintLost || [...known.values(), ...others].some((exchange) => exchange.isTainted)
  const keep = (id: string, exchange: Exchange): Exchange => {
    known.delete(id)
    known.set(id, exchange)
    const [oldest] = known.keys()
    if (known.size > MAX_SESSIONS && oldest !== undefined) void lose(oldest)
    return exchange
  }
  const forget = async (id: string): Promise<void> => {
    const exchange = known.get(id)
    known.delete(id)
    await exchange?.close()
  }
  const noteTaint = (exchange: Exchange): void => {
    isTaintLost ||= exchange.isTainted
  }
  const lose = (id: string): Promise<void> => {
    const exchange = known.get(id)
    if (exchange !== undefined) {
      noteTaint(exchange)
      dropped.add(exchange)
    }
    return forget(id)
  }
  return {
    of(id: string | undefined): Exchange {
      if (id === undefined) {
        // An exchange of its own keeps its ids apart.
        const own = makeExchange(isAnyTainted() ? 'unknown' : 'stateless')
        stateless.add(own)
        return own
      }
      return keep(id, known.get(id) ?? makeExchange('unknown'))
    },
    /** Passes a message of the server to the exchange, which may have lost its session meanwhile. */
    hear(exchange: Exchange, source: string): string | undefined {
      const text = exchange.fromServer(source)
      if (dropped.has(exchange)) noteTaint(exchange)
      return text
    },
    /** Ends the exchange of a request without session, whose response is over. */
    release(exchange: Exchange): void {
      if (stateless.delete(exchange)) void exchange.close()
    },
    /** Without sessions the caller is unknown: giving up another one's call of this id as well only refuses it. */
    giveUp(id: Id): void {
      for (const exchange of stateless) exchange.giveUp(id)
    },
    /**
     * The server has named a session to a client without one.
     * The client may be one that has read something in another session that has not ended, which servers can provoke at
     * will. So a session begins untainted only when no other is tainted.
     *
     * @param isNew true when the client asked for a new session
     */
    begin(id: string, isNew: boolean): void {
      if (!known.has(id)) keep(id, makeExchange(isNew && !isAnyTainted(stateless) ? 'new' : 'unknown'))
    },
    /** Drops a session that the server no longer knows. */
    lose,
    /** Ends a session that the client has ended. */
    forget,
    async close(): Promise<void> {
      await Promise.all(Array.from([...known.values(), ...stateless], (exchange) => exchange.close()))
    },
  }
}
