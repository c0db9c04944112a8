import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { failures } from '../actions/failures.ts'

const RETRY_MS = 1000
/** How often a failure is told that goes on. */
const REMINDER_MS = 60_000

export type Tasks = ReturnType<typeof repeatingTasks>

/**
 * Background work of the process: never two runs of one task at once, and none after stop.
 *
 * @param onError is told of a failure of a task; of one that goes on, once a minute
 */
export function repeatingTasks(onError: (error: unknown, task: string) => void) {
  const stopped = new AbortController()
  // Each task listens while it waits: that many are no leak.
  setMaxListeners(0, stopped.signal)
  const running = new Set<Promise<void>>()
  const told = failures(onError, REMINDER_MS)

  const track = (work: Promise<void>): void => {
    running.add(work)
    void work.finally(() => running.delete(work))
  }
  /** False when stopped meanwhile. */
  const pause = async (ms: number): Promise<boolean> => {
    try {
      await sleep(ms, undefined, { signal: stopped.signal })
      return true
    } catch (error) {
      if (stopped.signal.aborted) return false
      throw error
    }
  }
  /** True when the work succeeded. */
  const attempt = async (name: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      told.succeeded(name)
      return true
    } catch (error) {
      told.failed(name, error)
      return false
    }
  }

  return {
    /** Runs the work again and again, `ms` after its end. A failure is told and does not end it. */
    every(name: string, ms: number, work: () => Promise<unknown>): void {
      const loop = async (): Promise<void> => {
        while (await pause(ms)) await attempt(name, work)
      }
      track(loop())
    },
    /** Runs the work each second until it succeeds; once more when stopped, since nobody tries after that. */
    untilDone(name: string, work: () => Promise<void>): void {
      const loop = async (): Promise<void> => {
        for (let goOn = true; goOn; ) {
          goOn = await pause(RETRY_MS)
          if (await attempt(name, work)) return
        }
      }
      track(loop())
    },
    async stop(): Promise<void> {
      stopped.abort()
      await Promise.all(running)
    },
  }
}
