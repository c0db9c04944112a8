import type { RangeVerification } from './api.ts'
import type { Connection } from './connection.ts'
import { type FailureCode, GateError } from './errors.ts'
import { blocks, parsedData } from './events.ts'

/** Progress of a verification, or its result, which comes last. */
export type VerificationEvent =
  | { type: 'progress'; checked: number; of: number }
  | { type: 'verified'; verification: RangeVerification }

export interface Days {
  startDate: string
  endDate: string
}

/**
 * Verifies these days and reports progress. Leaving the loop ends the work. A broken stream is not resumed.
 *
 * @throws GateError when the service refuses, or the stream ends before the verification; the reason of the signal
 */
export async function* verifyLive(
  connection: Connection,
  { startDate, endDate }: Days,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<VerificationEvent, void, void> {
  const open = (either: AbortSignal) => connection.open('auditVerifyLive', { query: { startDate, endDate } }, either)
  try {
    for await (const { event, data } of blocks(open, signal)) {
      if (event === 'progress') yield { type: 'progress', ...parsedData<{ checked: number; of: number }>(data) }
      if (event === 'failed') throw failureIn(data)
      if (event !== 'verified') continue
      yield { type: 'verified', verification: parsedData<RangeVerification>(data) }
      return
    }
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof GateError) throw cause
    throw new GateError('unreachable', 'The verification cannot be followed: the connection broke.', { cause })
  }
  throw new GateError('unreachable', 'The stream ended before the verification.')
}

function failureIn(data: string | undefined): GateError {
  const { error, message } = parsedData<{ error: FailureCode; message: string }>(data)
  return new GateError(error, message)
}
