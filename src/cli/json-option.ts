import { GateError } from '../base/errors.ts'
import { type JsonObject, parseJson } from '../base/json.ts'
import { UsageError } from './context.ts'

/** The depth limit of a request over HTTP. */
const MAX_DEPTH = 32

/** The JSON value of an option. @throws UsageError naming the option */
export function objectOf(option: string, text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  try {
    // The request's schema checks the rest.
    return parseJson(text, { maxDepth: MAX_DEPTH }) as JsonObject
  } catch (error) {
    if (error instanceof GateError) throw new UsageError(`${option} is not JSON that can be read: ${error.message}`)
    throw error
  }
}
