import type { Worker } from 'node:worker_threads'
import { startThread } from '../../workers/thread.ts'
import type { FileAddress, FileConnection } from './file-connection.ts'
import { writeTime } from './write-time.ts'
import { groupCommitter, type WriteReply, type Writer } from './writer.ts'

const MODULE = new URL('./writer-worker', import.meta.url)

/** A group of more, on a moving average, is worth the way to the thread and back. */
const LARGE_GROUP = 6
const SIZE_WEIGHT = 0.2

/** Makes the writer of a file. `file` is how this thread has it open. */
export type MakeWriter = (address: FileAddress, file: FileConnection) => Writer

/** Writes where it is called, which stands still meanwhile: for commands, which have nothing else to do. */
export const writeHere: MakeWriter = ({ origin }, file) => {
  const commit = groupCommitter(file, origin)
  return { write: async (request) => commit(request), close: async () => undefined }
}

/**
 * Writes in a thread of its own, started at the first write, so that neither hashing nor the disk holds up what else the
 * process does.
 */
export const writeInThread: MakeWriter = (address) => {
  let thread: Worker | undefined
  let closed = false
  let settle: (reply: WriteReply) => void = () => undefined

  const start = (): Worker => {
    const started = startThread(MODULE, { workerData: address })
    const lost = (cause: string): void => {
      if (thread !== started) return
      thread = undefined
      // One whose answer could not be read is alive still.
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
  return {
    write(request) {
      return new Promise((resolve) => {
        settle = resolve
        try {
          if (closed) throw new Error('the store is closed')
          thread ??= start()
          thread.postMessage(request)
        } catch (error) {
          // Such as a value that cannot be sent: nothing was.
          resolve({ kind: 'failed', cause: String(error), unknown: false })
        }
      })
    },
    async close() {
      const ending = thread
      thread = undefined
      closed = true
      if (ending === undefined) return
      await new Promise((resolve) => {
        ending.once('exit', resolve)
        ending.postMessage('close')
      })
    },
  }
}

/**
 * For a service: written here while few ask and the disk is quick, which costs least; in a thread while groups are large, so that
 * both work at once, and while the disk is slow and for a minute after it has hung, so that it holds up a service once and
 * not again and again.
 */
export const writeWhereBetter: MakeWriter = (address, file) => {
  const here = writeHere(address, file)
  const there = writeInThread(address, file)
  const time = writeTime()
  let size = 0
  return {
    async write(request) {
      const beginMs = performance.now()
      size += (request.submissions.length - size) * SIZE_WEIGHT
      const reply = await (size > LARGE_GROUP || time.isSlow() ? there : here).write(request)
      // A lock that another process holds is answered at once, and says nothing of the disk.
      if (reply.kind !== 'busy') time.since(beginMs)
      return reply
    },
    close: () => there.close(),
  }
}
