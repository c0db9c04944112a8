import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { GateError } from '../base/errors.ts'
import { type Drain, stopListening } from '../http/drain.ts'
import type { Refusals } from '../http/refusals.ts'
import type { Services } from '../http/services.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import type { KeyUseTask } from './key-uses.ts'
import type { Logger } from './log.ts'
import type { Tasks } from './repeat.ts'
import type { UnwrittenStops } from './stops.ts'
import type { Trail } from './trail.ts'

/** Time that requests under way have to end. */
const DRAIN_MS = 5000

/** How a service ends. */
export interface Ending {
  /** Time for which it serves on while readiness fails, so that balancers send requests elsewhere. */
  unreadyMs: number
  /** Time after its last request for which a connection stays open: its client may be sending the next one. */
  lingerMs: number
}

/** For callers that are the only clients, as in tests. */
export const AT_ONCE: Ending = { unreadyMs: 0, lingerMs: 0 }

/** The failure of work that a stop has ended. */
export function stoppingError(): GateError {
  return new GateError('overloaded', 'The service is stopping; ask again.')
}

export interface Running extends Pick<Services, 'policies' | 'sessions' | 'store'> {
  server: Server
  drain: Drain
  /** Aborts what nobody has to wait for: verifications, drafts, bundles that are examined, waits, streams. */
  stopping: AbortController
  tasks: Tasks
  keyUses: KeyUseTask
  refusals: Refusals
  trail: Trail
  stops: UnwrittenStops
  log: Logger
}

/**
 * Stops everything in an order that loses nothing: what is counted is written while the store is open.
 *
 * @returns stops in force that are kept nowhere, and end with the process
 */
export async function endService(running: Running, { unreadyMs, lingerMs }: Ending): Promise<KillSwitch[]> {
  const { server, drain, stopping, tasks, policies, keyUses, refusals, sessions, trail, stops, store, log } = running
  stopping.abort(stoppingError())
  drain.begin(lingerMs)
  if (unreadyMs > 0) {
    await sleep(unreadyMs)
    await drain.pause(() => stopListening(server))
  } else stopListening(server)
  await drain.end(server, DRAIN_MS)
  // Tasks try once more what has to be done, such as stops that are not on disk.
  await tasks.stop()
  await policies.idle()
  const last = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      log.error({ what, cause: String(error) }, 'could not be written when the service ended')
    }
  }
  await Promise.all([
    last('last uses of keys', keyUses.record),
    last('refusals', refusals.flush),
    last('ends of sessions', () => sessions.close()),
  ])
  // Signs the entries written by then. Anything still unwritten is lost from here on.
  await last('checkpoints and anchors', trail.close)
  await store.close()
  return stops.close()
}
