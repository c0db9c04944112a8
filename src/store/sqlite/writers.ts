import type { Worker } from 'node:worker_threads'
import { startThread } from '../../workers/thread.ts'
import type { FileAddress, FileConnection } from './file-connection.ts'
import { changesBetween, type Memory, type MemoryChanges } from './memory.ts'
import { writeTime } from './write-time.ts'
import { groupCommitter, type WriteReply, type WriteRequest, type Writer } from './writer.ts'

const MODULE = new URL('./writer-worker', import.meta.url)

/** Average group size above which the way to the thread and back pays off. */
const LARGE_GROUP = 6
const SIZE_WEIGHT = 0.2
/** Enough for a batch; V8 would take 48 MB and keep them. */
const YOUNG_GENERATION_MB = 4
/** Time without a write after which the thread ends: its memory is worth more than the next start. */
const IDLE_MS = 60_000

/**
 * Makes the writer of a file.
 *
 * @param file connection of this thread
 */
export type MakeWriter = (address: FileAddress, file: FileConnection) => Writer

/** Message to the thread: a request with what changed in the records since the one before it. */
export interface ThreadRequest extends Omit<WriteRequest, 'memory'> {
  changes: MemoryChanges | undefined
}

/** Writes in the calling thread, which it blocks: for commands, which have nothing else to do. */
export const writeHere: MakeWriter = ({ origin }, file) => {
  const commit = groupCommitter(file, origin)
  return { write: async (request) => commit(request), close: async () => undefined }
}

/**
 * Writes in a thread of its own: hashing and the disk block nothing else.
 * A write starts the thread, which ends when idle. An ending thread has answered all that it was asked, so the next
 * one does not wait until it has closed the file.
 *
 * @param idleMs time without a write after which the thread ends
 */
export function writeInThread(idleMs = IDLE_MS): MakeWriter {
  return (address) => threadWriter(address, idleMs)
}

function threadWriter(address: FileAddress, idleMs: number): Writer {
  let thread: Worker | undefined
  /** The records that the thread holds. */
  let sent: Memory | undefined
  let idle: NodeJS.Timeout | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let closed = false
  let settle: (reply: WriteReply) => void = () => undefined

  const start = (): Worker => {
    sent = undefined
    const started = startThread(MODULE, {
      workerData: address,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    })
    const lost = (cause: string): void => {
      if (thread !== started) return
      thread = undefined
      // A thread whose answer could not be read is still alive.
      void started.terminate()
      settle({ kind: 'failed', cause, unknown: true })
    }
    started.on('message', (reply: WriteReply) => {
      if (thread === started) settle(reply)
    })
    started.on('messageerror', (error) => lost(String(error)))
    started.on('error', (error) => lost(String(error)))
    started.on('exit', (code) => lost(`the writing thread ended with ${code}`))
    return started
  }
  const replyTo = (request: WriteRequest): Promise<WriteReply> =>
    new Promise((resolve) => {
      settle = resolve
      try {
        if (closed) throw new Error('the store is closed')
        thread ??= start()
        const { memory, ...rest } = request
        thread.postMessage({ ...rest, changes: changesBetween(sent, memory) } satisfies ThreadRequest)
        sent = memory
      } catch (error) {
        // The request could not be sent, such as a value that cannot be cloned: nothing was written.
        resolve({ kind: 'failed', cause: String(error), unknown: false })
      }
    })
  const end = (): void => {
    const ending = thread
    thread = undefined
    if (ending === undefined) return
    const exit = new Promise((resolve) => ending.once('exit', resolve))
    ended = Promise.all([ended, exit])
    ending.postMessage('close')
  }
  return {
    async write(request) {
      clearTimeout(idle)
      const reply = await replyTo(request)
      idle = setTimeout(end, idleMs).unref()
      return reply
    },
    async close() {
      closed = true
      clearTimeout(idle)
      end()
      await ended
    },
  }
}

/**
 * Writer of a service. It writes in this thread while load is low and the disk is fast, which costs least.
 * It writes in a thread of its own while groups have many members, so that both work at once, what is large, and while
 * the disk is slow or hung in the last minute, so that a hang blocks the service only once.
 */
export const writeWhereBetter: MakeWriter = (address, file) => {
  const here = writeHere(address, file)
  const there = threadWriter(address, IDLE_MS)
  const time = writeTime()
  let size = 0
  return {
    async write(request) {
      const beginMs = performance.now()
      size += (request.submissions.length - size) * SIZE_WEIGHT
      const { isLarge } = request
      const reply = await (size > LARGE_GROUP || isLarge || time.isSlow() ? there : here).write(request)
      // A busy lock is answered at once, and what is large takes long: both say nothing about the disk.
      if (reply.kind !== 'busy' && !isLarge) time.since(beginMs)
      return reply
    },
    close: () => there.close(),
  }
}
