import { Type } from 'typebox'

/** Whole numbers as a query writes them; at most nine digits, so that arithmetic stays exact. */
export const WholeNumber = Type.String({ pattern: '^(0|[1-9][0-9]{0,8})$' })

export const Paging = { limit: Type.Optional(WholeNumber), offset: Type.Optional(WholeNumber) }
export const Closed = { additionalProperties: false }

/** @param max larger limits are clamped, as a caller who asks for everything means */
export function pageOf(query: { limit?: string; offset?: string }, defaults: { limit: number; max: number }) {
  return {
    limit: Math.min(query.limit === undefined ? defaults.limit : Number(query.limit), defaults.max),
    offset: Number(query.offset ?? 0),
  }
}
