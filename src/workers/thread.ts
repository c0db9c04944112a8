import { once } from 'node:events'
import { setPriority } from 'node:os'
import { type ResourceLimits, Worker, type WorkerOptions } from 'node:worker_threads'

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

/**
 * Gives a thread what it is to do, and what it answers. The thread does nothing else meanwhile, and is ended when it fails.
 *
 * @param signal ends the work
 * @throws what ended the thread, or the reason of the signal
 */
export type AskThread = <Answer>(job: unknown, signal?: AbortSignal) => Promise<Answer>

/**
 * As many threads as there is work at once. One that has answered is there for the next work, since it takes half a second
 * to start, and is ended when none comes.
 *
 * @param module answers each message with one
 */
export function answeringThreads(module: URL, options: { idleMs: number; resourceLimits: ResourceLimits }): AskThread {
  const { idleMs, resourceLimits } = options
  const idle = new Map<Worker, NodeJS.Timeout>()
  const forget = (thread: Worker): void => {
    clearTimeout(idle.get(thread))
    idle.delete(thread)
  }
  const started = (): Worker => {
    const thread = startThread(module, { resourceLimits })
    // Who waits for an answer hears of it too.
    for (const end of ['error', 'exit']) thread.once(end, () => forget(thread))
    return thread
  }
  // An idle thread keeps no program from ending.
  const giveBack = (thread: Worker): void => {
    thread.unref()
    const end = (): void => {
      forget(thread)
      void thread.terminate()
    }
    idle.set(thread, setTimeout(end, idleMs).unref())
  }
  return async <Answer>(job: unknown, signal?: AbortSignal) => {
    const [thread = started()] = idle.keys()
    forget(thread)
    thread.ref()
    try {
      const answer = await answerOf<Answer>(thread, job, signal)
      giveBack(thread)
      return answer
    } catch (error) {
      void thread.terminate()
      throw error
    }
  }
}

/** @throws what ended the thread, or the reason of the signal */
async function answerOf<Answer>(thread: Worker, job: unknown, signal?: AbortSignal): Promise<Answer> {
  thread.postMessage(job)
  const settled = new AbortController()
  // An event of name 'error' ends the waiting for each.
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

/** As `nice` counts. */
const LOW_PRIORITY = 10

/** Called in a thread that nobody waits for: who asks for decisions goes first. */
export function letOthersGoFirst(): void {
  // Of this thread alone, on Linux.
  if (process.platform === 'linux') setPriority(LOW_PRIORITY)
}
