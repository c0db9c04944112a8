import { setTimeout as sleep } from 'node:timers/promises'
import type { SealKey } from '../../audit/seal.ts'
import { GateError } from '../../base/errors.ts'
import type { Clock } from '../../base/time.ts'
import { UnusableFile, unavailable } from '../errors.ts'
import type { About } from '../fleet.ts'
import { held } from '../held.ts'
import { knownHeads } from '../known-heads.ts'
import { loaded, type Memory } from '../memory.ts'
import type { TrailTakenQuery } from '../queries.ts'
import { readsOf } from '../reads.ts'
import { runLater } from '../steps.ts'
import type { SealKeys, Store } from '../store.ts'
import { stateBefore } from '../verify/fold.ts'
import { unsealedIn } from '../verify/seals.ts'
import { assertFollows, type FollowOptions } from '../verify/startup.ts'
import { verifyChain } from '../verify/verify-chain.ts'
import { chainPlaces, type Numbers } from './chains.ts'
import { floorsOf, reserveCounters, takenInTrail } from './counters.ts'
import { type Address, database as connected, type Database, type Runner } from './database.ts'
import { assertInUse } from './fence.ts'
import { type LaneLease, laneLease } from './lease.ts'
import { listener } from './listener.ts'
import { assertMigrated, migrate } from './migrate.ts'
import { serverQueues } from './queues.ts'
import { refreshedIn } from './refreshed.ts'
import { tablesOn } from './tables.ts'

export interface ServerOptions extends FollowOptions {
  address: Address
  clock: Clock
  /** Time without an answer of the server after which commits are refused; undefined for one that is not polled. */
  maxStalenessMs?: number | undefined
  /** True for a sidecar, which decides in lanes of its own. Commands append to the chains that others share. */
  lanes?: boolean
  /** Description of a sidecar for the others. */
  about?: About | undefined
  /** Called when the clock of the server is found to be so far ahead of the given one. */
  onClock?: ((byMs: number) => void) | undefined
}

/** Brings the schema of a database up to date. @throws UnusableFile when it cannot be reached, or is newer */
export async function migrateServer(address: Address): Promise<{ from: number; to: number }> {
  const database = connected(address)
  const client = await database.connect().catch((error: unknown) => unreachable(address, error))
  try {
    return await migrate(client)
  } catch (error) {
    return unreachable(address, error)
  } finally {
    await client.end()
    await database.close()
  }
}

/** @throws UnusableFile in place of an error of the server, or of the way to it */
export function unreachable({ url }: Address, error: unknown): never {
  // Errors of ours have names of their own.
  if (!(error instanceof Error) || !['Error', 'error', 'AggregateError'].includes(error.name)) throw error
  throw new UnusableFile(`The store ${url} cannot be used: ${error.message}.`, { cause: error })
}

/**
 * Store on a PostgreSQL server, which several sidecars use at once.
 *
 * @throws UnusableFile when the schema is not that of this version, or the state does not follow from its chains
 */
export async function openServerStore(options: ServerOptions): Promise<Store> {
  const { address, clock, sealKeys, maxStalenessMs, lanes = false, onClock = () => undefined } = options
  const { about = { name: '', version: '', startedMs: clock() } } = options
  const database = connected(address)
  const numbers: Numbers = new Map()
  try {
    const { origin, memory: initial } = await checked(database, numbers, options)
    const lease = lanes ? laneLease(database, { clock, about, onClock }) : undefined
    await lease?.renew()
    return storeOn(database, { origin, numbers, clock, sealKeys, initial, maxStalenessMs, lease })
  } catch (error) {
    await database.close()
    return unreachable(address, error)
  }
}

/** Checks the database, then loads the instance's name and records. */
async function checked(database: Database, numbers: Numbers, options: ServerOptions) {
  return database.snapshot(async (run) => {
    await assertMigrated(run)
    await assertInUse(run)
    const tables = tablesOn(run, numbers)
    const origin = await tables.instance.origin()
    if (origin === undefined) throw new Error('the instance has no origin')
    await runLater(assertFollows(tables, origin, options))
    return { origin, memory: await runLater(loaded(tables)) }
  })
}

interface Opened {
  origin: string
  numbers: Numbers
  clock: Clock
  sealKeys: SealKeys | undefined
  initial: Memory
  maxStalenessMs: number | undefined
  lease: LaneLease | undefined
}

