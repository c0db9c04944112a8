import { limitConcurrency } from '../base/concurrency.ts'
import type { DraftQuestion, Verdict } from '../gate/verdict.ts'
import type { CompiledPolicies, Outcome, PolicySource } from '../policy/load.ts'
import type { PolicyValidation } from '../policy/validation.ts'
import { answeringThreads } from '../workers/thread.ts'

/**
 * Of time, and of processor time: who gets little of the machine is given longer, up to a limit. Twice what the largest
 * set takes, 10,000 rules, so that it comes into force on a slow machine too.
 */
const TIME_LIMIT_MS = 20_000
const TIME_LIMIT_IF_STARVED_MS = 60_000
const POLL_MS = 100
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 64 }
/** Sets come into force together; between that there is no thread. */
const IDLE_MS = 2000

const MODULE = new URL('./policy-worker-thread', import.meta.url)

/**
 * What has to be parsed to be known. A text can take all time or memory, and the good ones take seconds when they are
 * large, so this is done where it neither takes the service with it nor holds it up.
 */
export interface PolicyWorker {
  /** The paths of the lists that the policies name. */
  listFiles(files: PolicySource['files']): Promise<Outcome<readonly string[]>>
  /** Without the tests of the folder, which are only checked. */
  compile(source: PolicySource): Promise<Outcome<CompiledPolicies>>
  /** Runs the tests too; one that fails is an error. */
  compileAndTest(source: PolicySource): Promise<Outcome<CompiledPolicies>>
  /** What the set would be, and every fault; nothing of it is kept. */
  validate(source: PolicySource): Promise<Outcome<PolicyValidation>>
  /** What policies would decide that are not in force. */
  judge(question: DraftQuestion): Promise<Outcome<Verdict>>
}

/** What the thread is asked: the name of a method of PolicyWorker, and its argument. */
export type Job =
  | ['listFiles', PolicySource['files']]
  | ['compile' | 'compileAndTest' | 'validate', PolicySource]
  | ['judge', DraftQuestion]

/** Each in a thread that does nothing else meanwhile, and is ended when that fails. */
export function threadedPolicyWorker(): PolicyWorker {
  const ask = answeringThreads(MODULE, { idleMs: IDLE_MS, resourceLimits: RESOURCE_LIMITS })
  const run = <T>(job: Job): Promise<Outcome<T>> => inTime((signal) => ask<T>(job, signal), job)
  return {
    listFiles: (files) => run<readonly string[]>(['listFiles', files]),
    compile: (source) => run<CompiledPolicies>(['compile', source]),
    compileAndTest: (source) => run<CompiledPolicies>(['compileAndTest', source]),
    validate: (source) => run<PolicyValidation>(['validate', source]),
    judge: (question) => run<Verdict>(['judge', question]),
  }
}

/** Threads that load policies at once: each takes all of a processor, and as much memory as its limit. */
const THREADS = 2

/** What policies take to come into force, so many at once; the rest waits for its turn. What callers ask for has turns of its own. */
export function limitLoads(policyWorker: PolicyWorker): Pick<PolicyWorker, 'listFiles' | 'compile' | 'compileAndTest'> {
  const limit = limitConcurrency(THREADS)
  return {
    listFiles: (files) => limit(() => policyWorker.listFiles(files)),
    compile: (source) => limit(() => policyWorker.compile(source)),
    compileAndTest: (source) => limit(() => policyWorker.compileAndTest(source)),
  }
}

/** What a job does, as it is told of one that takes too long. */
const TOLD: Readonly<Record<Job[0], string>> = {
  listFiles: 'load',
  compile: 'load',
  compileAndTest: 'load and test',
  validate: 'load',
  judge: 'answer',
}

async function inTime<T>(work: (signal: AbortSignal) => Promise<T>, [what]: Job): Promise<Outcome<T>> {
  const late = new AbortController()
  const isOver = timeLimit()
  const timer = setInterval(() => {
    if (isOver()) late.abort()
  }, POLL_MS)
  try {
    return { value: await work(late.signal) }
  } catch (error) {
    if (!late.signal.aborted) return { fault: `cannot be loaded: ${error instanceof Error ? error.message : error}` }
    return {
      fault: `takes more than ${TIME_LIMIT_MS / 1000} s to ${TOLD[what]}`,
    }
  } finally {
    clearInterval(timer)
  }
}

/**
 * Tells when a job that begins now has had its time. A thread does not tell what it used of a processor; it is at most what
 * the process used, less what this thread did meanwhile.
 */
function timeLimit(): () => boolean {
  const started = performance.now()
  const cpu = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  return () => {
    const ms = performance.now() - started
    const { user, system } = process.cpuUsage(cpu)
    const usedMs = (user + system) / 1000 - performance.eventLoopUtilization(loop).active
    return ms > TIME_LIMIT_IF_STARVED_MS || (ms > TIME_LIMIT_MS && usedMs > TIME_LIMIT_MS)
  }
}
