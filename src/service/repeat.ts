import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { failures } from '../actions/failures.ts'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'

const RETRY_MS = 1000
/** Interval between reports of a failure that goes on. */
const REMINDER_MS = 60_000

export type Tasks = ReturnType<typeof repeatingTasks>

/** Needed by whatever runs in the background. */
export interface Background {
  config: Config
  log: Logger
  tasks: Tasks
}

/**
 * Background tasks of the process: at most one run of each at a time, and none after stop.
 *
 * @param onError receives a task's failure; of one that goes on, once a minute
 */
export function repeatingTasks(onError: (error: unknown, task: string) => void) {
  const stopped = new AbortController()
  // Each waiting task listens, so many listeners are no leak.
  setMaxListeners(0, stopped.signal)
  const running = new Set<Promise<void>>()
  const { watch } = failures(onError, REMINDER_MS)

  const track = (work: Promise<void>): void => {
    running.add(work)
    void work.finally(() => running.delete(work))
  }
  /** False when stopped during the pause. */
  const pause = async (ms: number): Promise<boolean> => {
    try {
      await sleep(ms, undefined, { signal: stopped.signal })
      return true
    } catch (error) {
      if (stopped.signal.aborted) return false
      throw error
    }
  }

  return {
    /** Repeats the work, `ms` after its end. A failure is reported and does not end the task. */
    every(name: string, ms: number, work: () => Promise<unknown>): void {
      const loop = async (): Promise<void> => {
        while (await pause(ms)) await watch(name, work)
      }
      track(loop())
    },
    /** Retries the work each second until it succeeds; once more at stop, since nobody tries later. */
    untilDone(name: string, work: () => Promise<void>): void {
      const loop = async (): Promise<void> => {
        for (let goOn = true; goOn; ) {
          goOn = await pause(RETRY_MS)
          if (await watch(name, work)) return
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
