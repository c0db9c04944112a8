import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './config.ts'
import type { Logger } from './log.ts'

const RETRY_MS = 1000

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
 * @param onError receives each failure of a task
 * @param stopping its reason, thrown by work that it aborts, is not a failure
 */
export function repeatingTasks(onError: (error: unknown, task: string) => void, stopping: AbortSignal) {
  const stopped = new AbortController()
  // Each waiting task listens, so many listeners are not a leak.
  setMaxListeners(0, stopped.signal)
  const running = new Set<Promise<void>>()
  const failed = new Map<string, number>()

  const note = (error: unknown, task: string): void => {
    if (stopping.aborted && error === stopping.reason) return
    failed.set(task, (failed.get(task) ?? 0) + 1)
    onError(error, task)
  }
  /** True when the work succeeded. Never rejects. */
  const watch = async (task: string, work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      note(error, task)
      return false
    }
  }
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
    every(task: string, ms: number, work: () => Promise<unknown>): void {
      failed.set(task, 0)
      const loop = async (): Promise<void> => {
        while (await pause(ms)) await watch(task, work)
      }
      track(loop())
    },
    /** Retries the work each second until it succeeds; once more at stop, since nobody tries later. */
    untilDone(task: string, work: () => Promise<void>): void {
      const loop = async (): Promise<void> => {
        for (let goOn = true; goOn; ) {
          goOn = await pause(RETRY_MS)
          if (await watch(task, work)) return
        }
      }
      track(loop())
    },
    /** Reports a failure of background work that runs elsewhere. */
    note,
    /** Failures since the start, by task. */
    failed: (): ReadonlyMap<string, number> => failed,
    async stop(): Promise<void> {
      stopped.abort()
      await Promise.all(running)
    },
  }
}
