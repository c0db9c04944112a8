import { GateError } from '../../base/errors.ts'
import type { Clock } from '../../base/time.ts'
import { unavailable } from '../errors.ts'
import type { Held, KeyedRequest } from '../held.ts'
import type { TrailTakenQuery } from '../queries.ts'
import { runLater } from '../steps.ts'
import type { Store } from '../store.ts'
import type { Tables } from '../tables.ts'
import { verifyChain } from '../verify/verify-chain.ts'
import { chainPlaces, type Numbers } from './chains.ts'
import { floorsOf, takenInTrail } from './counters.ts'
import type { Database, Runner } from './database.ts'
import { tablesOn } from './tables.ts'

/** Runs reads on one state of the database. @throws GateError `audit_unavailable` */
export async function snapshot<T>(database: Database, work: (run: Runner) => Promise<T>): Promise<T> {
  try {
    return await database.snapshot(work)
  } catch (error) {
    throw error instanceof GateError ? error : unavailable('be read', error)
  }
}

/** Runs work that reads the history of chains, or of trails, on one state of the database. */
export function snapshotsOf(database: Database, numbers: Numbers): Store['snapshot'] {
  return (work) =>
    snapshot(database, (run) => {
      const { entries, decisions } = tablesOn(run, numbers)
      const { length, firstNotBefore: seqNotBefore } = entries
      const { taken, requestAt } = decisions
      const places = chainPlaces(run, numbers)
      const inTrail = (query: TrailTakenQuery) => takenInTrail(run, places, query)
      const floors = (counters: readonly string[]) => floorsOf(run, counters)
      return runLater(work({ length, seqNotBefore, taken, requestAt, takenInTrail: inTrail, floors }))
    })
}

interface VerificationOptions {
  origin: string
  clock: Clock
  refresh(): Promise<void>
  verified: Held['verified']
}

/** Verification of chains, in this thread, part by part. */
export function verificationOn(
  tables: Tables,
  { origin, clock, refresh, verified }: VerificationOptions,
): Store['verifyChain'] {
  return async (request, onProgress = () => undefined, signal) => {
    const verify = (keyed: KeyedRequest) =>
      runLater(verifyChain(tables, origin, { ...keyed, nowMs: clock() }, onProgress), signal)
    try {
      return await verified(request, { origin, refresh, verify })
    } catch (error) {
      throw signal?.aborted ? signal.reason : unavailable('be verified', error)
    }
  }
}
