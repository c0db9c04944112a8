import {
  type Examine,
  type Examined,
  type ExamineInputs,
  examined,
  VerifyBundleRequest,
} from '../../actions/evidence/verify.ts'
import { limitConcurrency } from '../../base/concurrency.ts'
import { type ErrorCode, type ErrorDetail, GateError } from '../../base/errors.ts'
import { isJsonObject, parseJson } from '../../base/json.ts'
import { parserOf } from '../../base/schema.ts'
import { answeringThreads } from '../../workers/thread.ts'
import { assertTenant } from '../auth.ts'
import { BUNDLE_LIMITS } from '../body.ts'

const MODULE = new URL('./examine-worker', import.meta.url)
const MEMORY_LIMIT_MIB = 256
const IDLE_MS = 300_000

/** Messages to and from the thread. */
export interface ExamineJob {
  body: Uint8Array
  inputs: ExamineInputs
}
export type ExamineAnswer =
  | { examined: Examined }
  | { refused: { code: ErrorCode; message: string; details: readonly ErrorDetail[] } }

const parse = parserOf(VerifyBundleRequest)

/** @throws GateError `invalid_json`, `tenant_mismatch`, `invalid_request` */
export function examineBytes(body: Uint8Array, inputs: ExamineInputs): Examined {
  const value = parseJson(body, BUNDLE_LIMITS)
  if (isJsonObject(value)) assertTenant(inputs.tenantId, value.tenantId)
  return examined(parse(value), inputs)
}

/** Examines in the calling thread, which it blocks. */
export const examineHere: Examine = async (body, inputs) => examineBytes(body, inputs())

/**
 * Examines one bundle at a time in a thread: the largest and worst take seconds.
 *
 * @param stopping ends the work with its reason
 */
export function examineInThread(stopping: AbortSignal): Examine {
  const ask = answeringThreads(MODULE, {
    idleMs: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MIB },
  })
  const serial = limitConcurrency(1)
  const run = async (job: ExamineJob): Promise<Examined> => {
    const answer = await ask<ExamineAnswer>(job, stopping)
    if ('examined' in answer) return answer.examined
    const { code, message, details } = answer.refused
    throw new GateError(code, message, { details: [...details] })
  }
  return (body, inputs) => serial(() => run({ body, inputs: inputs() }))
}
