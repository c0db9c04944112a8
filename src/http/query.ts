import { Type } from '#typebox'
import { GateError } from '../base/errors.ts'
import { formatTimestamp, LAST_TIME_MS, parseRfc3339 } from '../base/time.ts'

/** At most nine digits, so that arithmetic stays exact. */
const MAX_NUMBER = 999_999_999
const DIGITS = /^(0|[1-9]\d{0,8})$/

export function wholeNumber(description: string) {
  return Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_NUMBER, description }))
}

export const Paging = {
  limit: wholeNumber('How many at most; larger ones are clamped.'),
  offset: wholeNumber('How many to leave out first.'),
}
export const Closed = { additionalProperties: false }

const Time = { format: 'date-time', maxLength: 64 }
/** A stretch of time. */
export const TimeRange = {
  from: Type.Optional(Type.String({ ...Time, description: 'From this time on.' })),
  to: Type.Optional(Type.String({ ...Time, description: 'Before this time.' })),
}

/** Both times in the form in which entries carry theirs. @throws GateError `invalid_request` */
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

/** How long an answer is held at most. */
export const MAX_WAIT_MS = 25_000

/** Of requests whose answer may be held until an approval has been decided. */
export const WaitQuery = Type.Object(
  { wait: wholeNumber(`Seconds to wait until the approval has been decided, at most ${MAX_WAIT_MS / 1000}.`) },
  Closed,
)

/** Of a check. */
export const CheckQuery = Type.Object(
  {
    ...WaitQuery.properties,
    explain: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1,
        description:
          '1 adds `explanation` to a new decision. Policies with `explain: reason` give none, and neither does a decision that an Idempotency-Key repeats.',
      }),
    ),
  },
  Closed,
)

/** @returns milliseconds; what is longer than the longest wait is that */
export function waitMsOf({ wait = 0 }: { wait?: number }): number {
  return Math.min(wait * 1000, MAX_WAIT_MS)
}

/** @param max larger limits are clamped, as a caller who asks for everything means */
export function pageOf(query: { limit?: number; offset?: number }, defaults: { limit: number; max: number }) {
  return { limit: Math.min(query.limit ?? defaults.limit, defaults.max), offset: query.offset ?? 0 }
}

/** The query with numbers where the schema wants them and the text is one; anything else is left for the schema to refuse. */
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
