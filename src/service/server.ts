import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { resolve } from 'node:path'
import { expireDue, noteCancelled } from '../actions/approvals/approvals.ts'
import type { Deps } from '../actions/deps.ts'
import { sealSecret } from '../actions/evidence/signing-keys.ts'
import type { Examine } from '../actions/evidence/verify.ts'
import { historyReader } from '../actions/gate/history.ts'
import { latency } from '../actions/overview/latency.ts'
import { recentReader } from '../actions/overview/recent.ts'
import type { Reloaded } from '../actions/policies/registry.ts'
import { Sessions } from '../actions/sessions/sessions.ts'
import { SignInCodes } from '../actions/sessions/sign-in-codes.ts'
import { idMaker } from '../base/id.ts'
import type { Clock } from '../base/time.ts'
import { type PolicyWorker, threadedPolicyWorker } from '../files/policy-worker.ts'
import { sealKeysAt } from '../files/signing-key.ts'
import { createApp } from '../http/app.ts'
import { connectionsWithin, limitConnections, openFilesLimit } from '../http/connections.ts'
import { examineInThread } from '../http/evidence/examine.ts'
import type { Refusals } from '../http/refusals.ts'
import type { Services } from '../http/services.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import { randomPool } from '../store/sqlite/random-pool.ts'
import { openStore } from '../store/sqlite/store.ts'
import { type MakeVerifier, verifyInThread } from '../store/sqlite/verifiers.ts'
import { type MakeWriter, writeWhereBetter } from '../store/sqlite/writers.ts'
import type { Store } from '../store/store.ts'
import { watchClock } from './clock.ts'
import { type Config, ConfigError, signingKeyPath } from './config.ts'
import { closeData } from './exposure.ts'
import { keepKeyUses } from './key-uses.ts'
import { listen, warnOfNetwork } from './listen.ts'
import type { Logger } from './log.ts'
import { metricsText } from './metrics.ts'
import { watchOutcomes } from './outcomes.ts'
import { keepPolicies } from './policies.ts'
import { repeatingTasks, type Tasks } from './repeat.ts'
import { keepStops, type UnwrittenStops } from './stops.ts'
import { keepTrail, type Trail } from './trail.ts'

/** Interval of taking in what other processes wrote, for what does not look itself: requests and commits do. */
const REFRESH_MS = 200
const TASK_MS = 1000
const REFUSALS_MS = 60_000
/** Time that requests under way have to end when the service stops. */
const DRAIN_MS = 5000
/** Interval of closing idle connections meanwhile. */
const IDLE_MS = 50

export interface RunningServer {
  /** Address of the service: `http://127.0.0.1:4283`, or `unix:/path`. */
  url: string
  store: Store
  signInCodes: SignInCodes
  /** Reads all policies anew, now. */
  reload(): Promise<Reloaded>
  /** @returns stops in force that are kept nowhere, and end with the process */
  close(): Promise<KillSwitch[]>
}

export interface ServerOptions {
  config: Config
  log: Logger
  clock?: Clock
  /** False sends the hot route through Express too; for tests and measurements. */
  direct?: boolean
  /** Work that runs in threads; what is given here may have started its thread, or works in this one. */
  threads?: { policyWorker?: PolicyWorker; writer?: MakeWriter; verifier?: MakeVerifier; examine?: Examine }
}

/**
 * Starts the whole service: opens the store, loads the policies, listens.
 *
 * @throws UnusableFile, UnusableKey, Exposed when the files forbid a start
 */
