import type { Worker } from 'node:worker_threads'
import type { OpenDraft, OpenedDraft } from '../../actions/replay/jobs.ts'
import type { PolicySource } from '../../authoring/load/files.ts'
import type { RecordedEntry } from '../../replay/recorded.ts'
import type { Replayer, StartReplay } from '../../replay/replay.ts'
import { startThread } from '../../workers/thread.ts'

const MODULE = new URL('./replay-worker', import.meta.url)
const MEMORY_LIMIT_MIB = 256
/** Time limit of one answer: of a draft that is compiled, or of a batch, which has a hundred decisions at most. */
const ANSWER_MS = 60_000

/** Messages to the thread, each of which it answers. */
export type ToReplayer =
  | ['open', PolicySource]
  | ['start', Parameters<StartReplay>[0]]
  | ['add', readonly RecordedEntry[]]
  | ['report']

/** Compiles a draft in a thread of its own, with limits of time and memory, and replays it there. */
export const openDraftInThread: OpenDraft = async (source, signal) => {
  const thread = startThread(MODULE, { resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MIB } })
  const close = (): void => void thread.terminate()
  const ask = asker(thread, signal)
  try {
    const opened: Omit<OpenedDraft, 'start' | 'close'> = await ask(['open', source])
    const start: StartReplay = async (options): Promise<Replayer> => {
      await ask(['start', options])
      return { add: (entries) => ask(['add', entries]), report: () => ask(['report']) }
    }
    return { ...opened, start, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Sends one message at a time, and waits for its answer. */
function asker(thread: Worker, signal: AbortSignal): <T>(message: ToReplayer) => Promise<T> {
  let settle: { resolve(answer: unknown): void; reject(cause: unknown): void } | undefined
  let ended: unknown
  const end = (cause: unknown): void => {
    ended ??= cause
    settle?.reject(ended)
    void thread.terminate()
  }
  thread.on('message', (answer) => settle?.resolve(answer))
  thread.on('error', (cause) => end(new Error(`The draft cannot be replayed: ${cause.message}.`)))
  thread.on('exit', () => end(new Error('The thread of the replay has ended.')))
  signal.addEventListener('abort', () => end(signal.reason), { once: true })
  if (signal.aborted) end(signal.reason)
  return async <T>(message: ToReplayer) => {
    const timer = setTimeout(() => end(new Error(`The draft takes more than ${ANSWER_MS / 1000} s.`)), ANSWER_MS)
    try {
      return await new Promise<T>((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        settle = { resolve: resolve as (answer: unknown) => void, reject }
        thread.postMessage(message)
      })
    } finally {
      clearTimeout(timer)
    }
  }
}
