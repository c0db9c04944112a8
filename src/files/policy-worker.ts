import { setMaxListeners } from 'node:events'
import type { Bounded, PolicySource } from '../authoring/load/files.ts'
import type { CompiledPolicies } from '../authoring/load/load.ts'
import type { PolicyValidation } from '../authoring/load/validation.ts'
import { limitConcurrency } from '../base/concurrency.ts'
import type { DraftQuestion, Verdict } from '../gate/verdict.ts'
import type { PolicyData } from '../policies/set.ts'
import { type Cut, joined } from '../workers/parts.ts'
import { answeringThreads } from '../workers/thread.ts'

/**
 * Limits of elapsed and of processor time: a starved process gets longer, up to the second limit.
 * The first is twice what the largest set, 10,000 rules, takes, so that it loads on a slow machine too.
 */
const TIME_LIMIT_MS = 20_000
const TIME_LIMIT_IF_STARVED_MS = 60_000
const POLL_INTERVAL_MS = 100
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 64 }
/** Sets come into force together; a thread that stays idle longer ends. */
const IDLE_MS = 2000

/** Module that the thread runs. */
export const MODULE = new URL('./policy-worker-thread', import.meta.url)

/**
 * Parses policies off the main thread. A hostile text can use unbounded time or memory, and a large good one takes
 * seconds; neither may stop or delay the service.
 */
export interface PolicyWorker {
  /** Paths of the lists that the policies name. */
  listFiles(files: PolicySource['files']): Promise<Bounded<readonly string[]>>
  /** Compiles without running the folder's tests, which are only checked. */
  compile(source: PolicySource): Promise<Bounded<CompiledPolicies>>
  /** The same for a caller who waits, with a limit of elapsed time alone, as for the two below. */
  compileDraft(source: PolicySource): Promise<Bounded<CompiledPolicies>>
  /** Compiles and runs the tests; a failing test is an error. */
  compileAndTest(source: PolicySource): Promise<Bounded<CompiledPolicies>>
  /** Reports the resulting set and every fault, and keeps nothing. */
  validate(source: PolicySource): Promise<Bounded<PolicyValidation>>
  /** Evaluates policies that are not in force. */
  judge(question: DraftQuestion): Promise<Bounded<Verdict>>
  /** Ends all jobs, present and future, with this error: what was not finished says nothing about the policies. */
  close(error: Error): void
}

/** Message to the thread: the name of a method of PolicyWorker, and its argument. */
export type Job =
  | ['listFiles', PolicySource['files']]
  | ['compile' | 'compileAndTest' | 'compileDraft' | 'validate', PolicySource]
  | ['judge', DraftQuestion]

/** Compiled policies as the thread sends them. */
export interface CutPolicies {
  data: Cut | undefined
  /** With its one member `diagnostics`. */
  diagnostics: Cut
}

/** Runs each job alone in a thread, which is terminated when the job fails. */
export function threadedPolicyWorker(): PolicyWorker {
  // A service that starts loads policies soon.
  const ask = answeringThreads(MODULE, { idleMs: IDLE_MS, resourceLimits: RESOURCE_LIMITS, startsNow: true })
  const closed = new AbortController()
  setMaxListeners(0, closed.signal)
  const run = <T>(job: Job): Promise<Bounded<T>> =>
    inTime((late) => ask<T>(job, AbortSignal.any([late, closed.signal])), job, closed.signal)
  const compile = async (job: Job): Promise<Bounded<CompiledPolicies>> => {
    const answer = await run<CutPolicies>(job)
    if ('fault' in answer) return answer
    const value = await whole(answer.value)
    closed.signal.throwIfAborted()
    return { value }
  }
  return {
    listFiles: (files) => run<readonly string[]>(['listFiles', files]),
    compile: (source) => compile(['compile', source]),
    compileAndTest: (source) => compile(['compileAndTest', source]),
    compileDraft: (source) => compile(['compileDraft', source]),
    validate: (source) => run<PolicyValidation>(['validate', source]),
    judge: (question) => run<Verdict>(['judge', question]),
    close: (error) => closed.abort(error),
  }
}

async function whole({ data, diagnostics }: CutPolicies): Promise<CompiledPolicies> {
  const told = (await joined(diagnostics)) as Pick<CompiledPolicies, 'diagnostics'>
  return { ...told, data: data && ((await joined(data)) as PolicyData), tests: [] }
}

/** Threads that load policies at once: each takes a whole processor, and memory up to its limit. */
const THREADS = 2

/**
 * Limits concurrent loading of policies that come into force. Sets in shadow, and jobs of callers, have queues of their
 * own.
 */
export function limitLoads(
  policyWorker: PolicyWorker,
  threads = THREADS,
): Pick<PolicyWorker, 'listFiles' | 'compile' | 'compileAndTest'> {
  const limit = limitConcurrency(threads)
  return {
    listFiles: (files) => limit(() => policyWorker.listFiles(files)),
    compile: (source) => limit(() => policyWorker.compile(source)),
    compileAndTest: (source) => limit(() => policyWorker.compileAndTest(source)),
  }
}

/** Verb of each job in the message that it takes too long. */
const TOLD: Readonly<Record<Job[0], string>> = {
  listFiles: 'load',
  compile: 'load',
  compileAndTest: 'load and test',
  compileDraft: 'load',
  validate: 'load',
  judge: 'answer',
}

/** Jobs of callers, whose place others wait for. */
const WAITED_FOR: ReadonlySet<Job[0]> = new Set<Job[0]>(['compileDraft', 'validate', 'judge'])

/** @throws the reason of `closed` */
async function inTime<T>(
  work: (late: AbortSignal) => Promise<T>,
  [what]: Job,
  closed: AbortSignal,
): Promise<Bounded<T>> {
  const late = new AbortController()
  const isOver = timeLimit(WAITED_FOR.has(what) ? TIME_LIMIT_MS : TIME_LIMIT_IF_STARVED_MS)
  const timer = setInterval(() => {
    if (isOver()) late.abort()
  }, POLL_INTERVAL_MS)
  try {
    return { value: await work(late.signal) }
  } catch (error) {
    closed.throwIfAborted()
    if (!late.signal.aborted) return { fault: `cannot be loaded: ${error instanceof Error ? error.message : error}` }
    return {
      fault: `takes more than ${TIME_LIMIT_MS / 1000} s to ${TOLD[what]}`,
    }
  } finally {
    clearInterval(timer)
  }
}

/**
 * Makes the check whether a job that starts now has used up its time. Node does not report a thread's processor time;
 * its upper bound is that of the process, less what this thread used.
 */
function timeLimit(ifStarvedMs: number): () => boolean {
  const started = performance.now()
  const cpu = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  return () => {
    const ms = performance.now() - started
    const { user, system } = process.cpuUsage(cpu)
    const usedMs = (user + system) / 1000 - performance.eventLoopUtilization(loop).active
    return ms > ifStarvedMs || (ms > TIME_LIMIT_MS && usedMs > TIME_LIMIT_MS)
  }
}