export async function startServer({
  config,
  log,
  clock = Date.now,
  direct = true,
  threads: {
    policyWorker = threadedPolicyWorker(),
    writer: makeWriter = writeWhereBetter,
    verifier: makeVerifier = verifyInThread,
    examine = examineInThread(),
  } = {},
}: ServerOptions): Promise<RunningServer> {
  const policiesFolder = existingFolder(config.policies)
  closeData(config, log)
  const newId = idMaker(clock, randomPool())
  const sealKeys = sealKeysAt(signingKeyPath(config))
  const store = openStore({ dir: resolve(config.data), create: true, clock, sealKeys, makeWriter, makeVerifier })
  const tasks = repeatingTasks((error, task) => log.error({ task, cause: String(error) }, 'background task failed'))
  const background = { config, log, tasks }
  const deps = { store, clock, newId }
  try {
    const trail = await keepTrail(deps, background)
    const rules = await keepPolicies(deps, trail, { ...background, folder: policiesFolder, policyWorker })
    const keyUses = keepKeyUses(deps, trail, background)
    const clockJumps = watchClock(clock, background, () => expireDue(deps, { all: true }))
    const kept = { ...trail, keyUses, clockJumps, latency: latency(), outcomes: watchOutcomes(deps, trail, background) }
    const stops = keepStops(deps, background, () => sealSecret(store, sealKeys))
    const stopping = new AbortController()
    const browsers = { sessions: new Sessions(deps), signInCodes: new SignInCodes(deps) }
    const services: Services = {
      ...deps,
      ...browsers,
      history: historyReader(store),
      recent: recentReader(store),
      ...rules,
      examine,
      ...kept,
      metrics: () => metricsText(kept),
      log,
      allowedHosts: config.allowedHosts,
      stopping: stopping.signal,
      keepUnwritten: stops.keep,
    }
    const { listener, loadOthers, refusals } = createApp(services, { direct })
    tend(tasks, deps, browsers.sessions, refusals)
    const server = createServer(HTTP_LIMITS, listener)
    warnOfNetwork(config, log)
    limitConnections(server, config.maxConnections ?? connectionsWithin(openFilesLimit()))
    const url = await listen(server, config)
    // A stop may come at any time, also when files can no longer be opened. A failure ends the process.
    void loadOthers()
    const close = closing({ server, stopping, tasks, ...rules, keyUses, refusals, ...browsers, trail, stops, store })
    return { url, store, signInCodes: browsers.signInCodes, reload: rules.policies.reloadAll, close }
  } catch (error) {
    await tasks.stop()
    await store.close()
    throw error
  }
}

/** Node's header limit of 16 kB may be too small: browsers send the cookies of every port of this machine. */
const HTTP_LIMITS = {
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  // Both times are looked at in this interval.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 32 * 1024,
}

interface Running extends Pick<Services, 'policies' | 'sessions' | 'store'> {
  server: Server
  stopping: AbortController
  tasks: Tasks
  keyUses: ReturnType<typeof keepKeyUses>
  refusals: Refusals
  trail: Trail
  stops: UnwrittenStops
}

/** Stops everything in an order that loses nothing: counters are written while the store is open. */
function closing({ server, stopping, tasks, policies, keyUses, refusals, sessions, trail, stops, store }: Running) {
  return async (): Promise<KillSwitch[]> => {
    stopping.abort()
    await closeListener(server)
    await tasks.stop()
    await policies.idle()
    await keyUses.close()
    try {
      await refusals.flush()
      await sessions.close()
      await trail.close()
    } finally {
      await store.close()
      stops.close()
    }
    return stops.lost()
  }
}

/** @throws ConfigError when the folder does not exist */
function existingFolder(policies: string): string {
  const folder = resolve(policies)
  if (existsSync(folder)) return folder
  throw new ConfigError(`There is no policies folder ${folder}; make it, or name another with --policies.`)
}

function tend(tasks: Tasks, deps: Deps, sessions: Sessions, refusals: Refusals): void {
  tasks.every('refresh', REFRESH_MS, async () => deps.store.refresh())
  // The clock may have been set back while no service ran.
  tasks.untilDone('expire approvals that begin later', async () => void (await expireDue(deps, { all: true })))
  tasks.every('expire approvals', TASK_MS, () => expireDue(deps))
  tasks.every('note cancelled approvals', TASK_MS, () => noteCancelled(deps))
  tasks.every('end sessions', TASK_MS, () => sessions.tend())
  tasks.every('record refusals', REFUSALS_MS, () => refusals.flush())
}

function closeListener(server: Server): Promise<void> {
  return new Promise((done) => {
    // A connection that a client keeps alive is idle only after its request has been answered.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_MS)
    const limit = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
    server.close(() => {
      clearInterval(idle)
      clearTimeout(limit)
      done()
    })
  })
}
