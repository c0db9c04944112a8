import type { SeqRange } from './queries.ts'

/** Entries that a chain has room for in audit_entry. */
export const ROOM = 2 ** 33

/** Every seq of a chain. */
export const WHOLE_CHAIN: SeqRange = { first: 0, end: ROOM }

export function placeOf(number: number, seq: number): number {
  return number * ROOM + Math.min(Math.max(seq, 0), ROOM)
}

export function numberAt(at: number): number {
  return Math.floor(at / ROOM)
}

export function seqAt(at: number): number {
  return at % ROOM
}
