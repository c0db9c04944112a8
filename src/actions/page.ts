/** Limit of stored JSON in a page; the item that exceeds it is the last. No client wants a larger answer. */
export const PAGE_BYTES = 8 * 1024 * 1024

export interface PageGiven {
  limit: number
  offset: number
  total: number
}

/** The paging of the answer: a shortened page states its own number of items as `limit`. */
export function pageGiven({ limit, offset, total }: PageGiven, given: number): PageGiven {
  // A page without items made no progress that it could state.
  const isCut = given > 0 && given < Math.min(limit, total - offset)
  return { limit: isCut ? given : limit, offset, total }
}
