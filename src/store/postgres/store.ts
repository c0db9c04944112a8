import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../base/time.ts'
import { UnusableFile, unavailable } from '../errors.ts'
import type { About } from '../fleet.ts'
import { held } from '../held.ts'
import { knownHeads } from '../known-heads.ts'
import { loaded, type Memory } from '../memory.ts'
import { readsOf } from '../reads.ts'
import { runLater } from '../steps.ts'
import type { SealKeys, Store } from '../store.ts'
import { stateBefore } from '../verify/fold.ts'
import { sealedIn, sealReads } from '../verify/seals.ts'
import { assertFollows, type FollowOptions } from '../verify/startup.ts'
import type { Numbers } from './chains.ts'
import { reserveCounters } from './counters.ts'
import { type Address, database as connected, type Database, type Runner } from './database.ts'
import { assertInUse } from './fence.ts'
import { type LaneLease, laneLease } from './lease.ts'
import { listener } from './listener.ts'
import { assertMigrated, migrate } from './migrate.ts'
import { serverQueues } from './queues.ts'
import { refreshedIn } from './refreshed.ts'
import { isServed, servedTenant, unserved } from './served.ts'
import { snapshot, snapshotsOf, verificationOn } from './snapshots.ts'
import { tablesOn } from './tables.ts'

export interface ServerOptions extends FollowOptions {
  address: Address
  clock: Clock
  /** Time without an answer of the server after which commits are refused; undefined for one that is not polled. */
  maxStalenessMs?: number | undefined
  /** True for a sidecar, which decides in lanes of its own. Commands append to the chains that others share. */
  lanes?: boolean
  /** False for a sidecar that has the seal key without the log key: others sign what it appends. @default true */
  signs?: boolean
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
  // Words of the driver, and of the server.
  const isMissing = /client password must be|empty password returned/.test(error.message)
  const why = isMissing ? 'the server asks for a password; name its file with --store-password' : error.message
  throw new UnusableFile(`The store ${url} cannot be used: ${why}.`, { cause: error })
}

/**
 * Store on a PostgreSQL server, which several sidecars use at once.
 *
 * @throws UnusableFile when the schema is not that of this version, or the state does not follow from its chains
 */
export async function openServerStore(options: ServerOptions): Promise<Store> {
  const { address, clock, sealKeys, maxStalenessMs, lanes = false, signs = true, onClock = () => undefined } = options
  const { about = { name: '', version: '', startedMs: clock() } } = options
  const database = connected(address)
  const numbers: Numbers = new Map()
  try {
    const { origin, tenant, memory: initial } = await checked(database, numbers, options)
    if (lanes && signs && tenant !== undefined)
      throw new UnusableFile(
        `The login of the store serves the tenant ${tenant} alone, so this sidecar cannot sign. Give it sealKey in place of signingKey.`,
      )
    const lease = lanes ? laneLease(database, { clock, tenant, signs, about, onClock }) : undefined
    await lease?.renew()
    return storeOn(database, { origin, tenant, numbers, clock, sealKeys, initial, maxStalenessMs, lease })
  } catch (error) {
    await database.close()
    return unreachable(address, error)
  }
}

/** Checks the database and the login, then loads the instance's name and records. */
async function checked(database: Database, numbers: Numbers, options: ServerOptions) {
  return database.snapshot(async (run) => {
    await assertMigrated(run)
    await assertInUse(run)
    const tenant = await servedTenant(run)
    const tables = tablesOn(run, numbers)
    const origin = await tables.instance.origin()
    if (origin === undefined) throw new Error('the instance has no origin')
    await runLater(assertFollows(tables, origin, { ...options, tenant }))
    return { origin, tenant, memory: await runLater(loaded(tables)) }
  })
}

interface Opened {
  origin: string
  tenant: string | undefined
  numbers: Numbers
  clock: Clock
  sealKeys: SealKeys | undefined
  initial: Memory
  maxStalenessMs: number | undefined
  lease: LaneLease | undefined
}

function storeOn(database: Database, opened: Opened): Store {
  const { origin, tenant, numbers, clock, sealKeys, initial, maxStalenessMs, lease } = opened
  const tables = tablesOn(database.any, numbers)
  const heads = knownHeads()
  const { members, memory, take, sealKey, sealKeyInUse, verified, refusal } = held(initial, sealKeys)
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
  const reads = readsOf(() => tables, clock)
  const sealedOn = (run: Runner, chain?: string) => runLater(sealedIn(tablesOn(run, numbers), origin, sealKey(), chain))
  return {
    ...members,
    ...{ origin, tenant },
    countsIn: 'trail',
    fleet: lease?.fleet,
    reserve: (counters, reservation) => reserveCounters(database.any, counters, reservation),
    commit(submission, isAbandoned) {
      const refused =
        refusal(submission) ??
        unserved(tenant, submission) ??
        (isStale() ? unavailable('be reached', 'it has not answered') : undefined)
      return refused === undefined ? queues.submit(submission, isAbandoned) : Promise.reject(refused)
    },
    largeWrite: queues.largeWrite,
    ...{ isStale, refresh, tends: lease?.signs ?? (() => true) },
    writtenHashes: heads.hashesFrom,
    compareChains: () => runLater(heads.compare(tables)),
    alteredChains: heads.altered,
    ...sealReads((chain) => snapshot(database, (run) => sealedOn(run, chain)), refresh),
    ...reads,
    // Chains of other tenants, which `_system` names, are not gone.
    chainsEver: async () => (await reads.chainsEver()).filter((chain) => isServed(tenant, chain)),
    stateBefore: (chain, size) => runLater(stateBefore(tables, origin, chain, size)),
    snapshot: snapshotsOf(database, numbers),
    scrub: async () => true,
    verifyChain: verificationOn(tables, { origin, clock, refresh, verified }),
    async close() {
      while (!queues.idle()) await sleep(1)
      await stopListening()
      await queues.close()
      await database.close()
    },
  }
}

/** Refreshes of the records: at each call, and when another sidecar tells of a change. */
function heard(database: Database, maxStalenessMs: number | undefined, takeIn: () => Promise<void>) {
  // A start may take long: staleness counts from the first refresh.
  let heardMs = Number.POSITIVE_INFINITY
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
