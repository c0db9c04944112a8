import { once } from 'node:events'
import { setPriority } from 'node:os'
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads'

const FROM_SOURCE = import.meta.url.endsWith('.ts')

/**
 * Starts a thread that runs one of our modules.
 *
 * @param module URL without its extension, which differs between source and build
 */
export function startThread(module: URL, options: Omit<WorkerOptions, 'eval'>): Worker {
  if (!FROM_SOURCE) return new Worker(new URL(`${module.href}.js`), options)
  // A thread does not inherit tsx's loader, so from source it registers the loader first.
  const entry = JSON.stringify(`${module.href}.ts`)
  const boot = `import('tsx/esm/api').then(({ register }) => { register(); return import(${entry}) })`
  return new Worker(boot, { ...options, eval: true })
}

/**
 * Sends a job to a thread of its own and returns the answer. A thread that fails is terminated.
 *
 * @param signal aborts the job
 * @throws the cause of the thread's end, or the reason of the signal
 */
export type AskThread = <Answer>(job: unknown, signal?: AbortSignal) => Promise<Answer>

/** Time that a thread started before its first job waits for it: a large store takes long to open. */
const FIRST_JOB_MS = 60_000

/**
 * Pool with a thread for each concurrent job. An idle thread is reused, since a start takes half a second.
 *
 * @param module answers each message with one message
 * @param startsNow starts a thread before the first job, which then does not wait for it
 */
export function answeringThreads(
  module: URL,
  {
    idleMs,
    resourceLimits,
    startsNow = false,
  }: { idleMs: number; resourceLimits: ResourceLimits; startsNow?: boolean },
): AskThread {
  const idle = new Map<Worker, NodeJS.Timeout>()
  const forget = (thread: Worker): void => {
    clearTimeout(idle.get(thread))
    idle.delete(thread)
  }
  const started = (): Worker => {
    const thread = startThread(module, { resourceLimits })
    // A waiting job listens to these events as well.
    for (const end of ['error', 'exit']) thread.once(end, () => forget(thread))
    return thread
  }
  // An idle thread does not keep the process alive.
  const release = (thread: Worker, ms = idleMs): void => {
    thread.unref()
    const end = (): void => {
      forget(thread)
      void thread.terminate()
    }
    idle.set(thread, setTimeout(end, ms).unref())
  }
  if (startsNow) release(started(), FIRST_JOB_MS)
  return async <Answer>(job: unknown, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    const [thread = started()] = idle.keys()
    forget(thread)
    thread.ref()
    try {
      const answer = await answerOf<Answer>(thread, job, signal)
      release(thread)
      return answer
    } catch (error) {
      void thread.terminate()
      throw error
    }
  }
}

/** @throws the cause of the thread's end, or the reason of the signal */
async function answerOf<Answer>(thread: Worker, job: unknown, signal?: AbortSignal): Promise<Answer> {
  thread.postMessage(job)
  const settled = new AbortController()
  // once() rejects on 'error', so an error ends each of these waits.
  const event = (name: string) => once(thread, name, { signal: settled.signal })
  const failure = async (name: string): Promise<never> => {
    const [cause] = await event(name)
    throw new Error(`The thread failed (${name}: ${cause}).`)
  }
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal })
  })
  try {
    const [answer] = await Promise.race([event('message'), failure('exit'), failure('messageerror'), aborted])
    return answer
  } finally {
    settled.abort()
  }
}

/** Priority on the scale of `nice`. */
const LOW_PRIORITY = 10

/** Lowers the priority of a background thread below the threads that decide. */
export function letOthersGoFirst(): void {
  // On Linux this affects the current thread alone.
  if (process.platform === 'linux') setPriority(LOW_PRIORITY)
}
