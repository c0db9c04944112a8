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
import { startThread } from '../thread.ts'
import { assertTenant } from './auth.ts'
import { BUNDLE_LIMITS } from './body.ts'

const MODULE = new URL('./examine-worker', import.meta.url)
const MEMORY_LIMIT_MIB = 512

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
export const examineHere: Examine = async (body, means) => examineBytes(body, means)

/** One after the other, in a thread that lives on, since it takes half a second to start: the largest and worst take seconds. */
export function examineInThread(): Examine {
  let thread: Worker | undefined
  let queue: Promise<unknown> = Promise.resolve()

  const started = (): Worker => {
    const worker = startThread(MODULE, { resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MIB } })
    // It keeps no service from ending, and whoever waits for it is told why it ended.
    worker.unref()
    worker.once('error', () => {
      thread = undefined
    })
    return worker
  }

  const run = async (job: ExamineJob): Promise<Examined> => {
    thread ??= started()
    thread.postMessage(job)
    const [answer] = (await once(thread, 'message')) as [ExamineAnswer]
    if ('examined' in answer) return answer.examined
    const { code, message, details } = answer.refused
    throw new GateError(code, message, { details: [...details] })
  }

  return (body, means) => {
    const next = queue.then(() => run({ body, means }))
    queue = next.catch(() => undefined)
    return next
  }
}
