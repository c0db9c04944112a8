import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import {
  type Examine,
  type Examined,
  type ExamineMeans,
  examined,
  VerifyBundleRequest,
} from '../actions/verify-evidence.ts'
import { type ErrorCode, type ErrorDetail, GateError } from '../base/errors.ts'
import { isJsonObject, parseJson } from '../base/json.ts'
import { parserOf } from '../base/schema.ts'
import { turns } from '../base/turns.ts'
import { startThread } from '../thread.ts'
import { assertTenant } from './auth.ts'
import { BUNDLE_LIMITS } from './body.ts'

const MODULE = new URL('./examine-worker', import.meta.url)
const MEMORY_LIMIT_MIB = 256

/** What the thread is asked, and what it answers. */
export interface ExamineJob {
  body: Uint8Array
  means: ExamineMeans
}
export type ExamineAnswer =
  | { examined: Examined }
  | { refused: { code: ErrorCode; message: string; details: readonly ErrorDetail[] } }

const parse = parserOf(VerifyBundleRequest)

/** @throws GateError `invalid_json`, `tenant_mismatch`, `invalid_request` */
export function examineBytes(body: Uint8Array, means: ExamineMeans): Examined {
  const value = parseJson(body, BUNDLE_LIMITS)
  if (isJsonObject(value)) assertTenant(means.tenantId, value.tenantId)
  return examined(parse(value), means)
}

/** Where it is called, which stands still meanwhile. */
export const examineHere: Examine = async (body, means) => examineBytes(body, means())

/** One after the other, in a thread that lives on, since it takes half a second to start: the largest and worst take seconds. */
export function examineInThread(): Examine {
  let thread: Worker | undefined
  const turn = turns(1)

  const started = (): Worker => {
    const worker = startThread(MODULE, { resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MIB } })
    // It keeps no service from ending.
    worker.unref()
    return worker
  }

  const run = async (job: ExamineJob): Promise<Examined> => {
    thread ??= started()
    const answer = await answerOf(thread, job).catch((error) => {
      void thread?.terminate()
      thread = undefined
      throw error
    })
    if ('examined' in answer) return answer.examined
    const { code, message, details } = answer.refused
    throw new GateError(code, message, { details: [...details] })
  }

  return (body, means) => turn(() => run({ body, means: means() }))
}

/** @throws what ended the thread */
function answerOf(thread: Worker, job: ExamineJob): Promise<ExamineAnswer> {
  const settled = new AbortController()
  const failed = (event: string): Promise<never> =>
    once(thread, event, { signal: settled.signal }).then(([cause]) => {
      throw new Error(`The thread that examines evidence failed: ${event}`, { cause })
    })
  const answered = once(thread, 'message', { signal: settled.signal }).then(([answer]): ExamineAnswer => answer)
  thread.postMessage(job)
  // What fails by 'error' is told by the first of them.
  return Promise.race([answered, failed('exit'), failed('messageerror')]).finally(() => settled.abort())
}
