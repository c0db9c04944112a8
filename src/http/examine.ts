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

/** One after the other, each in a thread of its own: the largest and worst take seconds. */
export function examineInThread(): Examine {
  let queue: Promise<unknown> = Promise.resolve()
  return (body, means) => {
    const next = queue.then(() => run({ body, means }))
    queue = next.catch(() => undefined)
    return next
  }
}

function run(job: ExamineJob): Promise<Examined> {
  return new Promise((resolve, reject) => {
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_LIMIT_MIB }
    const thread = startThread(MODULE, { workerData: job, resourceLimits })
    thread.once('message', (answer: ExamineAnswer) => {
      if ('examined' in answer) return resolve(answer.examined)
      const { code, message, details } = answer.refused
      reject(new GateError(code, message, { details: [...details] }))
    })
    thread.once('error', reject)
    // Who was answered does not hear this.
    thread.once('exit', (code) => reject(new Error(`The thread that examines evidence ended with ${code}.`)))
  })
}
