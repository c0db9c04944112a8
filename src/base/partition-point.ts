/**
 * Counts the items before the first one that fails the predicate, by binary search. The predicate must hold for all
 * items before that one and for none from it on.
 *
 * @param length number of items
 * @param holds predicate of the item at an index
 */
export function partitionPoint(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low
}
