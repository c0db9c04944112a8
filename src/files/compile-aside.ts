import { Worker } from 'node:worker_threads'
import type { Diagnostic } from '../policy/diagnostics.ts'
import type { PolicySource } from '../policy/load.ts'

const TIME_LIMIT_MS = 5000
const MEMORY_LIMIT_MIB = 256

// From source the worker is the .ts file, built it is the .js file beside this one.
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './compile-worker.ts' : './compile-worker.js', import.meta.url)

/** What the trial found; `fault` when it did not end. */
export interface Trial {
  diagnostics: readonly Diagnostic[]
  fault: string | undefined
}

/**
 * Loads a candidate set in a thread of its own first, so that a text which takes all time or memory
 * cannot take the service with it.
 */
export function compileAside(source: PolicySource): Promise<Trial> {
  return new Promise((resolve) => {
    const worker = new Worker(WORKER, {
      workerData: source,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MIB },
    })
    const end = (trial: Trial): void => {
      clearTimeout(timer)
      resolve(trial)
      // The thread's exit says nothing that the trial does not.
      void worker.terminate()
    }
    const failed = (fault: string): void => end({ diagnostics: [], fault })
    const timer = setTimeout(() => failed(`takes more than ${TIME_LIMIT_MS / 1000} s to load`), TIME_LIMIT_MS)
    worker.once('message', (diagnostics: readonly Diagnostic[]) => end({ diagnostics, fault: undefined }))
    worker.once('error', (error) => failed(`cannot be loaded: ${error.message}`))
    worker.once('exit', (code) => failed(`cannot be loaded (the loader ended with ${code})`))
  })
}
