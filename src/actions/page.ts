/** The stored JSON that a page shows, up to the item that exceeds it: what is larger no client wants in one answer. */
export const PAGE_BYTES = 8 * 1024 * 1024

export interface PageGiven {
  limit: number
  offset: number
  total: number
}

/** The page as it was given: with fewer items than there are, `limit` is their number. */
export function pageGiven({ limit, offset, total }: PageGiven, given: number): PageGiven {
  // Without any item there is no progress to be told of.
  const isCut = given > 0 && given < Math.min(limit, total - offset)
  return { limit: isCut ? given : limit, offset, total }
}
