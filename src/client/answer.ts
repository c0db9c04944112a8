import type { Api, ROUTES } from './api.ts'
import { type FailureCode, type FailureDetail, GateError } from './errors.ts'
import { isObject } from './objects.ts'

/** `data` of an answer, and `page` of a list. */
export type Answer<N extends keyof Api> = Pick<Api[N], 'data' & keyof Api[N]> & Pick<Api[N], 'page' & keyof Api[N]>

/** Form of an answer: `data` in an envelope (object, list, page of a list, or items with a cursor), or alone. */
export type Form = (typeof ROUTES)[keyof Api]['form']

/** Limit of an answer, and of an event. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * Reads the data of a response in any envelope.
 *
 * @throws GateError for a failure that the service reports, and for an answer that is not from a sidecar
 */
export async function readAnswer(response: Response, form: Form): Promise<{ data: unknown }> {
  const text = await textOf(response)
  const body = parsed(text)
  if (!response.ok) throw failureIn(response, body)
  if (form === 'text') return { data: text }
  if (form === 'json' && body !== undefined) return { data: body }
  if (body?.success === true && hasForm(body, form)) return body
  throw malformed(response)
}

/** @throws GateError as soon as more has come than any sidecar answers */
async function textOf(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    bytes += part.value.length
    if (bytes > MAX_ANSWER_BYTES) {
      // Ignores the result of cancelling the rest.
      reader?.cancel().catch(() => undefined)
      throw malformed(response)
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}

function hasForm(body: Record<string, unknown>, form: Form): body is { data: unknown } {
  const { data, page } = body
  if (form === 'object') return isObject(data)
  if (form === 'cursor') return isObject(data) && Array.isArray(data.items)
  return Array.isArray(data) && (form === 'list' || isObject(page))
}

function failureIn(response: Response, body: Record<string, unknown> | undefined): GateError {
  const { success, error: code, message, details, requestId } = body ?? {}
  if (success !== false || typeof code !== 'string' || typeof message !== 'string') return malformed(response)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  // Codes of a newer service that this client does not know pass unchanged.
  return new GateError(code as FailureCode, message, {
    status: response.status,
    ...(Array.isArray(details) && { details: details as FailureDetail[] }),
    ...(typeof requestId === 'string' && { requestId }),
    ...(seconds >= 0 && { retryAfterMs: seconds * 1000 }),
  })
}

/** Keeps the status, since a 503 or 429 of a proxy tells whether to retry. */
export function malformed({ status }: Response): GateError {
  const message = `The answer with status ${status} is not from a sidecar, or is malformed.`
  return new GateError('malformed_answer', message, { status })
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
