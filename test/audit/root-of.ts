import { coverOf, fold, type Hash, type Place, type Range } from '../../src/audit/merkle.ts'

/** Finds the hash of a complete subtree. */
export type HashAt = (place: Place) => Hash

/** The root of a range, which is a subtree of an RFC 6962 tree or a whole one. */
export function rootOf({ begin, end }: Range, hashAt: HashAt): Hash {
  return fold(coverOf(begin, end).map(hashAt))
}
