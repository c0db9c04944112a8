import { GateError } from '../base/errors.ts'
import { type JsonObject, parseJson } from '../base/json.ts'
import { UsageError } from './context.ts'

/** As deep as a request over HTTP may be. */
const MAX_DEPTH = 32

/** The JSON that an option was given. @throws UsageError naming the option */
export function objectOf(option: string, text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  try {
    // What it must be beyond JSON, the request's schema says.
    return parseJson(text, { maxDepth: MAX_DEPTH }) as JsonObject
  } catch (error) {
    if (error instanceof GateError) throw new UsageError(`${option} is not JSON that can be read: ${error.message}`)
    throw error
  }
}