function storeOn(database: Database, opened: Opened): Store {
  const { origin, numbers, clock, sealKeys, initial, maxStalenessMs, lease } = opened
  const tables = tablesOn(database.any, numbers)
  const heads = knownHeads()
  const { members, memory, take, sealKey, sealKeyInUse, refusal } = held(initial, sealKeys)
  const {
    isStale,
    refresh,
    close: stopListening,
  } = heard(database, maxStalenessMs, async () => {
    await lease?.renew()
    if ((await tables.instance.stateVersion()) === memory().version && memory().altered.size === 0) return
    take(await snapshot(database, (run) => refreshedIn(run, numbers, memory(), { origin, sealKeys })))
  })
  const queues = serverQueues(
    database,
    {
      ...{ clock, memory, refresh },
      imposed: members.imposed,
      seal: sealKeyInUse,
      written: (stateVersion) => (stateVersion > memory().version ? refresh() : undefined),
    },
    { origin, numbers, heads, lease },
  )
  return {
    ...members,
    origin,
    countsIn: 'trail',
    fleet: lease?.fleet,
    reserve: (counters, reservation) => reserveCounters(database.any, counters, reservation),
    commit(submission, isAbandoned) {
      const refused = refusal(submission) ?? (isStale() ? unavailable('be reached', 'it has not answered') : undefined)
      return refused === undefined ? queues.submit(submission, isAbandoned) : Promise.reject(refused)
    },
    largeWrite: queues.largeWrite,
    ...{ isStale, refresh, tends: lease?.tends ?? (() => true) },
    writtenHashes: heads.hashesFrom,
    compareChains: () => runLater(heads.compare(tables)),
    alteredChains: heads.altered,
    ...sealReads(database, origin, numbers, sealKey),
    ...readsOf(() => tables, clock),
    stateBefore: (chain, size) => runLater(stateBefore(tables, origin, chain, size)),
    snapshot: snapshotsOf(database, numbers),
    scrub: async () => true,
    async verifyChain(request, onProgress = () => undefined, signal) {
      const verification = verifyChain(tables, origin, { ...request, sealKey: sealKey(), nowMs: clock() }, onProgress)
      try {
        return await runLater(verification, signal)
      } catch (error) {
        throw signal?.aborted ? signal.reason : unavailable('be verified', error)
      }
    },
    async close() {
      while (!queues.idle()) await sleep(1)
      await stopListening()
      await queues.close()
      await database.close()
    },
  }
}

/** Runs work that reads the history of chains, or of trails, on one state of the database. */
function snapshotsOf(database: Database, numbers: Numbers): Store['snapshot'] {
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

/** Refreshes of the records: at each call, and when another sidecar tells of a change. */
function heard(database: Database, maxStalenessMs: number | undefined, takeIn: () => Promise<void>) {
  let heardMs = performance.now()
  const refresh = inTurn(async () => {
    const askedMs = performance.now()
    await takeIn()
    heardMs = askedMs
    // A command ends before it could be told of anything.
    if (maxStalenessMs !== undefined) changes.listen()
  })
  const changes = listener(database, () => void refresh().catch(() => undefined))
  return {
    refresh,
    isStale: () => maxStalenessMs !== undefined && performance.now() - heardMs > maxStalenessMs,
    close: changes.close,
  }
}

/** Runs `work` once at a time: a call during a run waits for another run, which begins after it. */
function inTurn(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    next = undefined
    running = work().finally(() => (running = undefined))
    return running
  }
  return () => {
    if (running === undefined) return start()
    next ??= running.catch(() => undefined).then(start)
    return next
  }
}

async function snapshot<T>(database: Database, work: (run: Runner) => Promise<T>): Promise<T> {
  try {
    return await database.snapshot(work)
  } catch (error) {
    throw error instanceof GateError ? error : unavailable('be read', error)
  }
}

/** Members of the store about seals, each of one state of the database: each commit writes a new head and its seal. */
function sealReads(
  database: Database,
  origin: string,
  numbers: Numbers,
  sealKey: () => SealKey | undefined,
): Pick<Store, 'unsealed' | 'sealedHead'> {
  return {
    unsealed: () =>
      snapshot(database, async (run) => {
        const tables = tablesOn(run, numbers)
        const chains = [...new Set([...(await tables.entries.chains()), ...(await tables.seals.chains())])]
        return (await runLater(unsealedIn(tables, origin, sealKey(), chains))).map(({ message }) => message)
      }),
    sealedHead: (chain) =>
      snapshot(database, async (run) => {
        const tables = tablesOn(run, numbers)
        const [fault] = await runLater(unsealedIn(tables, origin, sealKey(), [chain]))
        if (fault !== undefined) throw new GateError('audit_unavailable', fault.message)
        return tables.entries.head(chain)
      }),
  }
}
