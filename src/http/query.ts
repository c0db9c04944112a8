import { Type } from 'typebox'

/** Whole numbers as a query writes them; at most nine digits, so that arithmetic stays exact. */
export const WholeNumber = Type.String({ pattern: '^(0|[1-9][0-9]{0,8})$' })

export const Paging = { limit: Type.Optional(WholeNumber), offset: Type.Optional(WholeNumber) }
export const Closed = { additionalProperties: false }

/** How long an answer is held at most. */
const MAX_WAIT_SECONDS = 25

/** Of requests whose answer may be held until an approval has been decided. */
export const WaitQuery = Type.Object({ wait: Type.Optional(WholeNumber) }, Closed)

/** @returns milliseconds; what is longer than the longest wait is that */
export function waitMsOf({ wait }: { wait?: string }): number {
  return Math.min(Number(wait ?? 0), MAX_WAIT_SECONDS) * 1000
}

/** @param max larger limits are clamped, as a caller who asks for everything means */
export function pageOf(query: { limit?: string; offset?: string }, defaults: { limit: number; max: number }) {
  return {
    limit: Math.min(query.limit === undefined ? defaults.limit : Number(query.limit), defaults.max),
    offset: Number(query.offset ?? 0),
  }
}
