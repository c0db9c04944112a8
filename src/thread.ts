import { setPriority } from 'node:os'
import { Worker, type WorkerOptions } from 'node:worker_threads'

const FROM_SOURCE = import.meta.url.endsWith('.ts')

/**
 * A thread that runs a module of ours.
 *
 * @param module its address without the ending, which is that of the source or of the build
 */
export function startThread(module: URL, options: Omit<WorkerOptions, 'eval'>): Worker {
  if (!FROM_SOURCE) return new Worker(new URL(`${module.href}.js`), options)
  // A thread does not inherit the loader that tsx gave this one, so from source it asks for it first.
  const entry = JSON.stringify(`${module.href}.ts`)
  const boot = `import('tsx/esm/api').then(({ register }) => { register(); return import(${entry}) })`
  return new Worker(boot, { ...options, eval: true })
}

/** As `nice` counts. */
const LOW_PRIORITY = 10

/** Called in a thread that nobody waits for: who asks for decisions goes first. */
export function letOthersGoFirst(): void {
  // Of this thread alone, on Linux.
  if (process.platform === 'linux') setPriority(LOW_PRIORITY)
}
