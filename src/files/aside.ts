import type { CompiledPolicies, Outcome, PolicySource } from '../policy/load.ts'
import { startThread } from '../thread.ts'

const TIME_LIMIT_MS = 5000
const MEMORY_LIMIT_MIB = 256

const MODULE = new URL('./aside-worker', import.meta.url)

/**
 * What has to be parsed to be known. A text can take all time or memory, and the good ones take seconds when they are
 * large, so this is done where it neither takes the service with it nor holds it up.
 */
export interface Aside {
  /** The paths of the lists that the policies name. */
  listFiles(files: PolicySource['files']): Promise<Outcome<readonly string[]>>
  /** Without the tests of the folder, which are only checked. */
  compile(source: PolicySource): Promise<Outcome<CompiledPolicies>>
  /** Runs the tests too; one that fails is an error. */
  compileAndTest(source: PolicySource): Promise<Outcome<CompiledPolicies>>
}

/** What the thread is asked: the name of a method of Aside, and its argument. */
export type Job = ['listFiles', PolicySource['files']] | ['compile' | 'compileAndTest', PolicySource]

/** Each in a thread of its own, which is ended afterwards. */
export const inThread: Aside = {
  listFiles: (files) => run<readonly string[]>(['listFiles', files]),
  compile: (source) => run<CompiledPolicies>(['compile', source]),
  compileAndTest: (source) => run<CompiledPolicies>(['compileAndTest', source]),
}

function run<T>(job: Job): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_LIMIT_MIB }
    const worker = startThread(MODULE, { workerData: job, resourceLimits })
    const end = (outcome: Outcome<T>): void => {
      clearTimeout(timer)
      resolve(outcome)
      // The thread's exit says nothing that the outcome does not.
      void worker.terminate()
    }
    const failed = (fault: string): void => end({ fault })
    const timer = setTimeout(() => failed(`takes more than ${TIME_LIMIT_MS / 1000} s to load and test`), TIME_LIMIT_MS)
    worker.once('message', (value: T) => end({ value }))
    worker.once('error', (error) => failed(`cannot be loaded: ${error.message}`))
    worker.once('exit', (code) => failed(`cannot be loaded (the loader ended with ${code})`))
  })
}
