import type { Exchange } from './exchange.ts'
import type { Id } from './message.ts'

/**
 * What is known of whoever sends a request: `stateless`, it belongs to no session; `new`, its session has just begun; `unknown`, nobody
 * knows what was read before.
 */
export type Standing = 'stateless' | 'new' | 'unknown'

/** Sessions that are known at once; of more, those that were idle longest begin anew, as ones that nothing is known of. */
const MAX_SESSIONS = 1000

/** The exchanges of sessions, by the id that the server gave them. */
export function sessions(makeExchange: (standing: Standing) => Exchange) {
  const known = new Map<string, Exchange>()
  /** Of requests without a session that are under way. */
  const stateless = new Set<Exchange>()
  /** Something was read in a session that is not known any more, and may go on under another name. */
  let isTaintLost = false
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
  const lose = (id: string): Promise<void> => {
    isTaintLost ||= known.get(id)?.isTainted === true
    return forget(id)
  }
  return {
    of(id: string | undefined): Exchange {
      if (id === undefined) {
        // Its ids are nobody else's.
        const own = makeExchange(isAnyTainted() ? 'unknown' : 'stateless')
        stateless.add(own)
        return own
      }
      return keep(id, known.get(id) ?? makeExchange('unknown'))
    },
    /** The response of a request is over. */
    release(exchange: Exchange): void {
      if (stateless.delete(exchange)) void exchange.close()
    },
    /** Without sessions nobody knows whose call of this id is given up: to give up another one's too is no more than a refusal. */
    giveUp(id: Id): void {
      for (const exchange of stateless) exchange.giveUp(id)
    },
    /**
     * The server has named a session to who had none. Whoever begins one may be who has read what was read in another one that did not
     * end, which servers bring about at will: it begins untainted only where there is none.
     *
     * @param isNew whether one was asked for
     */
    begin(id: string, isNew: boolean): void {
      if (!known.has(id)) keep(id, makeExchange(isNew && !isAnyTainted(stateless) ? 'new' : 'unknown'))
    },
    /** The server does not know the session any more. */
    lose,
    /** The client has ended the session. */
    forget,
    async close(): Promise<void> {
      await Promise.all(Array.from([...known.values(), ...stateless], (exchange) => exchange.close()))
    },
  }
}
