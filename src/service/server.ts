import { createServer, type RequestListener } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expireDue, noteCancelled } from '../actions/approvals/approvals.ts'
import type { Deps } from '../actions/deps.ts'
import { sealSecret } from '../actions/evidence/signing-keys.ts'
import type { Examine } from '../actions/evidence/verify.ts'
import { historyReader } from '../actions/gate/history.ts'
import { latency } from '../actions/overview/latency.ts'
import { recentReader } from '../actions/overview/recent.ts'
import type { Reloaded } from '../actions/policies/registry.ts'
import { type OpenDraft, replays } from '../actions/replay/jobs.ts'
import { Sessions } from '../actions/sessions/sessions.ts'
import { SignInCodes } from '../actions/sessions/sign-in-codes.ts'
import { takeTurns } from '../base/concurrency.ts'
import { idMaker, type NewId } from '../base/id.ts'
import { type Clock, movableClock } from '../base/time.ts'
import { type PolicyWorker, threadedPolicyWorker } from '../files/policy-worker.ts'
import { createApp } from '../http/app.ts'
import { connectionsWithin, limitConnections, openFilesLimit } from '../http/connections.ts'
import { drain } from '../http/drain.ts'
import { errorCounts } from '../http/error-counts.ts'
import { examineInThread } from '../http/evidence/examine.ts'
import type { Refusals } from '../http/refusals.ts'
import { openDraftInThread } from '../http/replay/thread.ts'
import type { Services } from '../http/services.ts'
import type { KillSwitch } from '../killswitch/killswitch.ts'
import { randomPool } from '../store/random-pool.ts'
import { type MakeVerifier, verifyInThread } from '../store/sqlite/verifiers.ts'
import { type MakeWriter, writeWhereBetter } from '../store/sqlite/writers.ts'
import type { Store } from '../store/store.ts'
import { watchClock } from './clock.ts'
import type { Config } from './config.ts'
import { closeFiles } from './exposure.ts'
import { keepFleet } from './fleet.ts'
import { keepKeyUses } from './key-uses.ts'
import { listen, warnOfNetwork } from './listen.ts'
import type { Logger } from './log.ts'
import { metricsText } from './metrics.ts'
import { watchOutcomes } from './outcomes.ts'
import { assertPolicies, keepPolicies } from './policies.ts'
import { reasonsOf } from './readiness.ts'
import { repeatingTasks, type Tasks } from './repeat.ts'
import { AT_ONCE, type Ending, endService, stoppingError } from './stopping.ts'
import { keepStops } from './stops.ts'
import { openConfigured, sealKeysOf } from './store.ts'
import { keepSweeping } from './sweep.ts'
import { keepTrail } from './trail.ts'
import { watchVerifications } from './verification.ts'
import { conversionLog, watchWrites } from './writing.ts'

/** Interval of taking in what other processes wrote, for what does not look itself: requests and commits do. */
const REFRESH_MS = 200
const TASK_MS = 1000
const REFUSALS_MS = 60_000

export interface RunningServer {
  /** Address of the service: `http://127.0.0.1:4283`, or `unix:/path`. */
  url: string
  store: Store
  signInCodes: SignInCodes
  /** Reads all policies anew, now. */
  reload(): Promise<Reloaded>
  /**
   * Ends the service.
   *
   * @param how at once by default
   * @returns stops in force that are kept nowhere, and end with the process
   */
  close(how?: Ending): Promise<KillSwitch[]>
}

export interface ServerOptions {
  config: Config
  log: Logger
  clock?: Clock
  /** False sends the hot route through Express too; for tests and measurements. */
  direct?: boolean
  /** Work that runs in threads; what is given here may have started its thread, or works in this one. */
  threads?: {
    policyWorker?: PolicyWorker
    writer?: MakeWriter
    verifier?: MakeVerifier
    examine?: Examine
    openDraft?: OpenDraft
  }
}

/**
 * Starts the whole service: opens the store, loads the policies, listens.
 *
 * @throws UnusableFile, UnusableKey, Exposed when the files forbid a start
 */
