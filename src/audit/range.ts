/** Results of verifying a part of a chain. */
export const RANGE_STATUSES = {
  ok: 'all entries follow one another, and an external anchor has all of them',
  unanchored: 'all entries follow one another; for those that are in no external anchor yet, only this service vouches',
  empty: 'there is no entry, and the entries on both sides follow one another',
  tampered: 'the content of an entry was changed, or the tree is not the signed one',
  'broken-link': 'an entry is missing, or does not follow from the one before it',
  unsealed: 'the newest entries were not appended by the holder of the log key',
  unsigned: 'entries are unsigned for longer than a running service leaves them, and the log key is not available',
  truncated: 'signed entries are missing at the start or the end',
  pruned: 'the range begins before the oldest entry that is left; what is left of it follows',
  unlawful: 'an entry records something that was not permitted; the entry itself is intact and signed',
  forked: 'an anchor holds another history',
  rollback: 'an anchor holds more entries than there are',
} as const
export type RangeStatus = keyof typeof RANGE_STATUSES

export interface RangeVerification {
  valid: boolean
  status: RangeStatus
  /** Valid entries of the range. */
  entriesChecked: number
  /** Audit entry ids; empty for an empty range. */
  firstEntry: string
  lastEntry: string
  /** The first fault, as a sentence; null when valid. */
  fault: string | null
  firstBadSeq: number | null
  /** The chain of that fault, which may be a lane, or `_system`. */
  firstBadChain: string | null
  /** Entries that break a rule, given those before them. They are counted whatever else is wrong. */
  unlawfulEntries: number
  /** Entries of the range with a section that was erased by a command. */
  redactedEntries: number
  /** Entries of the range that no given anchor holds. */
  unanchoredEntries: number
  /** Entries of the range after the newest checkpoint of a log key that counts. */
  unsignedEntries: number
  /** Number of entries of the chain, within the range, that such a checkpoint covers, and that an anchor covers. */
  signedEntries: number
  anchoredEntries: number
  /** True when the holder of the log key appended the newest entry; null where that key is not at hand. */
  sealed: boolean | null
}
