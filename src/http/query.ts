import * as Type from '#typebox'
import { GateError } from '../base/errors.ts'
import { formatTimestamp, LAST_TIME_MS, parseRfc3339 } from '../base/time.ts'

/** Limit of nine digits, which keeps arithmetic exact. */
const MAX_NUMBER = 999_999_999
const DIGITS = /^(0|[1-9]\d{0,8})$/

function wholeNumber(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_NUMBER, description }))
}

export const Paging = {
  limit: wholeNumber('Limit of items in the answer; a larger one is clamped.'),
  offset: wholeNumber('Number of items to skip.'),
}
/** Shape of a query; parameters that it does not name are refused. */
export function queryShape<P extends Type.TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

const Time = { format: 'date-time', maxLength: 64 }
/** Query members of a range of time. */
export const TimeRange = {
  from: Type.Optional(Type.String({ ...Time, description: 'From this time on.' })),
  to: Type.Optional(Type.String({ ...Time, description: 'Before this time.' })),
}

/** Normalizes both times to the form of entries. @throws GateError `invalid_request` */
export function timesOf({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  return { from: timeOf('from', from), to: timeOf('to', to) }
}

function timeOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const ms = parseRfc3339(text)
  if (ms !== undefined) return formatTimestamp(Math.min(ms, LAST_TIME_MS))
  throw new GateError('invalid_request', `${name} must be a time with a zone, such as 2026-01-31T12:00:00Z.`, {
    details: [{ path: `/${name}`, message: 'must be an RFC 3339 time with a zone' }],
  })
}

/** Limit of the time that an answer is held. */
export const MAX_WAIT_MS = 25_000

/** Query of requests whose answer may wait until an approval is decided. */
export const WaitQuery = queryShape({
  wait: wholeNumber(`Seconds to wait until the approval has been decided, at most ${MAX_WAIT_MS / 1000}.`),
})

export const CheckQuery = queryShape({
  ...WaitQuery.properties,
  explain: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1,
      description:
        '1 adds `explanation` to a new decision. Policies with `explain: reason` give none, and neither does a decision that an Idempotency-Key repeats.',
    }),
  ),
})

/** @returns milliseconds, clamped to the longest wait */
export function waitMsOf({ wait = 0 }: { wait?: number }): number {
  return Math.min(wait * 1000, MAX_WAIT_MS)
}

/** @param max limit to which larger values are clamped: such a caller asks for everything */
export function pageOf(query: { limit?: number; offset?: number }, defaults: { limit: number; max: number }) {
  return { limit: Math.min(query.limit ?? defaults.limit, defaults.max), offset: query.offset ?? 0 }
}

/** Converts texts to numbers where the schema expects numbers; the schema refuses the rest. */
export function withNumbers(query: Readonly<Record<string, string>>, { properties = {} }: QuerySchema) {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const isNumber = Object.hasOwn(properties, name) && properties[name]?.type === 'integer' && DIGITS.test(text)
      return [name, isNumber ? Number(text) : text]
    }),
  )
}

interface QuerySchema {
  properties?: Readonly<Record<string, { type?: string }>>
}