export async function startServer({
  config,
  log,
  clock: given,
  direct = true,
  threads: {
    policyWorker = threadedPolicyWorker(),
    writer: makeWriter = writeWhereBetter,
    verifier: makeVerifier = verifyInThread,
    examine,
    openDraft = openDraftInThread,
  } = {},
}: ServerOptions): Promise<RunningServer> {
  assertPolicies(config)
  closeFiles(config, log)
  const { newId, clock, onClock } = timeOf(given)
  const sealKeys = sealKeysOf(config)
  const stopping = new AbortController()
  const tasks = loggedTasks(log, stopping.signal)
  const file = fileOf({ clock, onClock, sealKeys, makeWriter, makeVerifier }, log)
  const { store, writing, verification } = watchedStore(await openConfigured(config, file), clock, log, stopping.signal)
  const background = { config, log, tasks }
  const deps = { store, clock, newId }
  try {
    tasks.every('refresh', REFRESH_MS, async () => store.refresh())
    await verification.recall()
    const trail = await keepTrail(deps, background)
    keepSweeping(deps, trail, verification, background)
    const rules = await keepPolicies(deps, trail, { ...background, policyWorker })
    const keyUses = keepKeyUses(deps, trail, background)
    const clockJumps = watchClock(clock, background, () => expireDue(deps, { all: true }))
    const outcomes = watchOutcomes(deps, trail, background)
    const fleet = keepFleet(store, rules.policies, background)
    const watched = { writing, verification, tasks, errors: errorCounts(), latency: latency(), ...fleet }
    const kept = { ...trail, ...watched, ...rules, store, keyUses, clockJumps, outcomes, stopping: stopping.signal }
    const stops = keepStops(deps, background, () => sealSecret(store, sealKeys))
    const browsers = { sessions: new Sessions(deps), signInCodes: new SignInCodes(deps) }
    const reading = { ...deps, history: historyReader(store), pause: pauses(store) }
    const services: Services = {
      ...reading,
      ...browsers,
      replays: replays({ ...reading, findSet: rules.findSet, openDraft, stopping: stopping.signal }),
      recent: recentReader(store),
      examine: examine ?? examineInThread(stopping.signal),
      ...kept,
      unready: () => reasonsOf(kept),
      metrics: () => metricsText(kept),
      log,
      allowedHosts: config.allowedHosts,
      keepUnwritten: stops.keep,
    }
    const { listener, loadOthers, refusals } = createApp(services, { direct })
    tend(tasks, deps, browsers.sessions, refusals)
    tasks.every('try a write', TASK_MS, async () => void (trail.isWriting() && (await writing.tend())))
    const { url, ...open } = await opened(listener, store, config, log)
    writing.started()
    // A stop may come at any time, also when files can no longer be opened. A failure ends the process.
    void loadOthers()
    stopping.signal.addEventListener('abort', () => policyWorker.close(stoppingError()))
    const running = { ...kept, ...browsers, ...open, stopping, refusals, trail, stops, log }
    const close = (how = AT_ONCE): Promise<KillSwitch[]> => endService(running, how)
    return { url, store, signInCodes: browsers.signInCodes, reload: rules.policies.reloadAll, close }
  } catch (error) {
    await tasks.stop()
    await store.close()
    throw error
  }
}

function loggedTasks(log: Logger, stopping: AbortSignal): Tasks {
  return repeatingTasks((error, task) => log.error({ task, cause: String(error) }, 'background task failed'), stopping)
}

/** How the store of a service is opened. */
function fileOf<T extends object>(given: T, log: Logger) {
  return { create: true, lanes: true, ...given, onConvert: conversionLog(log) }
}

/** The clock of the machine, which in a fleet follows that of the server, and its ids. A given one is left as it is. */
function timeOf(given: Clock | undefined): {
  clock: Clock
  onClock: ((byMs: number) => void) | undefined
  newId: NewId
} {
  const { clock, move } = given === undefined ? movableClock(Date.now) : { clock: given, move: undefined }
  return { clock, onClock: move, newId: idMaker(clock, randomPool()) }
}

/** The store of the service: what becomes of its commits and verifications is watched, for every caller. */
function watchedStore(opened: Store, clock: Clock, log: Logger, stopping: AbortSignal) {
  const { tenant } = opened
  if (tenant !== undefined) log.info({ tenant }, 'the login of the store serves one tenant')
  const writing = watchWrites(opened, clock)
  const verification = watchVerifications(opened, log, stopping)
  const store: Store = { ...opened, commit: writing.commit, verifyChain: verification.verifyChain }
  return { store, writing, verification }
}

/** Limit of the wait for a large write, which may hang. */
const LARGE_WRITE_MS = 50

/**
 * One part of something long at a time, with everything that is due before the next. Not beside a large write, from
 * which it would take the processor while every other write waits.
 */
function pauses({ largeWrite }: Store): (tenantId: string) => Promise<void> {
  const turns = takeTurns(1)
  return (tenantId) =>
    turns.run(tenantId, async () => {
      const write = largeWrite()
      if (write !== undefined) await Promise.race([write, sleep(LARGE_WRITE_MS, undefined, { ref: false })])
      await nextTurn()
      // Requests read in this turn are written at its end.
      await nextTurn()
    })
}

/** Node's header limit of 16 kB may be too small: browsers send the cookies of every port of this machine. */
const HTTP_LIMITS = {
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  // Longer than a slow disk halts the process: a connection closed at the end of a halt takes a request with it.
  keepAliveTimeout: 75_000,
  // The first two are looked at in this interval.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 32 * 1024,
}

/** Listens at the configured address. @throws the system's error, or the store's */
async function opened(listener: RequestListener, store: Store, config: Config, log: Logger) {
  // From here on, a store that is not heard of is stale.
  await store.refresh()
  const exit = drain(listener)
  const server = createServer(HTTP_LIMITS, exit.listener)
  exit.watch(server)
  warnOfNetwork(config, log)
  limitConnections(server, config.maxConnections ?? connectionsWithin(openFilesLimit()))
  return { server, drain: exit, url: await listen(server, config) }
}

function tend(tasks: Tasks, deps: Deps, sessions: Sessions, refusals: Refusals): void {
  // The clock may have been set back while no service ran.
  tasks.untilDone('expire approvals that begin later', async () => void (await expireDue(deps, { all: true })))
  tasks.every('expire approvals', TASK_MS, () => expireDue(deps))
  tasks.every('note cancelled approvals', TASK_MS, () => noteCancelled(deps))
  tasks.every('end sessions', TASK_MS, () => sessions.tend())
  tasks.every('record refusals', REFUSALS_MS, () => refusals.flush())
}
