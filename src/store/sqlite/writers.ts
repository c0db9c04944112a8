import type { Worker } from 'node:worker_threads'
import { startThread } from '../../workers/thread.ts'
import { changesBetween, type Memory, type MemoryChanges } from '../memory.ts'
import type { WriteReply, WriteRequest, WriteResult, Writer, Written } from '../writer.ts'
import type { FileAddress, FileConnection } from './file-connection.ts'
import { type PackedSubmissions, packed } from './packed.ts'
import { groupCommitter } from './writer.ts'

const MODULE = new URL('./writer-worker', import.meta.url)

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
export interface ThreadRequest extends Omit<WriteRequest, 'submissions' | 'memory'> {
  submissions: PackedSubmissions
  changes: MemoryChanges | undefined
}

/** Answer of the thread, with the results as JSON. */
export type ThreadReply = (Omit<Written, 'results'> & { results: string }) | Exclude<WriteReply, Written>

/** @param sent the records that the thread has */
function messageOf({ memory, submissions, ...rest }: WriteRequest, sent: Memory | undefined): ThreadRequest {
  return { ...rest, submissions: packed(submissions), changes: changesBetween(sent, memory) }
}

function unpackedReply(reply: ThreadReply): WriteReply {
  // The thread has made the text of such results.
  return reply.kind === 'written' ? { ...reply, results: JSON.parse(reply.results) as WriteResult[] } : reply
}

/** Writes in the calling thread, which it blocks: for commands, which have nothing else to do. */
export const writeHere: MakeWriter = ({ origin }, file) => {
  const commit = groupCommitter(file, origin)
  return { hasThread: false, write: commit, close: async () => undefined }
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
    started.on('message', (reply: ThreadReply) => {
      if (thread === started) settle(unpackedReply(reply))
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
        thread.postMessage(messageOf(request, sent))
        sent = request.memory
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
    hasThread: true,
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

/** Writer of a service, in this thread or in a thread of its own, as each request says. */
export const writeWhereBetter: MakeWriter = (address, file) => {
  const here = writeHere(address, file)
  const there = threadWriter(address, IDLE_MS)
  return {
    hasThread: true,
    write: (request) => (request.isThreadBetter ? there : here).write(request),
    close: () => there.close(),
  }
}
