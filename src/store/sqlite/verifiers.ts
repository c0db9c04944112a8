import type { Worker } from 'node:worker_threads'
import type { RangeVerification } from '../../audit/range.ts'
import { limitConcurrency } from '../../base/concurrency.ts'
import { startThread } from '../../workers/thread.ts'
import { unavailable } from '../errors.ts'
import { runNow } from '../steps.ts'
import { verifyChain } from '../verify/verify-chain.ts'
import type { Progress, VerifyRequest } from '../verify/walk-range.ts'
import type { Connection } from './connection.ts'
import type { FileAddress, FileConnection } from './file-connection.ts'

const MODULE = new URL('./verify-worker', import.meta.url)

/** Verifies chains of one file, one at a time. */
export interface Verifier {
  /** @throws GateError `audit_unavailable` when the file cannot be read; the reason of the signal */
  verify(request: VerifyRequest, onProgress: Progress, signal?: AbortSignal): Promise<RangeVerification>
  /** Terminates the verification under way. */
  close(): Promise<void>
}

export type MakeVerifier = (address: FileAddress, file: FileConnection) => Verifier

/** Messages to and from the thread. */
export interface VerifyJob {
  address: FileAddress
  request: VerifyRequest
}
export type VerifyMessage = { checked: number } | { result: RangeVerification }

/** Verifies a chain from the file as it is now: names and texts are read anew. */
export function verifiedNow(
  connection: Connection,
  origin: string,
  request: VerifyRequest,
  onProgress?: Progress,
): RangeVerification {
  connection.forget()
  return runNow(verifyChain(connection, origin, request, onProgress))
}

/** Verifies in the calling thread, which it blocks: for commands, which have nothing else to do. */
export const verifyHere: MakeVerifier = ({ origin }, file) => ({
  async verify(request, onProgress) {
    try {
      return verifiedNow(file.connection(), origin, request, onProgress)
    } catch (error) {
      throw unavailable('be verified', error)
    }
  },
  close: async () => undefined,
})

/** Verifies in a thread of its own, which takes one processor and leaves the others to decisions. */
export const verifyInThread: MakeVerifier = (address) => {
  let thread: Worker | undefined
  let isClosed = false
  const serial = limitConcurrency(1)

  const run = (request: VerifyRequest, onProgress: Progress, signal?: AbortSignal): Promise<RangeVerification> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(unavailable('be verified', 'the store is closed'))
      // The caller gave up while its request was queued.
      if (signal?.aborted) return reject(signal.reason)
      const job: VerifyJob = { address, request }
      const started = startThread(MODULE, { workerData: job })
      thread = started
      const end = (): void => {
        reject(signal?.reason)
        void started.terminate()
      }
      signal?.addEventListener('abort', end, { once: true })
      started.on('exit', () => signal?.removeEventListener('abort', end))
      started.on('message', (message: VerifyMessage) => {
        if ('checked' in message) onProgress(message.checked)
        else resolve(message.result)
      })
      started.on('error', (error) => reject(unavailable('be verified', error)))
      // A promise that is already settled ignores this.
      started.on('exit', (code) => reject(unavailable('be verified', `the verifying thread ended with ${code}`)))
    })

  return {
    verify: (request, onProgress, signal) => serial(() => run(request, onProgress, signal)),
    async close() {
      isClosed = true
      await thread?.terminate()
      // Waits until all queued requests are rejected.
      await serial(async () => undefined)
    },
  }
}
