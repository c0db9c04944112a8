import { Worker } from 'node:worker_threads'
import type { Diagnostic } from '../policy/diagnostics.ts'
import type { PolicySource } from '../policy/load.ts'

const TIME_LIMIT_MS = 5000
const MEMORY_LIMIT_MIB = 256

const FROM_SOURCE = import.meta.url.endsWith('.ts')
const WORKER = new URL(FROM_SOURCE ? './compile-worker.ts' : './compile-worker.js', import.meta.url)
// A thread does not inherit the loader that tsx gave this one, so from source it asks for it first.
const BOOT = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(WORKER.href)}) })`

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
    const worker = new Worker(FROM_SOURCE ? BOOT : WORKER, {
      eval: FROM_SOURCE,
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
